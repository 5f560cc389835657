# SPDX-License-Identifier: BSD-3-Clause
"""slownode.py ADDRESS PORT MS: a memcached node whose every answer takes so long, however many it is
asked for at once. It has every key."""
import asyncio
import sys


class Node(asyncio.DatagramProtocol):
    def __init__(self, seconds):
        self.seconds = seconds

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, peer):
        body = data[8:]
        if body.startswith(b"version"):
            reply, wait = b"VERSION 1.6.18\r\n", 0
        else:
            reply, wait = b"VALUE " + body.split()[1] + b" 0 1\r\nx\r\nEND\r\n", self.seconds
        reply = data[:2] + b"\0\0\0\1\0\0" + reply
        asyncio.get_running_loop().call_later(wait, self.transport.sendto, reply, peer)


async def main():
    address, port, ms = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: Node(ms / 1000), local_addr=(address, port))
    await asyncio.Event().wait()


asyncio.run(main())

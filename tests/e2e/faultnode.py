# SPDX-License-Identifier: BSD-3-Clause
"""faultnode.py ADDRESS PORT MODE FILE: a memcached node that misbehaves as FILE says, read anew for
each request: "ok" answers misses and STORED, "reject" answers SERVER_ERROR at once, "reject-tenth"
to each tenth, "silent" nothing. It answers `version` in any mode but silent, so that probes find it alive."""
import socket
import sys


def main():
    address, port, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind((address, port))
    count = 0
    while True:
        count += 1
        data, peer = s.recvfrom(65536)
        with open(path) as f:
            mode = f.read().strip()
        head, body = data[:8], data[8:]
        if mode == "silent":
            continue
        if body.startswith(b"version"):
            reply = b"VERSION 1.6.18\r\n"
        elif mode == "reject" or mode == "reject-tenth" and count % 10 == 0:
            reply = b"SERVER_ERROR busy\r\n"
        elif body.startswith(b"get "):
            key = body.split()[1]
            reply = b"VALUE " + key + b" 0 1\r\nx\r\nEND\r\n"
        else:
            reply = b"STORED\r\n"
        s.sendto(head[:2] + b"\0\0\0\1\0\0" + reply, peer)


if __name__ == "__main__":
    main()

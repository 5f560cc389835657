# SPDX-License-Identifier: BSD-3-Clause
"""A memcached client over UDP for the end-to-end scenarios: strict about frames."""
import socket
import struct
import sys
import time


class Client:
    def __init__(self, address, port=11211, timeout=2.0, source=None):
        self.sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        if source:
            self.sock.bind(source)
        self.sock.connect((address, port))
        self.timeout = timeout
        self.next_id = 1

    def send(self, data, ident=None, sequence=0, total=1):
        """Sends one datagram; returns its request id."""
        if ident is None:
            ident = self.next_id
            self.next_id = self.next_id % 65535 + 1
        if isinstance(data, str):
            data = data.encode("latin-1")
        self.sock.send(struct.pack(">4H", ident, sequence, total, 0) + data)
        return ident

    def receive(self, ident, timeout=None):
        """The whole reply to a request, or None when it does not come in time."""
        end = time.monotonic() + (self.timeout if timeout is None else timeout)
        parts = {}
        while True:
            left = end - time.monotonic()
            if left <= 0:
                return None
            self.sock.settimeout(left)
            try:
                data = self.sock.recv(65536)
            except (socket.timeout, TimeoutError):
                return None
            except ConnectionRefusedError:
                continue
            got, sequence, total, reserved = struct.unpack(">4H", data[:8])
            if got != ident:
                continue
            assert reserved == 0 and (sequence < total or total == 0), data[:8]
            parts[sequence] = data[8:]
            if len(parts) >= total:
                return b"".join(parts[i] for i in sorted(parts))

    def ask(self, data, timeout=None):
        return self.receive(self.send(data), timeout)

    def expect(self, data, wanted):
        if isinstance(wanted, str):
            wanted = wanted.encode("latin-1")
        got = self.ask(data)
        if got != wanted:
            raise SystemExit("%r: got %r, wanted %r" % (data[:60], got, wanted[:60]))


def main():
    address, port, command = sys.argv[1], int(sys.argv[2]), " ".join(sys.argv[3:])
    reply = Client(address, port, timeout=0.5).ask(command + "\r\n")
    if reply is None:
        raise SystemExit("no reply")
    sys.stdout.write(reply.decode("latin-1"))


if __name__ == "__main__":
    main()

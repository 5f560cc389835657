# SPDX-License-Identifier: BSD-3-Clause
"""A memcached client over UDP for the end-to-end scenarios: strict about frames."""
import socket
import struct
import sys
import time


class Client:
    def __init__(self, address, port=11211, timeout=2.0, source=None):
        self.sock = socket.socket(
            socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM)
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

    def messages(self, data, count=None, timeout=None):
        """The replies to a request that has several: each whole, its datagrams in order, in the
        order in which they come. Waits for `count` of them, or, without, as long as some come."""
        ident = self.send(data)
        found, part, quiet = [], [], self.timeout if timeout is None else timeout
        while count is None or len(found) < count:
            self.sock.settimeout(quiet)
            try:
                data = self.sock.recv(65536)
            except (socket.timeout, TimeoutError):
                return found
            got, sequence, total, _ = struct.unpack(">4H", data[:8])
            if got != ident:
                continue
            assert sequence == len(part) or total == 0, "datagram %d of %d comes after %d" % (
                sequence, total, len(part))
            part.append(data[8:])
            if len(part) >= total:
                found.append(b"".join(part))
                part = []
        return found

    def ask_all(self, requests, quiet=0.5):
        """Sends all at once. The replies, of one datagram each, in the order of the requests; None
        where none has come when nothing has come for `quiet` seconds."""
        idents = [self.send(r) for r in requests]
        got = {}
        self.sock.settimeout(quiet)
        while len(got) < len(idents):
            try:
                data = self.sock.recv(65536)
            except (socket.timeout, TimeoutError):
                break
            got[struct.unpack(">H", data[:2])[0]] = data[8:]
        return [got.get(i) for i in idents]

    def ask(self, data, timeout=None):
        return self.receive(self.send(data), timeout)

    def expect(self, data, wanted):
        if isinstance(wanted, str):
            wanted = wanted.encode("latin-1")
        got = self.ask(data)
        if got != wanted:
            raise SystemExit("%r: got %r, wanted %r" % (data[:60], got, wanted[:60]))

    def round_trip(self, size):
        """Stores a value and reads it back, by the classic and the meta commands."""
        key = "k%d" % size
        value = "".join(chr(97 + (i * 7 + i // 26) % 26) for i in range(size))
        self.expect("set %s 7 0 %d\r\n%s\r\n" % (key, size, value), "STORED\r\n")
        self.expect("get %s\r\n" % key, "VALUE %s 7 %d\r\n%s\r\nEND\r\n" % (key, size, value))
        self.expect("ms %s %d\r\n%s\r\n" % (key, size, value), "HD\r\n")
        self.expect("mg %s s v\r\n" % key, "VA %d s%d\r\n%s\r\n" % (size, size, value))


CLIENT_MAC = "02:00:00:00:01:09"


def request_frame(to_mac, command):
    """A request to the nat service as an Ethernet frame from CLIENT_MAC and 10.1.0.9:40000, for
    packet sockets; without a UDP checksum."""
    payload = struct.pack(">4H", 1, 0, 1, 0) + command
    ip = bytearray(struct.pack(">BBHHHBBH4s4s", 0x45, 0, 28 + len(payload), 0, 0, 64, 17, 0,
                               socket.inet_aton("10.1.0.9"), socket.inet_aton("10.1.0.100")))
    total = sum(struct.unpack(">10H", ip))
    ip[10:12] = struct.pack(">H", ~((total & 0xffff) + (total >> 16)) & 0xffff)
    macs = b"".join(bytes.fromhex(mac.replace(":", "")) for mac in (to_mac, CLIENT_MAC))
    return macs + b"\x08\0" + ip + struct.pack(">HHHH", 40000, 11211, 8 + len(payload), 0) + payload


# Opcodes of the binary protocol.
GET, SET, ADD, REPLACE, DELETE, INCR, DECR, QUIT, FLUSH, GETQ, NOOP, VERSION, GETK, GETKQ, APPEND, PREPEND, STAT = range(17)
SETQ, TOUCH, GAT, GATQ, GATK, GATKQ = 0x11, 0x1c, 0x1d, 0x1e, 0x23, 0x24


def packet(opcode, key=b"", extras=b"", value=b"", opaque=0, cas=0, body=None):
    """A binary request; `body` is a lie about its length."""
    key, value = (x.encode("latin-1") if isinstance(x, str) else x for x in (key, value))
    length = len(extras) + len(key) + len(value)
    return struct.pack(">BBHBBHIIQ", 0x80, opcode, len(key), len(extras), 0, 0,
                       length if body is None else body, opaque, cas) + extras + key + value


def stored(opcode, key, value, flags=0, **more):
    return packet(opcode, key, struct.pack(">II", flags, 0), value, **more)


def unpack(reply):
    """(opcode, status, opaque, extras, key, value) of a binary reply, which must be whole."""
    magic, opcode, keylen, extlen, _, status, body, opaque, _ = struct.unpack(">BBHBBHIIQ", reply[:24])
    assert magic == 0x81 and len(reply) == 24 + body, reply[:24]
    rest = reply[24:]
    return opcode, status, opaque, rest[:extlen], rest[extlen:extlen + keylen], rest[extlen + keylen:]


def main():
    address, port, command = sys.argv[1], int(sys.argv[2]), " ".join(sys.argv[3:])
    reply = Client(address, port, timeout=0.5).ask(command + "\r\n")
    if reply is None:
        raise SystemExit("no reply")
    sys.stdout.write(reply.decode("latin-1"))


if __name__ == "__main__":
    main()

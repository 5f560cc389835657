# SPDX-License-Identifier: BSD-3-Clause
"""decap.py INTERFACE: ends IPIP and GUE tunnels on a node whose kernel has none. Checks every header
of what comes, and hands what was inside to the kernel by a tun interface. Prints a line for each
kind of packet when it sees the first; ends, and says why, at the first that is not right."""
import fcntl
import socket
import struct
import sys

SNAT = {4: "10.2.0.254", 6: "fd02::fe"}
VIPS = {4: "10.1.0.101", 6: "fd01::101"}


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(">%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total


def address(family, data):
    return socket.inet_ntop(socket.AF_INET if family == 4 else socket.AF_INET6, data)


class Ip:
    """An IP packet without options; `data` is cut to its length."""

    def __init__(self, data):
        self.family = data[0] >> 4
        if self.family == 4:
            assert data[0] == 0x45, "version and header length %#x" % data[0]
            self.header, self.length = 20, struct.unpack(">H", data[2:4])[0]
            self.df, self.hops, self.protocol = data[6:8] == b"\x40\0", data[8], data[9]
            assert checksum(data[:20]) == 0xffff, "IPv4 checksum"
            self.source, self.target = address(4, data[12:16]), address(4, data[16:20])
            self.addresses = data[12:20]
        else:
            self.header, self.length = 40, 40 + struct.unpack(">H", data[4:6])[0]
            self.df, self.hops, self.protocol = True, data[7], data[6]
            self.source, self.target = address(6, data[8:24]), address(6, data[24:40])
            self.addresses = data[8:40]
        assert len(data) >= self.length, "longer than the frame"
        self.data = data[:self.length]
        self.payload = self.data[self.header:]

    def udp_is_right(self):
        length = struct.unpack(">H", self.payload[4:6])[0]
        assert length == len(self.payload), "UDP length"
        return checksum(self.addresses + struct.pack(">2H", 17, length) + self.payload) == 0xffff


def unwrap(outer):
    """(kind, inner) of a tunnel's packet; None when it is none."""
    if outer.protocol in (4, 41):
        return "ipip", outer.protocol, outer.payload
    if outer.protocol != 17 or struct.unpack(">H", outer.payload[2:4])[0] != 6080:
        return None
    source, _, _, check = struct.unpack(">4H", outer.payload[:8])
    assert source >= 0xc000, "GUE source port %d" % source
    assert outer.udp_is_right() if outer.family == 6 else check == 0, "outer UDP checksum"
    first, protocol, flags = struct.unpack(">BBH", outer.payload[8:12])
    assert first == 0 and flags == 0, "GUE header"
    return "gue", protocol, outer.payload[12:]


def main():
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3))
    wire.bind((sys.argv[1], 0))
    # Without a listener the kernel would answer port unreachable.
    listener = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    listener.bind(("::", 6080))
    tun = open("/dev/net/tun", "r+b", buffering=0)
    fcntl.ioctl(tun, 0x400454ca, struct.pack("16sH22x", b"inner", 0x1001))  # IFF_TUN | IFF_NO_PI
    print("ready", flush=True)
    seen = set()
    while True:
        data, where = wire.recvfrom(4096)
        if where[1] not in (0x0800, 0x86dd) or where[2] == 4 or data[0] == 0x46:
            continue  # 0x46: IGMP, with its router alert
        outer = Ip(data)
        found = unwrap(outer)
        if found is None:
            continue
        kind, protocol, rest = found
        assert outer.source == SNAT[outer.family], "outer source %s" % outer.source
        assert outer.df and outer.hops == 63, "outer hops %d, one router on" % outer.hops
        inner = Ip(rest)
        assert protocol == (4 if inner.family == 4 else 41), "protocol %d" % protocol
        assert inner.length == len(rest), "bytes behind the inner packet"
        assert inner.hops == 63 and inner.protocol == 17, "inner hops %d" % inner.hops
        assert inner.target == VIPS[inner.family], "inner target %s" % inner.target
        assert inner.udp_is_right(), "inner UDP checksum"
        name = "%s %d in %d" % (kind, inner.family, outer.family)
        if name not in seen:
            seen.add(name)
            print(name, flush=True)
        tun.write(inner.data)


main()

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# 802.1Q: requests that come with a tag are served, and their replies leave with the same one. This
# needs no vlan interface: the frames are written by hand, and read with what the kernel took off.
. "$(dirname "$0")/_init.sh"
hosts_start
hosts_ipv6
nodes_start
config_write
sed -i -e 's/snat: 10.2.0.254}/snat: 10.2.0.254, snat6: "fd02::fe"}/' \
	-e 's/^topology:/  - {name: cache6, address: "fd01::100", port: 11211, mode: nat}\n&/' "$CONFIG"
router_start
router_ready

mac=$(on router cat /sys/class/net/front/address)
check "tagged requests of both families are served, the tag comes back" client python3 - "$mac" <<'PY'
import socket, struct, sys, time

SOL_PACKET, PACKET_AUXDATA, VLAN_VALID = 263, 8, 1 << 4
wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
wire.bind(("c0", 0))
wire.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
own = wire.getsockname()[4]
router = bytes(int(x, 16) for x in sys.argv[1].split(":"))

def checksum(data):
    total = sum(struct.unpack(">%dH" % ((len(data) + 1) // 2), data + b"\0" * (len(data) % 2)))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff

def frame(v6, tci, port, ident, text):
    payload = struct.pack(">4H", ident, 0, 1, 0) + text
    family, a, b = (socket.AF_INET6, "fd01::9", "fd01::100") if v6 else (socket.AF_INET, "10.1.0.9", "10.1.0.100")
    addresses = socket.inet_pton(family, a) + socket.inet_pton(family, b)
    length = 8 + len(payload)
    udp = struct.pack(">4H", port, 11211, length, 0)
    udp = udp[:6] + struct.pack(">H", checksum(addresses + struct.pack(">2H", 17, length) + udp + payload) or 0xffff)
    if v6:
        ip = struct.pack(">IHBB", 6 << 28, length, 17, 64) + addresses
    else:
        ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + length, 0, 0, 64, 17, 0) + addresses
        ip = ip[:10] + struct.pack(">H", checksum(ip)) + ip[12:]
    return router + own + struct.pack(">3H", 0x8100, tci, 0x86dd if v6 else 0x0800) + ip + udp + payload

def reply(port, ident):
    """(tag or None, text) of the reply to us, whose checksum must be right."""
    end = time.monotonic() + 3
    while time.monotonic() < end:
        wire.settimeout(3)
        data, ancillary, _, address = wire.recvmsg(4096, 256)
        if address[2] == 4: # our own, on its way out
            continue
        tag, ether = None, struct.unpack(">H", data[12:14])[0]
        if ether == 0x8100:
            tag, ether = struct.unpack(">2H", data[14:18])
            data = data[:12] + data[16:]
        for level, kind, value in ancillary:
            if level == SOL_PACKET and kind == PACKET_AUXDATA:
                status, _, _, _, _, tci = struct.unpack("IIIHHH", value[:18])
                if status & VLAN_VALID:
                    tag = tci
        at = 54 if ether == 0x86dd else 34
        if ether not in (0x0800, 0x86dd) or len(data) < at + 16:
            continue
        source, target, length, _ = struct.unpack(">4H", data[at:at + 8])
        if source != 11211 or target != port:
            continue
        addresses = data[22:54] if ether == 0x86dd else data[26:34]
        assert checksum(addresses + struct.pack(">2H", 17, length) + data[at:at + length]) == 0
        assert struct.unpack(">H", data[at + 8:at + 10])[0] == ident
        return tag, data[at + 16:at + length]
    raise SystemExit("no reply")

ident = 100
for v6 in (False, True):
    for tci in (100, 0xa064, 4094):
        for ask, want in ((b"set k 0 0 2\r\nhi\r\n", b"STORED\r\n"),
                          (b"get k\r\n", b"VALUE k 0 2\r\nhi\r\nEND\r\n"),
                          (b"get k none\r\n", b"VALUE k 0 2\r\nhi\r\nEND\r\n"),
                          (b"bogus\r\n", b"ERROR\r\n")):
            ident += 1
            wire.send(frame(v6, tci, 40000 + ident, ident, ask))
            got = reply(40000 + ident, ident)
            assert got == (tci, want), (v6, tci, ask, got)
PY
check "in = out + drops + held" conserved

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""gets_pcap.py FILE: 4096 memcached gets over UDP as a capture file, for net_pcap's infinite_rx.

Keys of 18 to 22 bytes, all different; clients and ports vary. Checksums are right.
"""
import struct
import sys

COUNT = 4096
VIP, PORT = "10.1.0.101", 11211
ROUTER_MAC = bytes.fromhex("027063617000")  # net_pcap's first port has it
CLIENT_MAC = bytes.fromhex("020000000109")


def address(text):
    return bytes(int(part) for part in text.split("."))


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def udp(source, source_port, payload):
    length = 8 + len(payload)
    pseudo = source + address(VIP) + struct.pack("!BBH", 0, 17, length)
    header = struct.pack("!HHHH", source_port, PORT, length, 0)
    total = checksum(pseudo + header + payload) or 0xFFFF
    return header[:6] + struct.pack("!H", total) + payload


def ipv4(source, datagram):
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(datagram), 0, 0x4000, 64, 17, 0,
                         source, address(VIP))
    return header[:10] + struct.pack("!H", checksum(header)) + header[12:] + datagram


def get(i):
    key = "session:%0*d" % (10 + i % 5, i * 2654435761 % 2**32)
    payload = struct.pack("!HHHH", i, 0, 1, 0) + f"get {key}\r\n".encode()
    source = address(f"10.1.{1 + i % 7}.{1 + i % 250}")
    return ROUTER_MAC + CLIENT_MAC + b"\x08\x00" + ipv4(source, udp(source, 20000 + i, payload))


def write(path):
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for i in range(COUNT):
            frame = get(i)
            out.write(struct.pack("<IIII", 0, i, len(frame), len(frame)) + frame)


if __name__ == "__main__":
    write(sys.argv[1])

# SPDX-License-Identifier: BSD-3-Clause
"""frames.py IN-NAMESPACE IN-IF OUT-NAMESPACE OUT-IF DESTINATION-MAC: whether frames that no service
has to do with come from one interface to the other as they were sent, each once, byte by byte."""
import ctypes
import os
import random
import socket
import struct
import sys
import time

CLONE_NEWNET = 0x40000000
SOL_PACKET, PACKET_AUXDATA, VLAN_VALID = 263, 8, 0x10


def packet_socket(namespace, interface):
    """A packet socket there, however many namespaces this process visits."""
    fd = os.open("/run/netns/" + namespace, os.O_RDONLY)
    if ctypes.CDLL(None, use_errno=True).setns(fd, CLONE_NEWNET) < 0:
        raise OSError(ctypes.get_errno(), "setns " + namespace)
    os.close(fd)
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    s.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
    s.bind((interface, 0))
    return s


def receive(s):
    """The frame as it was on the wire: the kernel gives the tag apart."""
    data, extra, _, address = s.recvmsg(65536, 256)
    if address[2] == 4:  # PACKET_OUTGOING: what this host sends
        return None
    for level, kind, value in extra:
        if (level, kind) == (SOL_PACKET, PACKET_AUXDATA):
            status, _, _, _, _, tci, tpid = struct.unpack("IIIHHHH", value[:20])
            if status & VLAN_VALID:
                data = data[:12] + struct.pack(">HH", tpid or 0x8100, tci) + data[12:]
    return data


def udp(to, port, payload, checksum, options=b"", fragment=0):
    length = 20 + len(options) + 8 + len(payload)
    ip = struct.pack(">BBHHHBBH4s4s", 0x45 + len(options) // 4, 0, length, 77, fragment, 64, 17,
                     checksum, socket.inet_aton("10.1.0.9"), socket.inet_aton(to)) + options
    return ip + struct.pack(">HHHH", 5000, port, 8 + len(payload), checksum) + payload


def frames(mac):
    """What a careless router would mend, cut, strip or drop."""
    rng = random.Random(1)
    ether = mac + bytes.fromhex("02ee00000009")
    tag = bytes.fromhex("8100")
    mark = bytes(rng.randrange(256) for _ in range(16))
    ipv4 = b"\x08\x00"
    yield "an EtherType nobody knows", ether + b"\x88\xb5" + mark + bytes(30)
    yield "a frame of 1514 bytes", ether + b"\x88\xb5" + mark + bytes(
        rng.randrange(256) for _ in range(1484))
    yield "a tag", ether + tag + b"\x20\x05" + b"\x88\xb5" + mark + bytes(30)
    yield "a tag and IPv4 behind it", ether + tag + b"\x20\x05" + ipv4 + udp(
        "10.1.0.1", 7, b"t" + mark, 0x1234) + bytes(7)
    yield "a tag, IPv4, and a fragment of a request", ether + tag + b"\x00\x07" + ipv4 + udp(
        "10.1.0.100", 11211, b"f" + mark, 0, fragment=0x2000)
    yield "two tags", ether + tag + b"\x20\x05" + tag + b"\x20\x06" + ipv4 + udp(
        "10.1.0.1", 7, b"q" + mark, 0)
    yield "wrong checksums", ether + ipv4 + udp("10.1.0.1", 7, b"c" + mark, 0xdead)
    yield "padding", ether + ipv4 + udp("10.1.0.1", 7, mark, 0) + b"padding beyond the length"
    yield "IP options", ether + ipv4 + udp("10.1.0.1", 7, b"o" + mark, 0, options=b"\x01\x01\x01\0")
    yield "a length beyond the frame", ether + ipv4 + udp("10.1.0.1", 7, mark, 0)[:-3]
    yield "another version of IP", ether + ipv4 + b"\x65" + mark + bytes(40)
    yield "another host's MAC", b"\x02\xaa\0\0\0\1" + ether[6:] + ipv4 + udp(
        "10.1.0.100", 11211, b"m" + mark, 0)
    yield "IPv6", ether + b"\x86\xdd" + b"\x60" + mark + bytes(40)
    yield "a group", b"\x01\x80\xc2\0\0\x0e" + ether[6:] + b"\x88\xcc" + mark + bytes(30)


def main():
    inside, interface, outside, other, mac = sys.argv[1:6]
    source, sink = packet_socket(inside, interface), packet_socket(outside, other)
    wanted = dict((frame, what) for what, frame in frames(bytes.fromhex(mac.replace(":", ""))))
    for frame in wanted:
        source.send(frame)
    end, got = time.monotonic() + 5, []
    while time.monotonic() < end and len(set(got)) < len(wanted):
        sink.settimeout(max(0.01, end - time.monotonic()))
        try:
            frame = receive(sink)
        except (socket.timeout, TimeoutError):
            break
        if frame in wanted:
            got.append(frame)
    for frame, what in wanted.items():
        if got.count(frame) != 1:
            raise SystemExit("%s: came %d times" % (what, got.count(frame)))


if __name__ == "__main__":
    main()

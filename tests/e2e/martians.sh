#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Requests from what is no host's own address, by IP or by MAC: a memcached's kernel takes none of
# them, and an answer would go to every host of the segment.
. "$(dirname "$0")/_init.sh"
NODES=2
hosts_start
hosts_ipv6
nodes_start
config_write
sed -i 's|^topology:|  - {name: cache6, address: "fd01::100", port: 11211, mode: nat}\n&|' "$CONFIG"
router_start
router_ready

drops() {
	ctl stats --json | field "r['drops']['$1']"
}
drops_is() { # NAME N
	[ "$(drops "$1")" = "$2" ]
}
answers_to() { # SOURCE-MAC SOURCE-IP: frames that come back of a request, a bad one and a multi-get
	client python3 - "$(on router cat /sys/class/net/front/address)" "$1" "$2" <<'PY'
import socket, struct, sys, time
router, mac, source = sys.argv[1:4]
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
s.bind(("c0", 0))
s.settimeout(0.3)

def fold(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(">%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff

v6 = ":" in source
family = socket.AF_INET6 if v6 else socket.AF_INET
pair = socket.inet_pton(family, source) + socket.inet_pton(family, "fd01::100" if v6 else "10.1.0.100")
for text in b"get k\r\n", b"nonsense\r\n", b"get a b c\r\n":
    payload = struct.pack(">4H", 77, 0, 1, 0) + text
    udp = struct.pack(">4H", 40000, 11211, 8 + len(payload), 0) + payload
    check = fold(pair + struct.pack(">HH", 17, len(udp)) + udp) or 0xffff
    udp = udp[:6] + struct.pack(">H", check) + udp[8:]
    if v6:
        ip = struct.pack(">IHBB", 6 << 28, len(udp), 17, 64) + pair
    else:
        ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0) + pair
        ip = ip[:10] + struct.pack(">H", fold(ip)) + ip[12:]
    s.send(bytes.fromhex((router + mac).replace(":", "")) + (b"\x86\xdd" if v6 else b"\x08\0") + ip + udp)
seen, end = 0, time.monotonic() + 1
while time.monotonic() < end:
    try:
        data, address = s.recvfrom(2000)
    except (socket.timeout, TimeoutError):
        continue
    at = 54 if v6 else 34
    seen += address[2] != 4 and data[at:at + 4] == struct.pack(">HH", 11211, 40000)
print(seen)
PY
}

mac=02:00:00:00:01:09
check "a host is answered" test "$(answers_to $mac 10.1.0.9)" = 3
check "over IPv6 as well" test "$(answers_to $mac fd01::9)" = 3
n=0
for source in 255.255.255.255 224.0.0.1 0.0.0.0 127.0.0.1 ff02::1 :: ::1; do
	check "nobody is answered for $source" test "$(answers_to $mac $source)" = 0
	n=$((n + 3))
	check "and $source is counted" wait_until 5 drops_is source $n
done
for group in ff:ff:ff:ff:ff:ff 01:00:5e:00:00:01; do
	check "$group is not answered" test "$(answers_to $group 10.1.0.9)" = 0
	n=$((n + 3))
	check "but counted" wait_until 5 drops_is source $n
done
check "no slot is held for them" test "$(ctl stats --json | field 'r["pending"]')" = 0
check "in = out + drops + held" conserved

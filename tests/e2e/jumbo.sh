#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Packets larger than 1500 bytes: where both links carry them they take the fast path, where one does
# not what happens has a name, and no frame leaves that its link would not carry.
. "$(dirname "$0")/_init.sh"
NODES=3
DEVICE=packet

device() { # NAME INTERFACE: frames of the ring follow the MTU by themselves
	case $DEVICE in
	xdp) echo "net_af_xdp_$1,iface=$2" ;;
	packet) echo "net_af_packet_$1,iface=$2" ;;
	esac
}

mtus() { # FRONT BACK: of both ends of each link
	client ip link set c0 mtu "$1"
	on router ip link set front mtu "$1"
	on router ip link set back mtu "$2"
	on net ip link set r0 mtu "$2"
}

stat_of() {
	ctl stats --json | field "$1"
}

restart() { # [MORE OF FRONT'S CONFIGURATION]
	stop router
	config_write
	[ -z "${1:-}" ] || sed -i "s/name: front, /name: front, $1, /" "$CONFIG"
	router_start
	router_ready
}

hosts_start
for i in $(seq 1 $NODES); do
	on net ip link set "p$i" mtu 9000
	on "n$i" ip link set eth0 mtu 9000
done
on net ip link set br0 mtu 9000
mtus 9000 9000
nodes_start
config_write
router_start
router_ready

check "a port has its interface's MTU" \
	test "$(ctl status --json | field '[p["mtu"] for p in r["ports"]]')" = "[9000, 9000]"
sets() { # SIZE...: set, get, and meta's, at nat and dsr
	client python3 - "$@" <<'PY'
import sys
from kvclient import Client

for vip in ("10.1.0.100", "10.1.0.101"):
    c = Client(vip)
    for size in map(int, sys.argv[1:]):
        c.round_trip(size)
PY
}
check "sets of 1400 to 8940 bytes, nat and dsr" sets 1400 1450 1500 2000 2049 4000 7000 8940
check "they took the fast path" test "$(stat_of '(r["requests"], r["slow_path"]["received"], sum(r["drops"].values()) - r["drops"]["not_ours"] - r["drops"]["foreign_mac"])')" = "(64, 0, 0)"
check "a set of more than the MTU takes the slow path" sets 9000 20000
check "it did" test "$(stat_of '(r["slow_path"]["received"], r["slow_path"]["forwarded"])')" = "(8, 8)"

check "a datagram of several large commands is taken apart" client python3 - <<'PY'
from kvclient import Client
c = Client("10.1.0.100")
values = {k: k * 2600 for k in "abc"}
got = c.messages("".join("set %s 0 0 %d\r\n%s\r\n" % (k, len(v), v) for k, v in values.items()), 3)
assert got == [b"STORED\r\n"] * 3, got
got = c.ask("get a b c\r\n")
assert got == ("".join("VALUE %s 0 %d\r\n%s\r\n" % (k, len(v), v) for k, v in values.items()) + "END\r\n").encode(), len(got)
keys = ["key%080d" % i for i in range(100)]  # a request of 8.4 kB; none is there but the last
c.expect("set %s 0 0 1\r\nx\r\n" % keys[-1], "STORED\r\n")
c.expect("get %s\r\n" % " ".join(keys), "VALUE %s 0 1\r\nx\r\nEND\r\n" % keys[-1])
PY
check "without the slow path" test "$(stat_of 'r["slow_path"]["received"]')" = 8
check "in = out + drops + held" conserved

# Large toward the clients, not toward the nodes: refused before a node is asked.
mtus 9000 1500
restart
check "large requests for small links are refused in words" client python3 - <<'PY'
from kvclient import Client, stored, unpack, SET
refused = "SERVER_ERROR request too large for the way to its node\r\n"
for vip in ("10.1.0.100", "10.1.0.101"):
    c = Client(vip)
    c.expect("set k 0 0 7000\r\n%s\r\n" % ("x" * 7000), refused)
    c.expect("set k 0 0 1447\r\n%s\r\n" % ("x" * 1447), refused)     # 1501 bytes
    c.expect("set k 0 0 1446\r\n%s\r\n" % ("x" * 1446), "STORED\r\n")  # 1500
    assert c.receive(c.send("set k 0 0 7000 noreply\r\n%s\r\n" % ("x" * 7000)), 0.3) is None
    status = unpack(c.ask(stored(SET, "k", "x" * 7000)))[1]
    assert status == 3, status  # too large
c = Client("10.1.0.100")
got = c.messages("set a 0 0 3\r\nabc\r\nset b 0 0 4000\r\n%s\r\nget a\r\n" % ("b" * 4000), 3)
assert sorted(got) == sorted([b"STORED\r\n", refused.encode(), b"VALUE a 0 3\r\nabc\r\nEND\r\n"]), got
PY
check "counted by name, and no node was asked" test "$(stat_of '(r["answered"]["path_mtu"], r["drops"]["mtu"], r["slow_path"]["received"], r["requests"])')" = "(6, 2, 0, 4)"
check "in = out + drops + held, refused ones too" conserved

# The other way round: a node that answers in larger datagrams than memcached's 1400 bytes.
mtus 1500 9000
stop n1
start large n1 python3 -c '
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("10.2.0.1", 11211))
while True:
    data, peer = s.recvfrom(65536)
    text = data[8:]
    if text.startswith(b"get "):
        size = 4000 if b"large" in text else 10
        key = text.split()[1]
        s.sendto(data[:8] + b"VALUE %s 0 %d\r\n%s\r\nEND\r\n" % (key, size, b"v" * size), peer)
    else:
        s.sendto(data[:8] + b"VERSION 1\r\n", peer)
'
restart
check "replies too long for the client's link are dropped, the others pass" client python3 - <<'PY'
from kvclient import Client
c = Client("10.1.0.100")
lost = 0
for i in range(60):
    got = c.ask("get small%d\r\n" % i, 1)
    assert got is not None
    lost += c.ask("get large%d\r\n" % i, 0.15) is None
assert 5 < lost < 40, lost
PY
check "they are counted by name" test "$(stat_of '(r["drops"]["mtu"] > 5, r["drops"]["mtu"] < 40)')" = "(True, True)"
check "in = out + drops + held, lost replies too" conserved
stop large
node_start 1

# mtu: sets the interface's.
mtus 1500 1500
restart "mtu: 4000"
check "mtu: is set at the interface" test "$(on router cat /sys/class/net/front/mtu)" = 4000
on router ip link set front mtu 1500

# AF_XDP has a limit of its own, which is told before anything is started.
DEVICE=xdp
mtus 9000 1500
stop router
config_write
refused() { # PATTERN
	on router "$KVLANED" -c "$CONFIG" >"$RUN/refused.log" 2>&1 && return 1
	grep -q "$1" "$RUN/refused.log"
}
check "9000 is refused on AF_XDP" refused "port front: AF_XDP takes packets of 3434 bytes at most, the MTU is 9000"
sed -i 's/net_af_xdp_front,iface=front/net_af_packet_front,iface=front,framesz=2048/' "$CONFIG"
check "a frame size that is too small is refused on af_packet" refused "port front: framesz=2048 is too small for an MTU of 9000"
mtus 3434 3434
restart
check "sets of up to 3376 bytes on AF_XDP" sets 1400 1800 2000 3000 3376
check "by the fast path" test "$(stat_of '(r["requests"] >= 40, r["slow_path"]["received"], sum(r["drops"].values()) - r["drops"]["foreign_mac"])')" = "(True, 0, 0)"
check "in = out + drops + held on AF_XDP" conserved

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# IPv6 at the clients, at the nodes, and at either alone: one pool of three nodes by IPv6 and three
# by IPv4, behind a service of each family, in nat and in dsr.
. "$(dirname "$0")/_init.sh"
hosts_start
hosts_ipv6
nodes_start
config_write
python3 - "$CONFIG" "$RUN/nodes.yaml" <<'PY'
import sys
config, nodes = sys.argv[1:]
text = open(config).read()
text = text.replace("snat: 10.2.0.254}", 'snat: 10.2.0.254, snat6: "fd02::fe"}')
text = text.replace("topology:", """\
  - {name: cache6, address: "fd01::100", port: 11211, mode: nat, timeout_ms: 500}
  - {name: direct6, address: "fd01::101", port: 11211, mode: dsr}
topology:""")
open(config, "w").write(text)
text = open(nodes).read()
for i in (1, 2, 3):
    text = text.replace("address: 10.2.0.%d," % i, 'address: "fd02::%d",' % i)
open(nodes, "w").write(text)
PY
router_start
router_ready
check "all nodes are there at once" test "$(grep -c "suspect\|down:" "$LOG")" = 0

check "commands, sizes and errors, from either family to either" client python3 - <<'PY'
from kvclient import Client

for vip in ("fd01::100", "10.1.0.100"):
    c = Client(vip)
    for i in range(12): # keys of all six nodes
        k = "%s-%d" % (vip[0], i)
        c.expect("set %s 5 0 3\r\nabc\r\n" % k, "STORED\r\n")
        c.expect("get %s\r\n" % k, "VALUE %s 5 3\r\nabc\r\nEND\r\n" % k)
        c.expect("append %s 0 0 4\r\ndefg\r\n" % k, "STORED\r\n")
        c.expect("mg %s v\r\n" % k, "VA 7\r\nabcdefg\r\n")
        for size in (1, 2, 1300, 1333, 1392, 1400):
            value = "v" * size
            c.expect("set %s 0 0 %d\r\n%s\r\n" % (k, size, value), "STORED\r\n")
            c.expect("get %s\r\n" % k, "VALUE %s 0 %d\r\n%s\r\nEND\r\n" % (k, size, value))
        c.expect("delete %s\r\n" % k, "DELETED\r\n")
        c.expect("get %s\r\n" % k, "END\r\n")
    c.expect("nonsense\r\n", "ERROR\r\n")
    c.expect("set x 0 0 50\r\nshort\r\n", "CLIENT_ERROR bad data chunk\r\n")
    assert c.ask("version\r\n").startswith(b"VERSION 1.6.18-kvlane-")
PY

check "many keys in one request, a pool of both families" client python3 - <<'PY'
from kvclient import Client

c = Client("fd01::100")
keys = ["multi%03d" % i for i in range(100)]
for k in keys:
    c.expect("set %s 0 0 %d\r\n%s\r\n" % (k, len(k), k), "STORED\r\n")
wanted = "".join("VALUE %s 0 %d\r\n%s\r\n" % (k, len(k), k) for k in keys) + "END\r\n"
c.expect("get %s\r\n" % " ".join(keys), wanted)
PY

check "fragmented requests by the slow path" client python3 - <<'PY'
from kvclient import Client

for vip in ("fd01::100", "10.1.0.100"):
    c = Client(vip)
    for i in range(8):
        for size in (1460, 5000, 60000):
            value = "".join(chr(97 + (i + n) % 26) for n in range(size))
            c.expect("set big%d 0 0 %d\r\n%s\r\n" % (i, size, value), "STORED\r\n")
            c.expect("get big%d\r\n" % i, "VALUE big%d 0 %d\r\n%s\r\nEND\r\n" % (i, size, value))
PY
check "they took it" test "$(ctl stats --json | field 'r["slow_path"]["forwarded"] >= 32')" = True

check "and those with a destination option" client python3 - <<'PY'
import socket
from kvclient import Client
c = Client("fd01::100")
c.sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_DSTOPTS, b"\x00\x00\x01\x04\x00\x00\x00\x00")
c.expect("set opt 0 0 2\r\nhi\r\n", "STORED\r\n")
c.expect("get opt\r\n", "VALUE opt 0 2\r\nhi\r\nEND\r\n")
PY

check "dsr over IPv6, to nodes known by either family" client python3 - <<'PY'
from kvclient import Client

c = Client("fd01::101")
for i in range(12):
    c.expect("set d%d 5 0 3\r\nabc\r\n" % i, "STORED\r\n")
    c.expect("get d%d\r\n" % i, "VALUE d%d 5 3\r\nabc\r\nEND\r\n" % i)
PY

for vip in $VIP6 $VIP; do
	check "a load by $vip: all answered, none wrong" \
		test "$(client "$KVLOAD" -p -t 2 -r 3000 $vip 11211 | field \
			'(r["sent"] > 5000, r["sent"] - r["answered"], r["wrong"], r["errors"], r["misses"])')" = "(True, 0, 0, 0, 0)"
done
check "all six nodes served" \
	test "$(ctl nodes --json | field 'min(n["requests"] for n in r["nodes"]) > 100')" = True

check "ping and neighbour discovery stay the kernel's" client ping -6 -q -c 2 -i 0.2 -W 2 fd01::1
client ip -6 neigh flush dev c0
check "also when they start anew" client ping -6 -q -c 1 -W 2 fd01::1
# af_packet ports see all of it as well, beside the kernel.
[ "$DEVICE" = packet ] || check "no packet was taken from it" \
	test "$(ctl stats --json | field 'r["drops"].get("not_ours", 0)')" = 0

stop n2 KILL
check "a dead node of IPv6 leaves the candidates" wait_until 10 eligible_is 5
check "and nothing is sent to it" \
	test "$(client "$KVLOAD" -p -f -t 1 -r 2000 $VIP6 11211 | field \
		'(r["sent"] - r["answered"], r["wrong"], r["errors"])')" = "(0, 0, 0)"
node_start 2
check "it comes back" wait_until 10 eligible_is 6
check "in = out + drops + held" conserved

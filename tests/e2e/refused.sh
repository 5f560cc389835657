#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A node whose process is gone: its host says so by ICMP, and what is in flight to it fails over, or
# ends, at once. Timeouts are longer here than the client waits, so nothing else could help it; and
# probes are rare, so that the node is not out before it is asked.
. "$(dirname "$0")/_init.sh"
hosts_start
hosts_ipv6
nodes_start
TIMEOUT_MS=30000
config_write
python3 - "$CONFIG" "$RUN/nodes.yaml" <<'PY'
import sys
config, nodes = sys.argv[1:]
text = open(config).read()
text = text.replace("snat: 10.2.0.254}", 'snat: 10.2.0.254, snat6: "fd02::fe"}')
text = text.replace("probe_interval_ms: 200", "probe_interval_ms: 60000")
text = text.replace("topology:", """\
  - {name: copies, address: "fd01::100", port: 11211, mode: nat, timeout_ms: 30000, replication: 3,
     pool: default, scoring: {choice: best}}
topology:""")
open(config, "w").write(text)
text = open(nodes).read()
for i in (1, 2, 3):
    text = text.replace("address: 10.2.0.%d," % i, 'address: "fd02::%d",' % i)
open(nodes, "w").write(text)
PY
router_start
router_ready

of_node() { # NODE FIELD
	ctl nodes --json | field '[n["'"$2"'"] for n in r["nodes"] if n["id"] == "'"$1"'"][0]'
}

# One key of each of the two nodes: n1 is known by IPv6, n4 by IPv4.
keys() {
	for node in n1 n4; do
		for k in $(seq 1 200); do
			if [ "$(ctl route "key$k" --json | field 'r["choice"]')" = $node ]; then
				echo "key$k"
				break
			fi
		done
	done
}
mapfile -t KEY < <(keys)
check "each of two nodes has a key" test ${#KEY[@]} = 2
check "under best the choice has all the probability" test "$(ctl route key1 --service copies --json |
	field '[c["probability"] for c in r["candidates"] if c["id"] == r["choice"]]')" = "[1.0]"
stop n1 KILL
stop n4 KILL
check "the client is told at once, whatever the request" client python3 - "${KEY[@]}" <<'PY'
import sys
from kvclient import Client, packet, unpack, GET

c = Client("10.1.0.100", timeout=5)
for key in sys.argv[1:]:
    # Kernels limit their errors: one stands for all that is in flight, so all are asked at once.
    asked = [(c.send("get %s\r\n" % key), b"SERVER_ERROR node did not answer\r\n"),
             (c.send("incr %s 1\r\n" % key), b"SERVER_ERROR node did not answer\r\n"),
             (c.send("set %s 0 0 1\r\nx\r\n" % key), b"SERVER_ERROR node did not answer\r\n"),
             (c.send("get %s %s2 %s3\r\n" % (key, key, key)), b"END\r\n"),
             (c.send(packet(GET, key.encode(), opaque=77)), None)]
    got = {}
    for ident, _ in asked:
        got[ident] = None
    import struct, time
    end = time.monotonic() + 10
    while None in got.values() and time.monotonic() < end:
        c.sock.settimeout(10)
        data = c.sock.recv(65536)
        got[struct.unpack(">H", data[:2])[0]] = data[8:]
    for ident, want in asked:
        if want is None:
            assert unpack(got[ident])[2] == 77, got[ident]
        else:
            assert got[ident] == want, (ident, got[ident])
PY
check "errors were believed for both nodes" \
	test "$(of_node n1 refused):$(of_node n4 refused)" != "0:0" -a "$(of_node n1 refused)" != 0 -a "$(of_node n4 refused)" != 0
check "requests were given up by them" test "$(ctl stats --json | field 'r["refused"] >= 8')" = True
check "both nodes leave the candidates by what was seen alone" wait_until 10 eligible_is 4
check "nothing waits" test "$(ctl stats --json | field 'r["pending"]')" = 0
check "ping to the source address stays the kernel's" on n2 ping -q -c 1 -W 2 10.2.0.254
check "in IPv6 too" on n2 ping -6 -q -c 1 -W 2 fd02::fe
check "in = out + drops + held" conserved

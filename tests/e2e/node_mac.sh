#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A node's MAC changes and nobody says so, as after a failover or with a new card: its silence makes
# the router look, and the node is back in seconds, not when the kernel's entry has aged.
. "$(dirname "$0")/_init.sh"
NODES=3
world_start

mac_is() { # NODE MAC: as the router sends to it
	[ "$(ctl nodes --json | field '[n["mac"] for n in r["nodes"] if n["id"] == "'"$1"'"][0]')" = "$2" ]
}
was=$(on n2 cat /sys/class/net/eth0/address)
new=02:00:00:00:77:02
check "the router has the node's MAC" mac_is n2 "$was"
# So fresh that the kernel would not look for a while.
node_answers 2

on n2 ip link set eth0 address $new
began=$(date +%s%N)
check "the node's silence is noticed" wait_until 10 state_is n2 down
check "its new MAC is found" wait_until 8 mac_is n2 $new
check "it is in again" wait_until 8 eligible_is $NODES
took=$((($(date +%s%N) - began) / 1000000))
echo "back $took ms after its MAC changed"
check "within ten seconds" test $took -lt 10000
check "requests go to it" client python3 - <<'PY'
from kvclient import Client
c = Client("10.1.0.100")
for i in range(60):
    c.expect("set k%d 0 0 1\r\nx\r\n" % i, "STORED\r\n")
PY
check "the other nodes kept their entries" test "$(on router ip -d neigh show dev back | grep -c managed)" = $NODES
check "in = out + drops + held" conserved

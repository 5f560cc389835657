#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Frames to another host's MAC, which a switch that floods brings, are not served; the port's own MAC
# is followed when it changes under the running router.
. "$(dirname "$0")/_init.sh"
NODES=2
world_start

request() {
	client python3 -m kvclient $VIP 11211 mg k
}
foreign() {
	ctl stats --json | field 'r["drops"]["foreign_mac"]'
}
foreign_is() {
	[ "$(foreign)" = "$1" ]
}
send_to() { # MAC: twenty sets to the service; none must be answered when the MAC is another's
	client python3 - "$1" <<'PY'
import socket, sys
from kvclient import request_frame
out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
out.bind(("c0", 0))
back = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
back.bind(("10.1.0.9", 40000))
back.settimeout(0.5)
for _ in range(20):
    out.send(request_frame(sys.argv[1], b"set foreign 0 0 1\r\nx\r\n"))
try:
    print(len(back.recv(2000)) > 0)
except socket.timeout:
    print(False)
PY
}

mac=$(on router cat /sys/class/net/front/address)
# The one that stands in the frames below, so that their replies come.
client ip link set c0 address 02:00:00:00:01:09
request >/dev/null
check "what is sent to the port's MAC is served" test "$(send_to "$mac")" = True
check "none was foreign" test "$(foreign)" = 0
check "what is sent to another's is not" test "$(send_to 02:00:00:00:99:99)" = False
check "but counted" wait_until 5 foreign_is 20

on router ip link set front address 02:00:00:00:aa:aa
client ip neigh flush dev c0
check "requests go on under a new MAC of the port" wait_until 5 request
check "the router says so" grep -q "port front: its MAC is 02:00:00:00:aa:aa now" "$LOG"
check "and shows it" test "$(ctl status --json | field 'r["ports"][0]["mac"]')" = 02:00:00:00:aa:aa
on router ip link set back address 02:00:00:00:bb:bb
for i in 1 2; do
	on "n$i" ip neigh flush dev eth0
done
check "toward nodes as well" wait_until 5 request
check "nodes are sent to from it" wait_until 5 eligible_is $NODES
check "in = out + drops + held" conserved

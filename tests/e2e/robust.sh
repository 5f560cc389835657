#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A node that flaps does not fill the log; a request that is far too long gets its answer; addresses
# that cannot be a host's are refused by name.
. "$(dirname "$0")/_init.sh"
NODES=2
world_start
began=$SECONDS

for i in 1 2 3; do
	kill -STOP "${PIDS[n1]}"
	check "n1 goes ($i)" wait_until 20 state_is n1 down
	kill -CONT "${PIDS[n1]}"
	check "and comes ($i)" wait_until 60 state_is n1 healthy
done
lines() { grep -c 'node n1: ' "$LOG"; }
suppressed() { ctl status --json | field 'r["log_suppressed"]'; }
changes=$(($(lines) + $(suppressed)))
check "it changed often enough to be limited" test "$changes" -ge 8
check "lines about it are limited" test "$(lines)" -le $((6 + (SECONDS - began) / 10 + 1))
told() { grep -q 'node n1: healthy (.* changes before were not logged)' "$LOG" || [ "$(suppressed)" = 0 ]; }
check "what was left out is told, with how it ended" wait_until 20 told
check "the other node's lines are not held back" kill -STOP "${PIDS[n2]}"
other() { grep -q 'node n2: down' "$LOG"; }
check "at once" wait_until 20 other
kill -CONT "${PIDS[n2]}"
check "it comes back" wait_until 60 state_is n2 healthy

check "a request of 2 MB is answered" python3 - "$SOCKET" <<'PY'
import json, socket, sys
s = socket.socket(socket.AF_UNIX)
s.settimeout(10)
s.connect(sys.argv[1])
s.sendall(b'{"v":1,"id":1,"method":"route","params":{"key":"' + b"x" * (2 << 20) + b'"}}\n')
reply = json.loads(s.makefile().readline())
assert reply["error"]["code"] == "too_long", reply
PY
long=$(head -c 100000 /dev/zero | tr '\0' k)
check "kvlanectl tells why" test "$(ctl route "$long" 2>&1)" = \
	"kvlanectl: route: request longer than 65536 bytes (too_long)"

try() { # ADDRESS of a service
	sed "s/address: $VIP/address: $1/" "$CONFIG" >"$RUN/bad.yaml"
	! "$KVLANECTL" check "$RUN/bad.yaml" >"$RUN/check.log" 2>&1 &&
		grep -q "services\[0\].address: $1: must be a host's address, not $2 one" "$RUN/check.log"
}
check "loopback is refused by name" try 127.0.0.1 "a loopback"
check "multicast is refused by name" try 239.1.1.1 "a multicast"
check "the unspecified is refused by name" try 0.0.0.0 "the unspecified"
sed 's/10.2.0.2,/127.0.0.2,/' "$RUN/nodes.yaml" >"$RUN/nodes.new" && mv "$RUN/nodes.new" "$RUN/nodes.yaml"
"$KVLANECTL" check "$CONFIG" >"$RUN/check.log" 2>&1 || true
check "of a node, the node is left out by name" grep -q \
	'nodes\[1\].address: 127.0.0.2: .*loopback.*node n2 is left out' "$RUN/check.log"
check "in = out + drops + held" conserved

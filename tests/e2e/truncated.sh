#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A truncated storage command makes a memcached worker swallow other clients' datagrams. The router
# answers it and no byte of it reaches a node.
. "$(dirname "$0")/_init.sh"
world_start

check "memcached itself is poisoned by one (else this tests nothing)" on n1 python3 - <<'PY'
from kvclient import Client
c = Client("10.2.0.1", timeout=0.5)
c.expect("set x 0 0 1\r\nv\r\n", "STORED\r\n")
c.send("set k 0 0 40\r\nshort")
assert c.ask("get x\r\n") != b"VALUE x 0 1\r\nv\r\nEND\r\n", "the victim's request was answered"
PY
stop n1
node_start 1
wait_until 10 eligible_is 6 || fail "n1 does not come back"

seen() { # commands and malformed ones that the nodes have seen, all six
	local i
	for i in $(seq 6); do
		on "n$i" python3 -m kvclient "10.2.0.$i" 11211 stats
	done | awk '/cmd_set|cmd_get|cmd_touch|get_misses/ {s += $3} END {print s + 0}'
}
before=$(seen)
check "each is refused, in memcached's words" client python3 - <<'PY'
from kvclient import Client
c = Client("10.1.0.100")
for n in range(100):
    key = "key%d" % n
    for text in ("set %s 0 0 40\r\nshort", "set %s 0 0 40\r\nshort\r\n", "set %s 0 0 6\r\nshort\r\n",
                 "cas %s 0 0 10 1\r\n", "append %s 0 0 2\r\nx", "ms %s 40\r\nshort\r\n", "ms %s 2\r\nx"):
        c.expect(text % key, "CLIENT_ERROR bad data chunk\r\n")
    c.expect("set %s 0 0 2097152\r\nshort\r\n" % key, "SERVER_ERROR object too large for cache\r\n")
    # Over-long: memcached would take the rest for a command.
    c.expect("set %s 0 0 3\r\nshort\r\n" % key, "CLIENT_ERROR bad data chunk\r\n")
    # The same behind another command.
    got = c.messages("flush_all\r\nset %s 0 0 40\r\nshort\r\n" % key, 2)
    assert got == [b"SERVER_ERROR command refused by the router\r\n", b"CLIENT_ERROR bad data chunk\r\n"], got
PY
check "noreply ones are dropped in silence" client python3 - <<'PY'
from kvclient import Client
c = Client("10.1.0.100")
for n in range(20):
    ident = c.send("set key%d 0 0 40 noreply\r\nshort\r\n" % n)
    assert c.receive(ident, 0.02) is None
PY
check "no node saw any of it" test "$(seen)" = "$before"
check "the drops have a name" test "$(ctl stats --json | field 'r["drops"]["quiet_error"]')" = 20
check "and other clients are served" \
	test "$(client "$KVLOAD" -p -t 1 -r 2000 $VIP 11211 | field \
		'(r["sent"] - r["answered"], r["wrong"], r["errors"])')" = "(0, 0, 0)"
check "in = out + drops + held" conserved

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# dsr: requests pass the router, replies come from the node's own copy of the service address.
. "$(dirname "$0")/_init.sh"
world_start

check "get, set, delete, meta by dsr" client python3 - <<'PY'
from kvclient import Client

c = Client("10.1.0.101")
c.expect("set a 5 0 3\r\nabc\r\n", "STORED\r\n")
c.expect("get a\r\n", "VALUE a 5 3\r\nabc\r\nEND\r\n")
c.expect("mg a v\r\n", "VA 3\r\nabc\r\n")
c.expect("delete a\r\n", "DELETED\r\n")
c.expect("get a\r\n", "END\r\n")
c.expect("bogus\r\n", "ERROR\r\n")
PY

before=$(ctl stats --json | field 'r["replies"]')
check "a load by dsr: all answered, none wrong" \
	test "$(client "$KVLOAD" -p -t 2 -r 3000 $DSR_VIP 11211 | field \
		'(r["sent"] > 5000, r["sent"] - r["answered"], r["wrong"], r["errors"])')" = "(True, 0, 0, 0)"
check "no reply passed the router" test "$(ctl stats --json | field 'r["replies"]')" = "$before"
check "no state was kept" test "$(ctl stats --json | field 'r["pending"]')" = 0

# dsr nodes are probed always: there is nothing else to tell that one is dead.
stop n3 KILL
check "a dead dsr node leaves the candidates" wait_until 10 eligible_is 5
check "and nothing is sent to it" \
	test "$(client "$KVLOAD" -p -f -t 1 -r 2000 $DSR_VIP 11211 | field \
		'(r["sent"] - r["answered"], r["wrong"], r["errors"])')" = "(0, 0, 0)"
node_start 3
check "it comes back" wait_until 10 eligible_is 6
check "in = out + drops + held" conserved

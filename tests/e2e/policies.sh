#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A service's policies: keyless commands round the nodes, keys placed by a tag of theirs.
. "$(dirname "$0")/_init.sh"
hosts_start
nodes_start
config_write
sed -i 's/mode: nat/mode: nat, keyless: round_robin, hash_tag: "{}"/' "$CONFIG"
router_start
router_ready

choice() { # KEY: the node that the control core says it has
	ctl route "$1" --json | field 'r["choice"]'
}
check "version comes from the nodes, in turn" client python3 - <<'PY'
from kvclient import *
c = Client("10.1.0.100")
for i in range(60):
    got = c.ask("version\r\n")
    assert got.startswith(b"VERSION ") and b"kvlane" not in got, got
assert unpack(c.ask(packet(NOOP)))[0] == NOOP
c.expect("quit\r\n", "")
PY
check "each as often as the others, within one" \
	test "$(ctl nodes --json | field 'max(n["requests"] for n in r["nodes"]) - min(n["requests"] for n in r["nodes"]) <= 1')" = True

check "keys of one tag are stored and read" client python3 - <<'PY'
from kvclient import Client
c = Client("10.1.0.100")
for user in range(20):
    for part in ("name", "mail", "cart"):
        c.expect("set u{%d}%s 0 0 1\r\nx\r\n" % (user, part), "STORED\r\n")
    got = c.messages("get %s\r\n" % " ".join("u{%d}%s" % (user, p) for p in ("name", "mail", "cart")), 1)
    assert got[0].count(b"VALUE") == 3, got
PY
check "one of them is stored through the router" client python3 - <<'PY'
from kvclient import Client
Client("10.1.0.100").expect("set u{7}proof 0 0 2\r\nhi\r\n", "STORED\r\n")
PY
same_place() {
	local user
	for user in 1 2 3 4 5 6 7 8; do
		[ "$(choice "u{$user}name")" = "$(choice "$user")" ] || return 1
	done
}
check "route places a key by its tag" same_place
node=$(choice 'u{7}cart')
check "and is on the node that route names" on "$node" python3 - "$node" <<'PY'
import sys
from kvclient import Client
Client("10.2.0.%s" % sys.argv[1][1:]).expect("get u{7}proof\r\n", "VALUE u{7}proof 0 2\r\nhi\r\nEND\r\n")
PY
check "in + created = out + absorbed + drops + held" conserved

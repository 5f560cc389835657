#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Rules by key prefix, tenants' quotas, consistency and bounds of load, with three holders a key.
. "$(dirname "$0")/_init.sh"
hosts_start
nodes_start
config_write
python3 - "$CONFIG" <<'PY'
import sys
path = sys.argv[1]
text = open(path).read()
line = next(l for l in text.splitlines() if "name: cache" in l)
service = line.strip()[3:-1].split(", ") + [
    "replication: 3", "max_version_lag: 100", "scoring: {choice: softmax}", "rules:",
    '- {prefix: "user:", hash_separator: "/"}',
    '- {prefix: "user:vip:", tenant: gold, timeout_ms: 250}',
    '- {prefix: "free:", tenant: free}',
    '- {prefix: "bank:", consistency: strong}']
open(path, "w").write(text.replace(line + "\n", "  - " + "\n    ".join(service) + "\n"))
PY
cat >>"$CONFIG" <<EOF
tenants:
- {name: gold, rate: 100000}
- {name: free, rate: 20, burst: 20, node_share: 0.5}
EOF
reports_write
router_start
router_ready
for i in $(seq "$NODES"); do
	agent_start "$i"
done
reports_are_in() { [ "$(ctl stats --json | field 'r["reports"]["taken"]')" -ge "$NODES" ]; }
check "nodes report" wait_until 10 reports_are_in

route() { # KEY EXPRESSION over r
	ctl route "$1" --json | field "$2"
}
reason() { # KEY NODE: why it is not asked
	route "$1" "[c['reason'] for c in r['candidates'] if c['id'] == '$2'][0]"
}
tenant() { # NAME COUNTER
	ctl tenants --json | field "[t['$2'] for t in r['tenants'] if t['name'] == '$1'][0]"
}
counter() { # GROUP.NAME
	ctl stats --json | field "r[\"${1%.*}\"][\"${1#*.}\"]"
}
first() { # KEY: the node that has it first
	route "$1" 'r["preference"][0]["id"]'
}

# ---- rules ----
check "route names the rule" \
	test "$(route user:7/a '(r["rule"], r["tenant"], r["consistency"])')" = "('user:', None, 'eventual')"
check "that of the longest prefix" \
	test "$(route user:vip:1 '(r["rule"], r["tenant"], r["timeout_ms"])')" = "('user:vip:', 'gold', 250)"
check "and none for other keys" test "$(route other 'r["rule"]')" = None
holders() { route "$1" '[c["id"] for c in r["preference"]]'; }
check "keys of one user lie together" test "$(holders user:7/a)" = "$(holders user:7/b)"
check "keys of several rules are written, and read in one datagram" client python3 - <<'PY'
from kvclient import Client
c = Client("10.1.0.100")
for key in ("user:7/a", "user:vip:1", "bank:1", "other"):
    c.expect("set %s 0 0 1\r\nx\r\n" % key, "STORED\r\n")
got = c.messages("get bank:1\r\nmg bank:1 v\r\nmg bank:1 v Pstrong\r\n", 3)
assert got == [b"VALUE bank:1 0 1\r\nx\r\nEND\r\n", b"VA 1\r\nx\r\n", b"VA 1\r\nx\r\n"], got
PY
stored_at() { # NODE KEY
	on "$1" python3 - "$1" "$2" <<'PY'
import sys
from kvclient import Client
assert Client("10.2.0." + sys.argv[1][1:]).ask("get %s\r\n" % sys.argv[2]).startswith(b"VALUE")
PY
}
check "on the node that route names" stored_at "$(first user:7/a)" user:7/a

# ---- consistency ----
reads() { # KEY TOKEN...: of 60 reads, how many find what was just written to one holder
	client python3 - "$@" <<'PY'
import sys
from kvclient import Client
c = Client("10.1.0.100")
key, extra = sys.argv[1], " ".join(sys.argv[2:])
c.expect("set %s 0 0 1\r\nx\r\n" % key, "STORED\r\n")
print(sum(c.ask("mg %s v %s\r\n" % (key, extra)).startswith(b"VA") for _ in range(60)))
PY
}
check "strong reads see the write" test "$(reads bank:2)" = 60
n=$(reads plain)
check "eventual ones ask any holder ($n of 60 hits)" test "$n" -lt 50 -a "$n" -gt 5
check "the token Pstrong overrides" test "$(reads plain2 Pstrong)" = 60
n=$(reads bank:3 Peventual)
check "and so does Peventual ($n of 60 hits)" test "$n" -lt 50
check "a token that says nothing is ignored" test "$(reads bank:4 Pwhatever Lmuch)" = 60
check "and counted" test "$(counter policy.hints_ignored)" = 120

node=$(first bank:5)
echo recovering >"$RUN/state${node#n}"
recovers() { [ "$(reason bank:5 "$node")" = "recovering: takes no writes and no strong reads" ]; }
check "a recovering node is named" wait_until 10 recovers
check "strong reads and writes meet elsewhere" test "$(reads bank:5)" = 60
writes_told() {
	[ "$(ctl route bank:5 --json | field '[(c["takes_writes"], c["write_reason"]) for c in r["candidates"] if c["id"] == "'"$node"'"][0] == (False, "recovering") and r["write_choice"] not in (None, "'"$node"'")')" = True ]
}
check "route says that it takes no writes, why, and who does" wait_until 5 writes_told
echo version_lag=500 >"$RUN/state${node#n}"
lags() { [ "$(reason bank:5 "$node")" = "lags by more versions than allowed" ]; }
check "a node that lags too far is named" wait_until 10 lags
requests_of() { ctl nodes --json | field "[n['requests'] for n in r['nodes'] if n['id'] == '$1'][0]"; }
before=$(requests_of "$node")
check "reads and writes meet elsewhere" test "$(reads bank:5)" = 60
reads_a_hundred() { # KEY
	client python3 - "$1" <<'PY'
import sys
from kvclient import Client
c = Client("10.1.0.100")
for _ in range(100):
    assert c.ask("mg %s v Peventual\r\n" % sys.argv[1]) is not None
PY
}
check "a hundred eventual reads, too" reads_a_hundred bank:5
check "none of it came to that node" test "$(requests_of "$node")" = "$before"
for i in $(seq "$NODES"); do echo version_lag=500 >"$RUN/state$i"; done
all_lag() { reads_a_hundred bank:5 && [ "$(counter policy.lag_open)" -gt 0 ]; }
check "when all lag, they are asked all the same" wait_until 10 all_lag
rm "$RUN"/state*
fresh() { [ "$(route bank:5 'all(c["reason"] is None for c in r["candidates"])')" = True ]; }
for i in $(seq "$NODES"); do echo version_lag=0 >"$RUN/state$i"; done
check "and it passes" wait_until 10 fresh

# ---- tenants ----
over() { # of 20 requests in each protocol at once, how many are over quota: text and meta, binary
	client python3 - <<'PY'
from kvclient import Client
import struct
c = Client("10.1.0.100")
key = b"free:1"
binary = struct.pack(">BBHBBHIIQ", 0x80, 0, len(key), 0, 0, 0, len(key), 7, 0) + key
got = c.ask_all(["get free:1\r\n", "mg free:1 v\r\n", binary] * 20)
assert None not in got, got
print(sum(g == b"SERVER_ERROR over quota\r\n" for g in got),
      sum(g[:1] == b"\x81" and g[7] == 0x85 for g in got))
PY
}
read -r text binary <<<"$(over)"
check "over quota is an error in each protocol ($text, $binary)" test "$text" -ge 20 -a "$binary" -ge 10
check "and counted" test "$(tenant free over_rate)" -ge 30
check "those within it are, too" test "$(tenant free requests)" -ge 10
check "another tenant has its own" test "$(tenant gold over_rate)" = 0
share() { # 18 writes to one node, of a tenant that has 20 a second, 10 of them for each node
	client python3 - <<'PY'
from kvclient import Client
c = Client("10.1.0.100")
got = c.ask_all(["set free:one 0 0 1\r\nx\r\n"] * 18)
print(sum(g == b"STORED\r\n" for g in got))
PY
}
over_share() { share >/dev/null && [ "$(tenant free over_share)" -ge 1 ]; }
check "no node gets more than its share of a second" wait_until 10 over_share

# ---- bounds ----
sed -i 's/    max_version_lag: 100/    max_in_flight: 3/' "$CONFIG"
ctl reload >/dev/null
bounded() { # of 10 writes at once to a node that does not answer, how many are refused
	client python3 - <<'PY'
from kvclient import Client
c = Client("10.1.0.100")
got = c.ask_all(["set bounded 0 0 1\r\nx\r\n"] * 10, 0.2)
print(sum(g is not None and g.startswith(b"SERVER_ERROR busy") for g in got))
PY
}
node=$(first bounded)
kill -STOP "${PIDS[$node]}"
n=$(bounded)
kill -CONT "${PIDS[$node]}"
check "a node with three in flight gets no fourth ($n of 10 refused)" test "$n" = 7
check "they are counted" test "$(counter policy.shed)" = 7
check "the node is back" wait_until 20 eligible_is "$NODES"
check "and serves" test "$(reads bank:9)" = 60
check "in + created = out + absorbed + drops + held" conserved

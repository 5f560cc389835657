#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What the newest configuration does not confirm (SPEC 5.3): a node whose entry is bad stays as it
# was, marked and lowered, and no key moves; a topology whose reload failed grows stale, which flattens
# the weights and marks decisions; a good reload ends both.
. "$(dirname "$0")/_init.sh"
NODES=4
FRESH_MS=5000
hosts_start
nodes_start
config_write
sed -i "s/^health:/health:\n  topology_fresh_ms: $FRESH_MS/; s/mode: dsr}/mode: dsr, keyless: round_robin}/" "$CONFIG"
echo 'http: {address: 10.2.0.254, port: 8080}' >>"$CONFIG"
router_start
router_ready
cp "$CONFIG" "$RUN/plain.yaml"
cp "$RUN/nodes.yaml" "$RUN/nodes-good.yaml"

placement() { ctl services --json | field '(r["revision"], [s["digest"] for s in r["services"]])'; }
placement_is() { [ "$(placement)" = "$1" ]; }
unconfirmed() { ctl nodes --json | field '[n["id"] for n in r["nodes"] if n["unconfirmed"]]'; }
alarms() { ctl status --json | field "len([a for a in r['alarms'] if '$1' in a])"; }
stale() { ctl status --json | field '(r["topology_stale"], len([a for a in r["alarms"] if "topology is stale" in a]))'; }
stale_is() { [ "$(stale)" = "$1" ]; }
metric() { on n1 curl -s -m 5 http://10.2.0.254:8080/metrics | awk -v name="$1" '$1 == name { print $2 }'; }
decision() { on n1 curl -s -m 5 "http://10.2.0.254:8080/v1/route?key=$1&service=cache" | field "$2"; }
# The weight of reads at n3 is what its score is worth at so many times the temperature.
weight_follows() {
	ctl scores --json | python3 -c '
import json, math, sys
of = {n["id"]: n["read"] for n in json.load(sys.stdin)["nodes"]}
best = max(n["score"] for n in of.values())
wanted = 65535 * math.exp((of["n3"]["score"] - best) / (0.2 * float(sys.argv[1])))
print(of["n3"], round(wanted))
sys.exit(abs(of["n3"]["weight"] - wanted) > 0.01 * wanted)' "$1"
}
term() { ctl scores --json | field '["unconfirmed" in n["read"]["terms"] for n in r["nodes"] if n["id"] == "n3"][0]'; }
term_is() { [ "$(term)" = "$1" ]; }
nodes_break() { # ENTRY: n3's in place of the good one
	sed "s/^.*id: n3,.*/$1/" "$RUN/nodes-good.yaml" >"$RUN/n" && mv "$RUN/n" "$RUN/nodes.yaml"
}
bad='  - {id: n3, address: 10.2.0.3, port: 70000, host: h9, weight: 1}'

before=$(placement)
python3 -m routes "$SOCKET" 200 >"$RUN/owners"
key=$(python3 -c 'import json,sys; print(next(k for k, n in json.load(open(sys.argv[1])).items() if n == "n3"))' "$RUN/owners")
check "all is confirmed at first" test "$(unconfirmed) $(stale)" = "[] (False, 0)"
check "decisions say so" test "$(decision "$key" '(r["node"], r["topology_stale"], r["candidates"][0]["unconfirmed"])')" = "('n3', False, False)"
check "and metrics" test "$(metric kvlane_topology_stale) $(metric 'kvlane_node_unconfirmed{node="n3",pool="default",zone="z3"}')" = "0 0"

# One node's entry is bad: it stays.
nodes_break "$bad\n  - {id: new, address: 10.2.0.66, port: 70000}"
ctl reload >"$RUN/out" 2>&1 || fail "two bad nodes refused the whole"
cat "$RUN/out"
check "a bad node that was in force keeps its former definition" grep -q 'nodes\[2\].port: 70000: must be 1..65535; node n3 keeps its former definition$' "$RUN/out"
check "one that was not is left out" grep -q 'nodes\[3\].port: 70000: must be 1..65535; node new is left out$' "$RUN/out"
check "placements are what they were" placement_is "$before"
check "no key has another node" test "$(python3 -m routes "$SOCKET" 200)" = "$(cat "$RUN/owners")"
check "it is marked" test "$(unconfirmed)" = "['n3']"
check "to people, too" test "$(ctl nodes | grep -c 'n3 .*healthy, unconfirmed')" = 1
check "both are alarms" test "$(alarms 'left out') $(alarms 'keep their former definition')" = "1 1"
check "its score is lowered by name" wait_until 5 term_is True
check "by 15 of 100" test "$(ctl scores --json | field '[round(n["read"]["terms"]["unconfirmed"] / (n["read"]["score"] * 100), 4) for n in r["nodes"] if n["id"] == "n3"][0]')" = "$(python3 -c 'print(round(-0.15 / 0.85, 4))')"
check "scores mark it" test "$(ctl scores | grep -c 'n3 .*healthy, unconfirmed')" -ge 1
check "and its weight follows" wait_until 5 weight_follows 1
check "decisions mark it" test "$(decision "$key" '(r["node"], r["topology_stale"], r["candidates"][0]["unconfirmed"])')" = "('n3', False, True)"
check "the CLI's, too" test "$(ctl route "$key" --service cache | grep -c 'n3 .*healthy, unconfirmed')" = 1
check "and those without a key" test "$(ctl route --command version --service direct | grep -c 'n3 .*yes, unconfirmed')" = 1
check "and a metric" test "$(metric 'kvlane_node_unconfirmed{node="n3",pool="default",zone="z3"}')" = 1
check "its keys are served" client python3 - "$VIP" "$key" <<'PY'
import sys
from kvclient import Client
c = Client(sys.argv[1])
assert c.ask("set %s 0 0 3\r\nold\r\n" % sys.argv[2]) == b"STORED\r\n"
assert c.ask("get %s\r\n" % sys.argv[2]) == ("VALUE %s 0 3\r\nold\r\nEND\r\n" % sys.argv[2]).encode()
PY
check "by it" on n3 python3 -c '
import sys
from kvclient import Client
assert Client("10.2.0.3").ask("mg %s v\r\n" % sys.argv[1]) == b"VA 3\r\nold\r\n"' "$key"

# A weight that is set lies over the former definition, and what the file said is remembered.
check "a weight can be set" ctl set --node n3 weight=50
check "a reload keeps it" ctl reload
weight() { ctl nodes --json | field '[(n["weight"], n["unconfirmed"]) for n in r["nodes"] if n["id"] == "n3"][0]'; }
check "and the mark" test "$(weight)" = "(50, True)"
check "it can be unset" ctl unset --node n3
check "back to the last good file's" test "$(weight)" = "(100, True)"
digests() { ctl services --json | field '[s["digest"] for s in r["services"]]'; }
check "with the placement of before" test "$(digests)" = "$(python3 -c "print(($before)[1])")"

start load client "$KVLOAD" -p -t 8 -r 2000 -k 400 $VIP 11211

# The whole is bad, by a signal: trusted for a while, then stale by time alone.
check "a reload that is good as a whole confirms" ctl reload
printf '\tnonsense: [' >>"$CONFIG"
kill -HUP "${PIDS[router]}"
refused() { grep -q 'not reloaded' "$LOG"; }
check "a bad file is refused" wait_until 5 refused
check "what is in force is trusted for a while" stale_is "(False, 0)"
check "then it is stale" wait_until 15 stale_is "(True, 1)"
check "the alarm tells since when and why" test "$(ctl status | grep -cE '^ALARM: the topology is stale since 20.*Z: the newest reload failed, and the last good one was at 20.*Z: ')" = 1
check "decisions are marked" test "$(decision "$key" '(r["node"], r["topology_stale"])')" = "('n3', True)"
check "the CLI's, too" test "$(ctl route "$key" --service cache | grep -c 'revision [0-9]* (stale), N = 1')" = 1
check "and those without a key" test "$(ctl route --command version --service direct --json | field 'r["topology_stale"]')" = True
check "and a metric" test "$(metric kvlane_topology_stale)" = 1
check "the log says so" test "$(grep -c 'the topology is stale' "$LOG")" = 1
check "weights are those of twice the temperature" wait_until 5 weight_follows 2
check "n3 is what it was" test "$(unconfirmed)" = "['n3']"
ctl reload >/dev/null 2>&1 && fail "a bad file was accepted"
check "another failure changes nothing" stale_is "(True, 1)"
mv "$CONFIG" "$RUN/away"
ctl reload >/dev/null 2>&1 && fail "no file was accepted"
check "nor does a missing file" stale_is "(True, 1)"

# A good file ends all of it at once.
cp "$RUN/plain.yaml" "$CONFIG"
cp "$RUN/nodes-good.yaml" "$RUN/nodes.yaml"
check "a good file is taken" ctl reload
check "the topology is confirmed" stale_is "(False, 0)"
check "n3, too" test "$(unconfirmed) $(alarms 'former definition')" = "[] 0"
check "so say decisions" test "$(decision "$key" '(r["node"], r["topology_stale"], r["candidates"][0]["unconfirmed"])')" = "('n3', False, False)"
check "and metrics" test "$(metric kvlane_topology_stale) $(metric 'kvlane_node_unconfirmed{node="n3",pool="default",zone="z3"}')" = "0 0"
check "the score recovers" wait_until 5 term_is False
check "and the weight" wait_until 5 weight_follows 1
check "placements are what they were" test "$(digests)" = "$(python3 -c "print(($before)[1])")"

wait "${PIDS[load]}" && unset "PIDS[load]"
cat "$RUN/load.log"
check "no request was lost, none answered wrongly, none missed" \
	test "$(field '(r["sent"] - r["answered"], r["wrong"], r["errors"], r["misses"])' <"$RUN/load.log")" = "(0, 0, 0, 0)"

# A former definition must go with the new file; and a node that is not named goes as ever.
nodes_break "  - {id: n3, address: 10.2.0.3, port: 0}\n  - {id: n9, address: 10.2.0.3, host: h3}"
check "its address is another node's now" ctl reload
check "n3 goes" test "$(ctl nodes --json | field '[n["id"] for n in r["nodes"]]')" = "['n1', 'n2', 'n4', 'n9']"
cp "$RUN/nodes-good.yaml" "$RUN/nodes.yaml"
check "n3 comes back" ctl reload
nodes_break "$bad"
check "it is unconfirmed once more" ctl reload
topology_write 1 2 4
check "the file names it no longer" ctl reload
check "it is gone" test "$(ctl nodes --json | field '[n["id"] for n in r["nodes"]]') $(unconfirmed)" = "['n1', 'n2', 'n4'] []"
check "in = out + drops + held" wait_until 5 conserved

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Reloads under load: nothing is lost, nothing goes to a wrong node, a bad file changes nothing.
. "$(dirname "$0")/_init.sh"
world_start
revision() { ctl status --json | field 'r["revision"]'; }
requests_pass() { [ "$(ctl stats --json | field "r['requests'] > $1")" = True ]; }
workers_run() { [ "$(ctl status --json | field 'all(w["revision"] == r["revision"] for w in r["workers"])')" = True ]; }

start load client "$KVLOAD" -p -t 12 -r 3000 -k 600 $VIP 11211
wait_until 10 requests_pass 3000 || fail "no load"

# Twenty revisions that leave the cache service's nodes alone: another service comes and goes.
cp "$CONFIG" "$RUN/plain.yaml"
sed 's|^topology:|  - {name: extra, address: 10.1.0.1, port: 11999, placement: modulo}\ntopology:|' \
	"$CONFIG" >"$RUN/extra.yaml"
for i in $(seq 10); do
	cp "$RUN/extra.yaml" "$CONFIG"
	ctl reload >/dev/null || fail "reload $i with the extra service"
	cp "$RUN/plain.yaml" "$CONFIG"
	ctl reload >/dev/null || fail "reload $i without it"
done
check "each reload is a revision" test "$(revision)" = 21
check "all workers run the newest" wait_until 5 workers_run
check "reloading the same file changes nothing" test "$(ctl reload --json | field '(r["changed"], r["revision"])')" = "(False, 21)"

refused() { # WHAT PATTERN: reloads what stands in $CONFIG
	ctl reload >"$RUN/out" 2>&1 && fail "$1: accepted"
	check "$1: says where" grep -qE "$2" "$RUN/out"
	check "$1: the old revision stays" test "$(revision)" = 21
	cp "$RUN/plain.yaml" "$CONFIG"
}
sed -i 's/mode: nat/mode: gnat/' "$CONFIG"
refused "a wrong mode" 'kvlane.yaml:[0-9]+:[0-9]+: services\[0\].mode: gnat: '
printf '\tnonsense: [' >>"$CONFIG"
refused "broken YAML" 'kvlane.yaml:[0-9]+:[0-9]+: '
mv "$CONFIG" "$RUN/away"
refused "no file" 'kvlane.yaml: '

# One bad node is left out by name; the others, and the rest of the file, go on.
sed 's/^nodes:/nodes:\n  - {id: bad, address: 10.2.0.66, port: 70000}/' "$RUN/nodes.yaml" >"$RUN/n" && mv "$RUN/n" "$RUN/nodes.yaml"
ctl reload >"$RUN/out" 2>&1 || fail "one bad node refused the whole"
check "a bad node is named" grep -q 'nodes.yaml:2:.* nodes\[0\].port: 70000: must be 1..65535' "$RUN/out"
topology_write 1 2 3 4 5 6

# What a reload cannot change is said.
sed 's/^router:/router:\n  cores: "0,1"/' "$RUN/plain.yaml" >"$CONFIG"
ctl reload >"$RUN/out" 2>&1 || fail "cores refused the whole"
check "a changed router: takes a restart" grep -q 'router: changed, which takes a restart' "$RUN/out"
cp "$RUN/plain.yaml" "$CONFIG"
ctl reload >/dev/null

wait "${PIDS[load]}" && unset "PIDS[load]"
cat "$RUN/load.log"
check "no request was lost, none answered wrongly, none missed" \
	test "$(field '(r["sent"] - r["answered"], r["wrong"], r["errors"], r["misses"])' <"$RUN/load.log")" = "(0, 0, 0, 0)"

# Each key is on the node that `route` names, and on no other: nothing was sent astray.
python3 - "$SOCKET" "$P" <<'PY'
import json, subprocess, sys
from routes import routes
owner = routes(sys.argv[1], 600)
ask = """
import json, sys
from kvclient import Client
c = Client("10.2.0.%s" % sys.argv[1])
print(json.dumps([k for k in ("key:%08d" % i for i in range(600)) if c.ask("mg %s\\r\\n" % k) == b"HD\\r\\n"]))
"""
for n in range(1, 7):
    has = json.loads(subprocess.check_output(
        ["ip", "netns", "exec", "%s-n%d" % (sys.argv[2], n), "python3", "-c", ask, str(n)]))
    wanted = [k for k in owner if owner[k] == "n%d" % n]
    assert has == wanted, (n, sorted(set(has) ^ set(wanted))[:5])
print("ok: all 600 keys are on their own node and nowhere else")
PY

# What a change would move is told beforehand, and told right.
head -n -1 "$RUN/nodes.yaml" >"$RUN/five.yaml"
sed "s|nodes.yaml|five.yaml|" "$CONFIG" >"$RUN/five-nodes.yaml"
check "ring diff foretells a sixth, and nothing between nodes that stay" \
	test "$(ctl ring diff "$RUN/five-nodes.yaml" --json | field \
		'[(0.10 < d["moved"] < 0.24, d["moved_between_staying"], d["nodes_after"]) for d in r]')" = "[(True, 0.0, 5), (True, 0.0, 5)]"
check "ring diff of the running configuration: nothing" \
	test "$(ctl ring diff "$CONFIG" --json | field '[d["moved"] for d in r]')" = "[0.0, 0.0]"

# Removing a node moves its keys only; adding it again gives it its old number and keys.
number() { ctl nodes --json | field '[n["number"] for n in r["nodes"] if n["id"] == "n6"]'; }
before=$(number)
start load2 client "$KVLOAD" -f -t 3 -r 2000 -k 600 $VIP 11211
wait_until 10 requests_pass 40000 || true
topology_write 1 2 3 4 5
ctl reload >/dev/null
check "five nodes are left" wait_until 5 eligible_is 5
topology_write 1 2 3 4 5 6
ctl reload >/dev/null
check "six again" wait_until 5 eligible_is 6
check "with the same number" test "$(number)" = "$before"
wait "${PIDS[load2]}" && unset "PIDS[load2]"
cat "$RUN/load2.log"
check "no request was lost on the way" \
	test "$(field '(r["sent"] - r["answered"], r["wrong"], r["errors"])' <"$RUN/load2.log")" = "(0, 0, 0)"
check "in = out + drops + held" conserved

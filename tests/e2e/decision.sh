#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Reads of a replicated service choose among the holders by what is known of them. Two services share
# the same six nodes and keys in one run: "static" (N = 1: each key's first node) and "scored" (N = 3).
# What is asserted is how the second does against the first: shares, success, latency. Agents report from
# all of the nodes.
. "$(dirname "$0")/_init.sh"
STATIC_VIP=10.1.0.102
KEYS=400 RATE=1500
hosts_start
on router ip addr add $STATIC_VIP/32 dev front
nodes_start
config_write
# One pool, same placement; only N differs.
sed -i "s|^services:.*|services:\n  - {name: scored, address: 10.1.0.103, port: 11211, replication: 3, timeout_ms: 200}\n  - {name: static, address: $STATIC_VIP, port: 11211, timeout_ms: 200}|; /name: cache/d; /name: direct/d" "$CONFIG"
on router ip addr add 10.1.0.103/32 dev front
echo 0123456789abcdef-secret >"$RUN/secret"
cat >>"$CONFIG" <<EOF
reports:
  address: 10.2.0.254
  interval_ms: 1000
  keys: [{id: 1, secret: $(cat "$RUN/secret")}]
EOF
router_start
router_ready
for i in $(seq 6); do
	start "agent$i" "n$i" "$BUILD/ctrl/kvlane-agent" --node "n$i" --router 10.2.0.254 --interval 1000 \
		--key "1:$RUN/secret" --memcached "10.2.0.$i" --interface eth0
done
all_report() { [ "$(ctl scores --json | field 'all(n["report_age_ms"] is not None for n in r["nodes"])')" = True ]; }
check "agents report from every node" wait_until 20 all_report

# All keys on all nodes: the router does not replicate writes yet.
for i in $(seq 6); do
	on "n$i" "$KVLOAD" -p -t 0.01 -r 1 -k $KEYS "10.2.0.$i" 11211 >/dev/null
done

load() { # NAME VIP SECONDS: gets only; waits for each reply up to 300 ms
	start "$1" client "$KVLOAD" -t "$3" -r $RATE -s 0 -k $KEYS -T 300 "$2" 11211
}
result() { # NAME FIELD-EXPRESSION
	field "$2" <"$RUN/$1.log"
}
both() { # SUFFIX SECONDS: both services at once
	counts "before$1"
	load "static$1" $STATIC_VIP "$2"
	load "scored$1" 10.1.0.103 "$2"
}
finish() { # SUFFIX: both
	local name
	for name in "static$1" "scored$1"; do
		wait "${PIDS[$name]}" && unset "PIDS[$name]"
		echo "$name: $(cat "$RUN/$name.log")"
	done
	counts "after$1"
}
compare() { # SUFFIX EXPRESSION over s (static) and r (scored)
	python3 -c "
import json
s, r = (json.load(open('$RUN/%s$1.log' % n)) for n in ('static', 'scored'))
raise SystemExit(not ($2))"
}
# Which part of the keys is each node's own: what static sends there.
python3 - "$SOCKET" $KEYS >"$RUN/owned" <<'PY'
import json, socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
f, keys, owned = s.makefile("rb"), int(sys.argv[2]), {}
for k in range(keys):
    s.sendall(json.dumps({"v": 1, "id": k, "method": "route", "params": {"key": "key%d" % k, "service": "static"}}).encode() + b"\n")
    node = json.loads(f.readline())["result"]["choice"]
    owned[node] = owned.get(node, 0) + 1 / keys
json.dump(owned, sys.stdout)
PY
counts() { # NAME: what every node has been asked so far
	ctl nodes --json >"$RUN/$1"
}
# The node's part of what scored sent between two counts; the rest of it was static's.
share() { # NODE SUFFIX
	python3 - "$RUN" "$1" "$2" <<'PY'
import json, sys
run, node, suffix = sys.argv[1:]
asked = [next(n["requests"] for n in json.load(open(run + "/" + w + suffix))["nodes"] if n["id"] == node) for w in ("before", "after")]
sent = {n: json.load(open("%s/%s%s.log" % (run, n, suffix)))["sent"] for n in ("static", "scored")}
print((asked[1] - asked[0] - json.load(open(run + "/owned")).get(node, 0) * sent["static"]) / sent["scored"])
PY
}
share_is() { # NODE SUFFIX EXPRESSION over now and calm
	python3 -c "
now, calm = $(share "$1" "$2"), $(share "$1" -calm)
print('$1: %.3f of the scored reads, %.3f when calm' % (now, calm))
raise SystemExit(not ($3))"
}

both -calm 4
finish -calm
check "calm: all answered, none wrong" compare -calm \
	'r["answered"] == r["sent"] > 5000 and s["answered"] == s["sent"] and r["wrong"] + s["wrong"] + r["misses"] + s["misses"] == 0'
for i in $(seq 6); do
	check "calm: n$i is read from" share_is "n$i" -calm 'now > 0.03'
done

# A slow node: stopped for 20 ms in each 100.
(
	while kill -STOP "${PIDS[n3]}" 2>/dev/null; do
		sleep 0.02
		kill -CONT "${PIDS[n3]}" 2>/dev/null
		sleep 0.08
	done
) &
PIDS[pulse]=$!
both -slow 8
# For a key of n3's, over two seconds of pulses, since the figures are the moment's.
route_explains() {
	python3 - "$SOCKET" $KEYS <<'PY'
import json, socket, sys, time
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
f = s.makefile("rb")
def route(key):
    s.sendall(json.dumps({"v": 1, "id": 1, "method": "route", "params": {"key": key, "service": "scored"}}).encode() + b"\n")
    return json.loads(f.readline())["result"]["candidates"]
key = next("key%d" % k for k in range(int(sys.argv[2]))
           if any(c["id"] == "n3" and c["preferred"] for c in route("key%d" % k)))
end, seen = time.monotonic() + 2, []
while time.monotonic() < end:
    drawn = [c for c in route(key) if c["preferred"]]
    assert abs(sum(c["probability"] for c in drawn) - 1) < 1e-9, drawn
    assert all(c["latency_us"] >= 250 for c in drawn), drawn
    seen.append([(c["id"], c["in_flight"], c["latency_us"], c["probability"]) for c in drawn])
slow = [c for row in seen for c in row if c[0] == "n3"]
others = [c for row in seen for c in row if c[0] != "n3"]
mean = lambda list, i: sum(c[i] for c in list) / len(list)
print("%d answers: n3 %.0f us, probability %.3f; the others %.0f us, %.3f" % (
    len(seen), mean(slow, 2), mean(slow, 3), mean(others, 2), mean(others, 3)))
raise SystemExit(not (mean(slow, 2) > 2 * mean(others, 2) and mean(slow, 3) < 0.5 * mean(others, 3)))
PY
}
check "slow: route says why the node is passed over" route_explains
finish -slow
kill "${PIDS[pulse]}" && wait "${PIDS[pulse]}" 2>/dev/null || true
unset "PIDS[pulse]"
kill -CONT "${PIDS[n3]}"
check "slow: all answered all the same" compare -slow 'r["answered"] == r["sent"] and s["answered"] == s["sent"]'
check "slow: the tail is shorter than with static routing" compare -slow 'r["p99_us"] < s["p99_us"] * 0.75'
check "slow: the node has less of the reads" share_is n3 -slow 'now < 0.7 * calm'
check "slow is not down: the node stayed in" eligible_is 6

# A dead node: static waits for the timeouts until it is out; scored has other holders at once.
both -dead 8
requests_pass() { [ "$(ctl stats --json | field "r['requests'] > $1")" = True ]; }
wait_until 10 requests_pass $(($(ctl stats --json | field 'r["requests"]') + RATE)) || fail "no load"
stop n5 KILL
finish -dead
check "dead: out of the candidates" eligible_is 5
check "dead: fewer requests were lost than with static routing" \
	compare -dead 'r["timeouts"] <= s["timeouts"] and r["answered"] >= 0.99 * r["sent"]'
# ICMP ends what is in flight to it in either case, so the two tails are alike but for noise.
check "dead: the tail is not longer than with static routing" compare -dead 'r["p99_us"] <= 1.25 * s["p99_us"]'
check "dead: no reply was wrong" compare -dead 'r["wrong"] + s["wrong"] == 0'
node_start 5
on n5 "$KVLOAD" -p -t 0.01 -r 1 -k $KEYS 10.2.0.5 11211 >/dev/null
check "it comes back" wait_until 20 eligible_is 6
whole() { [ "$(ctl scores --json | field '[n["share"] for n in r["nodes"] if n["id"] == "n5"]')" = "[1.0]" ]; }
check "by steps, up to its whole weight" wait_until 60 whole
both -back 4
finish -back
check "back: all answered, none wrong" compare -back \
	'r["answered"] == r["sent"] and s["answered"] == s["sent"] and r["wrong"] + s["wrong"] == 0'
check "back: it is read again, not by chance alone" share_is n5 -back 'now > 0.3 * calm'

# False health: a node that rejects is the fastest of all, and must lose its reads all the same.
stop n2
echo ok >"$RUN/fault"
start fault n2 python3 "$ROOT/tests/e2e/faultnode.py" 10.2.0.2 11211 "$RUN/fault"
check "the fault node is in" wait_until 20 eligible_is 6
echo reject >"$RUN/fault"
both -reject 8
says_why() {
	[ "$(ctl scores --json | field '["rejects" in n["read"]["terms"] or n["state"] == "cooldown" for n in r["nodes"] if n["id"] == "n2"][0]')" = True ]
}
check "reject: its score says why" wait_until 8 says_why
finish -reject
check "reject: under a twentieth of the reads were spent on it" \
	test "$(result scored-reject 'r["errors"] < r["sent"] / 20')" = True
check "reject: fewer errors than with static routing, and none wrong" \
	compare -reject 'r["errors"] < 0.5 * s["errors"] and r["wrong"] + s["wrong"] == 0'
check "reject: nothing else was lost, and the tail is no longer" \
	compare -reject 'r["answered"] >= 0.999 * r["sent"] and r["p99_us"] <= 1.5 * s["p99_us"]'
ctl scores
check "in = out + drops + held" conserved

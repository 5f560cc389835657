#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Reads of a replicated service choose among the holders by what is known of them. Two services share
# the same six nodes and keys in one run: "static" (N = 1: each key's first node) and "scored" (N = 3).
# What is asserted is how the second does against the first.
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
router_start
router_ready

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
	load "static$1" $STATIC_VIP "$2"
	load "scored$1" 10.1.0.103 "$2"
}
finish() {
	wait "${PIDS[$1]}" && unset "PIDS[$1]"
	echo "$1: $(cat "$RUN/$1.log")"
}
compare() { # SUFFIX EXPRESSION over s (static) and r (scored)
	python3 -c "
import json
s, r = (json.load(open('$RUN/%s$1.log' % n)) for n in ('static', 'scored'))
raise SystemExit(not ($2))"
}
requests_of() { # NODE
	ctl nodes --json | field '[n["requests"] for n in r["nodes"] if n["id"] == "'"$1"'"][0]'
}

both -calm 4
finish static-calm
finish scored-calm
check "calm: all answered, none wrong" compare -calm \
	'r["answered"] == r["sent"] > 5000 and s["answered"] == s["sent"] and r["wrong"] + s["wrong"] + r["misses"] + s["misses"] == 0'
check "calm: every node has its share of the reads" \
	test "$(ctl nodes --json | field 'min(n["share"] for n in r["nodes"]) > 0.02')" = True

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
finish static-slow
finish scored-slow
kill "${PIDS[pulse]}" && wait "${PIDS[pulse]}" 2>/dev/null || true
unset "PIDS[pulse]"
kill -CONT "${PIDS[n3]}"
check "slow: all answered all the same" compare -slow 'r["answered"] == r["sent"] and s["answered"] == s["sent"]'
check "slow: the tail is shorter than with static routing" compare -slow 'r["p99_us"] < s["p99_us"] * 0.75'
check "slow is not down: the node stayed in" eligible_is 6

# A dead node: static waits for the timeouts until it is out; scored has other holders at once.
both -dead 8
requests_pass() { [ "$(ctl stats --json | field "r['requests'] > $1")" = True ]; }
wait_until 10 requests_pass $(($(ctl stats --json | field 'r["requests"]') + RATE)) || fail "no load"
stop n5 KILL
finish static-dead
finish scored-dead
check "dead: out of the candidates" eligible_is 5
check "dead: fewer requests were lost than with static routing" \
	compare -dead 'r["timeouts"] <= s["timeouts"] and r["answered"] >= 0.99 * r["sent"]'
check "dead: no reply was wrong" compare -dead 'r["wrong"] + s["wrong"] == 0'
node_start 5
on n5 "$KVLOAD" -p -t 0.01 -r 1 -k $KEYS 10.2.0.5 11211 >/dev/null
check "it comes back" wait_until 20 eligible_is 6

# False health: a node that rejects is the fastest of all, and must lose its reads all the same.
stop n2
echo ok >"$RUN/fault"
start fault n2 python3 "$ROOT/tests/e2e/faultnode.py" 10.2.0.2 11211 "$RUN/fault"
check "the fault node is in" wait_until 20 eligible_is 6
echo reject >"$RUN/fault"
load scored-reject 10.1.0.103 8
says_why() {
	[ "$(ctl scores --json | field '["rejects" in n["read"]["terms"] or n["state"] == "cooldown" for n in r["nodes"] if n["id"] == "n2"][0]')" = True ]
}
check "reject: its score says why" wait_until 8 says_why
finish scored-reject
check "reject: under a twentieth of the reads were spent on it" \
	test "$(result scored-reject 'r["errors"] < r["sent"] / 20')" = True
ctl scores
check "in = out + drops + held" conserved

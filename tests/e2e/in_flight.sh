#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A node hangs under load and is not taken out, so that requests go on into it: it has max_in_flight of
# them at once, over both workers, and no more. What is beyond the bound is shed, and counted; the others
# answer as before, though retries come to them. Then one node of each zone hangs, so that retries find
# the next holders at their bound as well.
DEVICE=packet WORKERS=2 TIMEOUT_MS=200
. "$(dirname "$0")/_init.sh"
KEYS=600 BOUND=16 LOADED=12
hosts_start
nodes_start
config_write
# softmax, since least would not ask the node that has so much outstanding; and neither timeouts nor low
# scores take it out.
sed -i "/name: direct/d; s/timeout_ms: $TIMEOUT_MS}/timeout_ms: $TIMEOUT_MS, replication: 3, retries: 2, max_in_flight: $BOUND, scoring: {choice: softmax, low_score: 0}}/; s/^health:/health:\n  timeouts_to_down: 1000000/" "$CONFIG"
router_start
router_ready
for i in $(seq "$NODES"); do
	on "n$i" "$KVLOAD" -p -t 0.01 -r 1 -k $KEYS "10.2.0.$i" 11211 >/dev/null
done

requests_pass() { [ "$(ctl stats --json | field "r['requests'] > $1")" = True ]; }
shed_passes() { [ "$(ctl stats --json | field "r['policy']['shed'] > $1")" = True ]; }
# Reads and writes of their own, from as many flows as reach both workers.
for i in 1 2 3 4; do
	start "reads$i" client "$KVLOAD" -S $i -s 0 -t $LOADED -r 500 -k $KEYS -T 1000 $VIP 11211
	start "writes$i" client "$KVLOAD" -S $i -s 100 -t $LOADED -r 250 -k $KEYS -T 1000 $VIP 11211
done
wait_until 20 requests_pass 3000 || fail "no load"
check "with all nodes well nothing is shed" test "$(ctl stats --json | field 'r["policy"]["shed"]')" = 0
kill -STOP "${PIDS[n4]}"
check "the bound is met, and what is beyond it shed" wait_until 5 shed_passes 10
end=$((SECONDS + 4))
while [ $SECONDS -lt $end ]; do
	ctl nodes --json >>"$RUN/one"
done
kill -STOP "${PIDS[n5]}" "${PIDS[n6]}"
while kill -0 "${PIDS[writes1]}" 2>/dev/null; do
	ctl nodes --json >>"$RUN/three"
done
for i in 1 2 3 4; do
	wait "${PIDS[reads$i]}" "${PIDS[writes$i]}"
	unset "PIDS[reads$i]" "PIDS[writes$i]"
done
ctl stats --json >"$RUN/stats"
field '(r["policy"], r["retries"], r["timeouts"])' <"$RUN/stats"
cat "$RUN"/reads?.log "$RUN"/writes?.log

python3 - "$RUN" $BOUND <<'PY'
import json, sys
run, bound = sys.argv[1], int(sys.argv[2])


def polled(name):
    looks, text, decoder = [], open(run + "/" + name).read(), json.JSONDecoder()
    while text:
        one, end = decoder.raw_decode(text)
        looks.append({n["id"]: n for n in one["nodes"]})
        text = text[end:].lstrip()
    most = {id: max(l[id]["in_flight"] for l in looks) for id in looks[0]}
    answered = {id: looks[-1][id]["replies"] - looks[0][id]["replies"] for id in most}
    print("%s: in flight at most, of %d looks: %s; replies meanwhile: %s" % (name, len(looks), most, answered))
    assert len(looks) > 30 and max(most.values()) <= bound, most
    assert all(n["eligible"] for l in looks for n in l.values()), "a node was taken out"
    return most, answered


for name, hang in ("one", {"n4"}), ("three", {"n4", "n5", "n6"}):
    most, answered = polled(name)
    for id in most:
        assert most[id] == bound if id in hang else answered[id] > 500, id
assert answered["n4"] == 0, answered

load = {k: [json.load(open("%s/%s%d.log" % (run, k, i))) for i in (1, 2, 3, 4)] for k in ("reads", "writes")}
total = {k: {what: sum(l[what] for l in loads) for what in ("sent", "answered", "errors", "wrong", "misses")}
         for k, loads in load.items()}
stats = json.load(open(run + "/stats"))
for t in total.values():
    assert t["answered"] == t["sent"] and t["wrong"] + t["misses"] == 0, total
# Each error that a client saw is one that was counted, and under its cause.
errors = total["reads"]["errors"] + total["writes"]["errors"]
assert errors == stats["answered"]["shed"] + stats["answered"]["no_reply"], (errors, stats["answered"])
assert stats["policy"]["shed"] == stats["answered"]["shed"] > 100, stats["policy"]
# With one of each zone gone an eighth of the keys has no other holder, and a half of the writes.
assert total["reads"]["errors"] < 0.125 * total["reads"]["sent"], total
assert total["writes"]["errors"] < 0.5 * total["writes"]["sent"], total
assert stats["policy"]["masked"] > 0, "no read was drawn anew for the bound"
assert stats["retries"]["sent"] > 0, stats["retries"]
assert min(w["requests"] for w in stats["workers"]) > 1000, "one worker only"
PY
echo "ok: never above the bound, all accounted for, the others answered"
kill -CONT "${PIDS[n4]}" "${PIDS[n5]}" "${PIDS[n6]}"
idle() { [ "$(ctl nodes --json | field 'sum(n["in_flight"] for n in r["nodes"])')" = 0 ]; }
check "nothing stays in flight" wait_until 10 idle
check "all nodes are asked again" client "$KVLOAD" -s 0 -t 1 -r 500 -k $KEYS $VIP 11211
check "in = out + drops + held" conserved

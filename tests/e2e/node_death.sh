#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A node is killed under load: its keys go to all others, no other key moves; it comes back.
. "$(dirname "$0")/_init.sh"
TIMEOUT_MS=100
world_start

choices() { # the node of each of 600 keys, as the router tells it
	python3 -m routes "$SOCKET" 600
}

choices >"$RUN/before"
start load client "$KVLOAD" -p -f -t 8 -r 3000 -k 600 -T 300 $VIP 11211
requests_pass() { [ "$(ctl stats --json | field "r['requests'] > $1")" = True ]; }
wait_until 10 requests_pass 3000 || fail "no load"

stop n2 KILL
check "the dead node leaves the candidates" wait_until 5 eligible_is 5
choices >"$RUN/during"
python3 - "$RUN" <<'PY'
import json, sys
from routes import moved
before, during = (json.load(open(sys.argv[1] + "/" + n)) for n in ("before", "during"))
gone = moved(before, during)
assert all(a == "n2" for a, _ in gone), "a key moved that was not the dead node's"
assert len(gone) == list(before.values()).count("n2") > 0
share = len(gone) / len(before)
assert abs(share - 1 / 6) < 1 / 18, share
heirs = {n: sum(1 for _, b in gone if b == n) for n in sorted(set(during.values()))}
assert len(heirs) == 5 and max(heirs.values()) < len(gone) / 2, heirs
print("ok: %d of 600 keys moved (%.3f; 1/6 is ideal), to %s" % (len(gone), share, heirs))
PY
node_start 2
check "the node returns to the candidates" wait_until 10 eligible_is 6
choices >"$RUN/after"
check "every key is where it was" cmp "$RUN/before" "$RUN/after"
wait "${PIDS[load]}" && unset "PIDS[load]"
cat "$RUN/load.log"
check "no reply was wrong" test "$(field 'r["wrong"]' <"$RUN/load.log")" = 0
check "under a twentieth of the requests were lost" \
	test "$(field 'r["timeouts"] < r["sent"] / 20 and r["answered"] + r["timeouts"] == r["sent"]' <"$RUN/load.log")" = True

# All of them: the pool fails open, and says so.
start load client "$KVLOAD" -t 60 -r 300 -k 600 -T 300 $VIP 11211
for i in $(seq 6); do
	stop "n$i" KILL
done
check "a dead fleet has no eligible node" wait_until 20 eligible_is 0
check "and that is an alarm" test "$(ctl status --json | field 'any("no node is eligible" in a for a in r["alarms"])')" = True
check "each node says that it is down, and asked all the same" \
	test "$(ctl nodes --json | field 'all(n["state"] == "down" and "asked all the same" in n["reason"] for n in r["nodes"])')" = True
check "route says so of each candidate" \
	test "$(ctl route key1 --json | field 'all(c["eligible"] and "asked all the same" in c["reason"] for c in r["candidates"])')" = True
for i in $(seq 6); do
	node_start "$i"
done
check "the fleet comes back by itself" wait_until 60 eligible_is 6
stop load
in_flight_is() { [ "$(ctl nodes --json | field 'sum(n["in_flight"] for n in r["nodes"])')" = "$1" ]; }
check "nothing stays in flight" wait_until 5 in_flight_is 0
check "in = out + drops + held" conserved

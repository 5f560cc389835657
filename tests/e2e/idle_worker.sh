#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Two workers, one of them without traffic: that it once had a reply from a node must not hide that
# the node is silent now.
DEVICE=packet WORKERS=2 TIMEOUT_MS=100
. "$(dirname "$0")/_init.sh"
hosts_start
nodes_start
config_write
sed -i "/name: direct/d" "$CONFIG" # nodes of a dsr service are probed all the time
router_start
router_ready

for i in $(seq 8); do
	client "$KVLOAD" -p -t 0.5 -r 200 -k 200 -S "$i" $VIP 11211 >/dev/null
done
check "both workers have had replies" \
	test "$(ctl stats --json | field 'min(w["requests"] for w in r["workers"]) > 50')" = True
# One flow, so one worker, long enough that the other has heard nothing for the time of a request.
before() { ctl stats --json | field '[w["requests"] for w in r["workers"]]'; }
BEFORE=$(before)
start load client "$KVLOAD" -t 12 -r 600 -k 200 -T 300 $VIP 11211
flows() { [ "$(ctl stats --json | field "max(w['requests'] - b for w, b in zip(r['workers'], $BEFORE)) > 600")" = True ]; }
wait_until 10 flows || fail "no load"
check "one worker has all of the traffic" \
	test "$(ctl stats --json | field "min(w['requests'] - b for w, b in zip(r['workers'], $BEFORE))")" = 0
kill -STOP "${PIDS[n2]}"
check "a node that hangs is taken out" wait_until 3 eligible_is 5
kill -CONT "${PIDS[n2]}"
check "and comes back" wait_until 30 eligible_is 6
wait "${PIDS[load]}" && unset "PIDS[load]"
cat "$RUN/load.log"
check "nobody got another's value" test "$(field 'r["wrong"] + r["stray"]' <"$RUN/load.log")" = 0
check "in = out + drops + held" conserved

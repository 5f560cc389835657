#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A node that hangs for 3 s and then answers all at once: the late replies reach nobody else's
# request. The load uses one client address and reuses slots as fast as it can.
. "$(dirname "$0")/_init.sh"
NODES=1 TIMEOUT_MS=250
hosts_start
nodes_start
config_write
# Few slots, nine in ten of them in use while the node hangs, so that any late reply that were
# believed would hit somebody's request; and a node that is never taken out, so that requests go on
# into the hole.
sed -i 's/  max_nodes: 64/  max_nodes: 64\n  pending_slots: 1024/; s/^health:/health:\n  timeouts_to_down: 1000000/' "$CONFIG"
router_start
router_ready

start load client "$KVLOAD" -p -t 8 -r 3600 -k 5000 -T 400 $VIP 11211
requests_pass() { [ "$(ctl stats --json | field "r['requests'] > $1")" = True ]; }
wait_until 20 requests_pass 8000 || fail "no load"
kill -STOP "${PIDS[n1]}"
timeouts_pass() { [ "$(ctl stats --json | field "r['timeouts'] > $1")" = True ]; }
check "requests time out while it hangs" wait_until 5 timeouts_pass 1000
sleep 3 # the length of the stall is what the scenario is about
kill -CONT "${PIDS[n1]}"
late_pass() { [ "$(ctl stats --json | field "r['drops']['reply_late'] > $1")" = True ]; }
check "late replies are recognised and dropped" wait_until 5 late_pass 100
wait "${PIDS[load]}" && unset "PIDS[load]"
cat "$RUN/load.log"
check "no reply reached another request" test "$(field 'r["wrong"]' <"$RUN/load.log")" = 0
check "slots were reused with requests outstanding" \
	test "$(ctl stats --json | field 'r["timeouts"] > 1024')" = True
check "in = out + drops + held" conserved

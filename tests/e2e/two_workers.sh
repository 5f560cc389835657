#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Two workers on two queues a port. The kernel spreads packets by flow, so half of the replies
# arrive at the worker that does not own their slot, and go to it by mailbox.
DEVICE=packet WORKERS=2
. "$(dirname "$0")/_init.sh"
world_start

check "a load from several flows: all answered, none wrong" client bash -c "
	set -e
	for i in 1 2 3 4; do
		$KVLOAD -p -t 4 -r 800 -k 200 -K \$((i * 1000)) $VIP 11211 >$RUN/flow\$i &
	done
	wait"
for i in 1 2 3 4; do
	check "flow $i" test "$(field '(r["sent"] > 2500, r["sent"] - r["answered"], r["wrong"], r["errors"], r["misses"])' <"$RUN/flow$i")" = "(True, 0, 0, 0, 0)"
done
check "both workers took requests" \
	test "$(ctl stats --json | field 'min(w["requests"] for w in r["workers"]) > 100')" = True
check "replies changed hands" test "$(ctl stats --json | field 'r["handed_over"] > 100 and r["handed_over"] == r["taken_over"]')" = True
check "requests as large as a packet" \
	test "$(client "$KVLOAD" -t 2 -r 500 -k 50 -v 1300 -p $VIP 11211 | field '(r["sent"] - r["answered"], r["wrong"], r["errors"])')" = "(0, 0, 0)"

topology_write 1 2 3 4 5
ctl reload >/dev/null
workers_run() { [ "$(ctl status --json | field 'all(w["revision"] == 2 for w in r["workers"])')" = True ]; }
check "both workers run the new revision" wait_until 5 workers_run
check "in = out + drops + held, in sum" conserved

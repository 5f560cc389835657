#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Two workers on two queues a port. The kernel spreads packets by flow, so half of the replies
# arrive at the worker that does not own their slot, and go to it by mailbox.
DEVICE=packet WORKERS=2
. "$(dirname "$0")/_init.sh"
world_start

# Sixteen flows: that chance gives all of them to one queue has odds of 1 in 32768.
check "a load from several flows" client bash -c "
	for i in \$(seq 16); do
		$KVLOAD -p -t 4 -r 200 -k 50 -K \$((i * 1000)) $VIP 11211 >$RUN/flow\$i &
	done
	wait"
python3 - "$RUN" <<'PY'
import json, sys
loads = [json.load(open("%s/flow%d" % (sys.argv[1], i))) for i in range(1, 17)]
total = {k: sum(l[k] for l in loads) for k in loads[0] if not k.startswith("p")}
assert total["sent"] > 10000, total
assert total["sent"] == total["answered"] and not total["wrong"] + total["errors"] + total["misses"], total
print("ok: all %d answered, none wrong" % total["sent"])
PY
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

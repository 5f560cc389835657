#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The main job, watched: a client's requests cross the router to six real memcached nodes; one node
# dies and returns; the router says why a key goes where it goes. Exit status 0 only if all of what
# the summary checks holds. Everything it made is gone at the end, also after Ctrl-C.
. "$(dirname "$0")/../tests/e2e/_init.sh"
KEYS=2000 RATE=3000 TIMEOUT_MS=100
FAILED=0

say() {
	printf '\n\033[1m== %s\033[0m\n' "$*"
}

verdict() { # WHAT COMMAND...
	local what=$1
	shift
	if "$@"; then
		printf '  ok    %s\n' "$what"
	else
		printf '  FAIL  %s\n' "$what"
		FAILED=1
	fi
}

router_try() { # on the present DEVICE; false when kvlaned does not stay
	config_write
	router_start
	wait_until 20 started_or_gone
	[ -e "$SOCKET" ]
}

started_or_gone() {
	[ -S "$SOCKET" ] || ! kill -0 "${PIDS[router]}"
}

table() { # one line a node, of the traffic since the last call
	ctl nodes --json | python3 "$ROOT/demo/table.py" "$RUN/table"
}

watch() { # SECONDS
	local i
	for i in $(seq "$1"); do
		sleep 1 # the table's period, not a condition
		table
	done
}

ping_passes() {
	client ping -q -c 1 -W 2 10.1.0.1 >/dev/null
}

routes() {
	python3 -m routes "$SOCKET" $KEYS
}

say "hosts: a client, the router, six nodes in three zones, one bridge"
hosts_start
nodes_start
on client ip -br addr show c0
on router ip -br addr show front
on router ip -br addr show back
echo "nodes: 10.2.0.1 .. 10.2.0.$NODES, memcached $(memcached -V | awk '{print $2}'), UDP"

say "the router"
if ! router_try; then
	echo "AF_XDP is not to be had here ($(grep error: "$LOG" | tail -n 1)): using af_packet"
	stop router
	DEVICE=packet
	router_try || fail "kvlaned does not start: $(tail -n 3 "$LOG")"
fi
router_ready
ctl status

say "a client: $RATE requests a second, one in ten a set; $KEYS keys"
start load client "$KVLOAD" -p -f -t 24 -r $RATE -k $KEYS -T 250 $VIP 11211
requests_pass() { [ "$(ctl stats --json | field "r['requests'] > $1")" = True ]; }
wait_until 20 requests_pass $((KEYS + RATE)) || fail "no load"
watch 3
routes >"$RUN/before"

say "node n2 dies"
stop n2 KILL
wait_until 10 eligible_is $((NODES - 1)) || fail "n2 is not taken out"
grep 'node n2' "$LOG" | tail -n 1
routes >"$RUN/during"
watch 3

say "while it is dead: why does a key go where it goes?"
mine=$(python3 -c "
import json
r = json.load(open('$RUN/before'))
print(next(k for k in r if r[k] == 'n2'), next(k for k in r if r[k] == 'n5'))")
for key in $mine; do
	echo "\$ kvlanectl route $key"
	ctl route "$key"
	echo
done

say "node n2 is started again"
node_start 2
wait_until 10 eligible_is "$NODES" || fail "n2 is not taken back"
grep 'node n2' "$LOG" | tail -n 1
routes >"$RUN/after"
watch 3

wait "${PIDS[load]}" && unset "PIDS[load]"
say "summary"
python3 - "$RUN" "$NODES" <<'PY' >"$RUN/summary"
import json, sys
from routes import moved
run, nodes = sys.argv[1], int(sys.argv[2])
load = json.load(open(run + "/load.log"))
before, during, after = (json.load(open(run + "/" + n)) for n in ("before", "during", "after"))
gone = moved(before, during)
share = len(gone) / len(before)
foreign = sum(1 for a, _ in gone if a != "n2")
print("requests sent %(sent)d, answered %(answered)d, wrong %(wrong)d, errors %(errors)d, "
      "timed out %(timeouts)d, missed %(misses)d" % load)
print("share of keys moved when n2 died: %.3f (ideal %.3f), other nodes' keys moved: %d"
      % (share, 1 / nodes, foreign))
print("keys not back in place after its return: %d" % len(moved(before, after)))
json.dump({"share": share, "foreign": foreign, "left": len(moved(before, after)), **load},
          open(run + "/checks", "w"))
PY
cat "$RUN/summary"
holds() { # PYTHON-EXPRESSION
	[ "$(field "bool($1)" <"$RUN/checks")" = True ]
}
verdict "every request was sent" holds 'r["sent"] > 20 * 3000 and r["send_failed"] == 0'
verdict "no reply was wrong or stray" holds 'r["wrong"] == 0 and r["stray"] == 0'
verdict "99.5% were served, a node's death and all" holds 'r["answered"] - r["errors"] >= 0.995 * r["sent"]'
verdict "the dead node's keys moved, about a sixth" holds 'abs(r["share"] - 1/6) < 1/18'
verdict "no other key moved" holds 'r["foreign"] == 0'
verdict "all are back in place" holds 'r["left"] == 0'
verdict "packets: in = out + drops + held" conserved
verdict "ping to the router's host still passes to the kernel" ping_passes
[ $FAILED -eq 0 ] && echo "all holds"
exit $FAILED

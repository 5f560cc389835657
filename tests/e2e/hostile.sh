#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Malformed and random packets as fast as a host can send them, for ten seconds, from clients and
# from the nodes' side, with a client at work beside: it is served, and nobody is hurt.
. "$(dirname "$0")/_init.sh"
world_start
KVBLAST=$BUILD/tests/kvblast

start load client "$KVLOAD" -p -f -t 12 -r 500 -k 500 $VIP 11211
requests_pass() { [ "$(ctl stats --json | field "r['requests'] > $1")" = True ]; }
wait_until 10 requests_pass 700 || fail "no load"
front_mac=$(on router cat /sys/class/net/front/address)
back_mac=$(on router cat /sys/class/net/back/address)
start blast client "$KVBLAST" -t 10 c0 "$front_mac" requests 10.1.0.9 $VIP
start forge net "$KVBLAST" -t 10 br0 "$back_mac" replies 10.2.0.77 10.2.0.254
wait "${PIDS[blast]}" && unset "PIDS[blast]"
wait "${PIDS[forge]}" && unset "PIDS[forge]"
cat "$RUN/blast.log" "$RUN/forge.log"
wait "${PIDS[load]}" && unset "PIDS[load]"
cat "$RUN/load.log"

check "the router lives" ctl status >/dev/null
check "the blast arrived" test "$(ctl stats --json | field 'r["in"] > 100000')" = True
check "no reply reached a client whose it is not" test "$(field 'r["wrong"]' <"$RUN/load.log")" = 0
check "no stranger's reply passed" test "$(ctl stats --json | field 'r["drops"]["reply_late"] + r["drops"]["reply_source"] > 1000')" = True
check "faults are named" \
	test "$(ctl stats --json | field 'sum(1 for v in r["verdicts"].values() if v) > 12')" = True
check "all nodes live" wait_until 10 eligible_is 6
check "and serve" \
	test "$(client "$KVLOAD" -p -t 1 -r 2000 $VIP 11211 | field \
		'(r["sent"] - r["answered"], r["wrong"], r["errors"])')" = "(0, 0, 0)"
check "in = out + drops + held" conserved

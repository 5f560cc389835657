#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Agents beside real nodes report to the router: what they say shows in the scores; what is forged,
# replayed or absurd is counted by name and ignored; an agent's silence takes no living node out.
. "$(dirname "$0")/_init.sh"
hosts_start
nodes_start
config_write
echo "wrong-secret-wrong-secret" >"$RUN/other"
reports_write
router_start
router_ready

# What an agent is given must be good, or it does not start.
refuses() { # WORDS OPTION...
	local words=$1 status=0
	shift
	timeout 5 "$BUILD/ctrl/kvlane-agent" --router 10.2.0.254 "$@" >"$RUN/why" 2>&1 || status=$?
	[ $status = 2 ] && grep -q "$words" "$RUN/why"
}
echo short >"$RUN/short"
check "a secret too short is refused, in words" refuses "16..64 characters" --node n1 --key "7:$RUN/short"
check "a file that is not there" refuses "No such file" --node n1 --key "7:$RUN/nothing"
check "a key number cut to size" refuses "Invalid argument" --node n1 --key "4294967303:$RUN/secret"
check "an interval with a unit" refuses "Invalid argument" --node n1 --key "7:$RUN/secret" --interval 2000ms
check "a node's name that cannot be" refuses "Invalid argument" --key "7:$RUN/secret" --node "n 1"

agent() { # NAME NODE [OPTION...]
	local name=$1 i=$2
	shift 2
	start "$name" "n$i" "$BUILD/ctrl/kvlane-agent" --node "n$i" --router 10.2.0.254 --interval 500 \
		--memcached "10.2.0.$i" --interface eth0 --flags "$RUN/flags$i" --disk ssd "$@"
}
for i in $(seq 6); do
	agent "agent$i" "$i" --key "7:$RUN/secret"
done
reports() { ctl stats --json | field "r['reports']['$1']"; }
reports_pass() { [ "$(reports "$1")" -gt "$2" ]; }
check "reports are taken" wait_until 20 reports_pass taken 12
of() { # NODE EXPRESSION over n
	ctl scores --json | field "[$2 for n in r['nodes'] if n['id'] == 'n$1'][0]"
}
check "they are fresh" test "$(of 1 'n["report_age_ms"] < 3000 and not n["facts"]["stale"]')" = True
check "with the host's CPU and memcached's room" \
	test "$(of 2 '0 <= n["facts"]["cpu"] <= 1 and n["facts"]["capacity_free"] > 0.5')" = True

echo compacting >"$RUN/flags3"
compacting() { [ "$(of 3 '"compacting" in n["read"]["terms"] and n["read"]["score"] < 0.8')" = True ]; }
check "a compacting node's score falls, and says why" wait_until 10 compacting
echo read_only >"$RUN/flags4"
read_only() { [ "$(of 4 '(n["write"]["filter"], n["write"]["weight"], n["read"]["weight"] > 0)')" = "('read_only', 0, True)" ]; }
check "a read-only node takes no writes, but reads" wait_until 10 read_only
rm "$RUN/flags3" "$RUN/flags4"
writes_again() { [ "$(of 4 'n["write"]["weight"] > 0')" = True ]; }
check "and both are forgotten" wait_until 10 writes_again

agent forger 1 --key "7:$RUN/other"
check "a forged report is counted and ignored" wait_until 10 reports_pass forged 1
stop forger
agent stranger 1 --key "9:$RUN/secret"
check "an unknown key, too" wait_until 10 reports_pass unknown_key 1
stop stranger
on n1 python3 - <<'PY'
import os, socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(2000):
    s.sendto(os.urandom(i % 1600), ("10.2.0.254", 11290))
PY
check "rubbish, too" wait_until 10 reports_pass malformed 500
check "too long, too" test "$(reports too_long)" -gt 50

# A recorded report played again.
timeout 10 ip netns exec "$P-n5" "$BUILD/ctrl/kvlane-agent" --node n5 --router 10.2.0.5:9999 --interval 200 \
	--memcached 10.2.0.5 --key "7:$RUN/secret" >/dev/null 2>&1 &
PIDS[recorded]=$!
on n5 python3 - <<'PY'
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("10.2.0.5", 9999))
s.settimeout(8)
report = s.recv(2000)
for _ in range(20):
    s.sendto(report, ("10.2.0.254", 11290))
PY
stop recorded
check "a replayed report is counted and ignored" wait_until 10 reports_pass replayed 10

# Silence of an agent is not its node's: memcached answers, so the node stays in. It is suspected, once,
# and under observation for that until it has answered; from then on only its reports are stale.
silence_is() { [ "$(of "$1" 'n["health"]["silence"]')" = "$2" ]; }
suspected() { grep -c "node n$1: suspect: its reports have stopped" "$LOG" || true; }
suspected_is() { [ "$(suspected "$1")" = "$2" ]; }
unobserved() { [ "$(of "$1" '(n["state"], n["observed"], "observation" in n["read"]["terms"])')" = "('healthy', False, False)" ]; }
stale() { [ "$(of "$1" 'n["facts"]["stale"]')" = True ]; }
fresh() { [ "$(of "$1" 'n["facts"]["stale"]')" = False ]; }
start load client "$KVLOAD" -p -f -t 26 -r 500 -k 300 $VIP 11211
check "nobody was suspected for reports that come" suspected_is 6 0
stop agent6
check "a silent agent's node is suspected" wait_until 10 suspected_is 6 1
check "which its answers settle" wait_until 5 silence_is 6 settled
check "its score is its own again" wait_until 10 unobserved 6
check "a silent agent's report goes stale" wait_until 20 stale 6
check "its node stays in, since it answers" eligible_is 6
key() { # I: one whose candidates include the node
	for k in $(seq 100); do
		if ctl route "key$k" --service cache --json | field '[c["id"] for c in r["candidates"]]' | grep -q "'n$1'"; then
			echo "key$k"
			return
		fi
	done
}
KEY=$(key 6)
check "route marks it" test "$(ctl route "$KEY" --service cache --json |
	field '[c["stale"] for c in r["candidates"] if c["id"] == "n6"]')" = "[True]"
check "scores, too" test "$(ctl scores --node n6 | grep -c 'they have stopped, and it answers')" = 1
# Longer than observation lasts, the silence changes nothing more.
end=$((SECONDS + 7))
while [ $SECONDS -lt $end ]; do
	unobserved 6 || fail "the node is under observation again"
done
check "and it was suspected once" suspected_is 6 1
agent agent6 6 --key "7:$RUN/secret"
check "the agent is heard again" wait_until 10 fresh 6
check "and its silence forgotten" silence_is 6 none
stop agent6
check "silent again it is suspected again" wait_until 10 suspected_is 6 2
check "and settled again" wait_until 10 silence_is 6 settled
wait "${PIDS[load]}" && unset "PIDS[load]"
check "nothing was lost" test "$(field '(r["sent"] - r["answered"], r["wrong"], r["errors"])' <"$RUN/load.log")" = "(0, 0, 0)"

# Nor when nobody asks the node anything more, so that it shows no life: probes find out.
stop agent5
check "an idle node's agent falls silent" wait_until 20 stale 5
check "its node never left" test "$(grep -c 'node n5: down' "$LOG")" = 0
check "a probe has settled it" unobserved 5
check "once" suspected_is 5 1
# What is no silence counts as ever, for a node whose agent has long been gone: it is probed when its
# traffic fails it.
start load2 client "$KVLOAD" -p -f -t 6 -r 500 -k 300 $VIP 11211
kill -STOP "${PIDS[n5]}"
check "a node that hangs later is taken out" wait_until 5 state_is n5 down
kill -CONT "${PIDS[n5]}"
check "and comes back without its agent" wait_until 30 state_is n5 healthy
wait "${PIDS[load2]}" && unset "PIDS[load2]"
check "nor was it suspected for the old silence" suspected_is 5 1
ctl scores
check "in = out + drops + held" conserved

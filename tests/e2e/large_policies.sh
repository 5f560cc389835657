#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The slow path heeds what the workers do: how far replicas lag, also by P and L tokens, tenants' shares
# of a node, and max_in_flight; with three holders a key. Each node has a value of its own under one
# key, so that an answer tells who gave it.
. "$(dirname "$0")/_init.sh"
hosts_start
nodes_start
config_write
# Neither timeouts nor low scores take out a node that hangs.
sed -i "s/mode: nat, timeout_ms: $TIMEOUT_MS}/mode: nat, timeout_ms: $TIMEOUT_MS, replication: 3, max_version_lag: 100, scoring: {choice: softmax, low_score: 0}, rules: [{prefix: \"free:\", tenant: free}]}/; s/^health:/health:\n  timeouts_to_down: 1000000/" "$CONFIG"
cat >>"$CONFIG" <<EOF
tenants:
- {name: free, rate: 20, burst: 20, node_share: 0.5}
EOF
reports_write
router_start
router_ready
for i in $(seq "$NODES"); do
	agent_start "$i"
	on "n$i" python3 - "$i" <<'PY'
import sys
from kvclient import Client
Client("10.2.0." + sys.argv[1]).expect("set where 0 0 2\r\nn%s\r\n" % sys.argv[1], "STORED\r\n")
PY
done

slow() { # NAME: of the slow path's counters
	ctl stats --json | field "r['slow_path']['$1']"
}
slow_is() { # NAME LEAST
	[ "$(slow "$1")" -ge "$2" ]
}
list() { # KEY: its nodes in the order of its list
	ctl route "$1" --json | field '" ".join(c["id"] for c in r["candidates"])'
}
lags() { # NODE: by more than the service allows
	ctl route where --json | field "[c['reason'] for c in r['candidates'] if c['id'] == '$1'][0]" |
		grep -qx 'lags by more versions than allowed'
}
cat >"$RUN/where.py" <<'PY'
# where.py COMMAND...: 300 reads in one datagram, the commands in turn; for each, who answered it.
import sys
from kvclient import Client

def who(*commands):
    got = Client("10.1.0.100", timeout=5).messages("".join(
        commands[i % len(commands)] + "\r\n" for i in range(300)), 300)
    assert len(got) == 300 and all(m.startswith(b"VA 2") for m in got), got
    nodes = [m.split(b"\r\n")[1].decode() for m in got]
    return [" ".join(sorted(set(nodes[i::len(commands)]))) for i in range(len(commands))]

if __name__ == "__main__":
    print(*who(*sys.argv[1:]), sep=", ")
PY
export PYTHONPATH=$PYTHONPATH:$RUN
who() { # COMMAND...
	client python3 "$RUN/where.py" "$@"
}
nodes() { # NODE...: as `who` names them
	printf '%s\n' "$@" | sort | paste -sd' '
}
stored_at() { # NODE KEY
	on "$1" python3 - "$1" "$2" <<'PY'
import sys
from kvclient import Client
if not Client("10.2.0." + sys.argv[1][1:]).ask("get %s\r\n" % sys.argv[2]).startswith(b"VALUE"):
    sys.exit(1)
PY
}
reports_are_in() { [ "$(ctl stats --json | field 'r["reports"]["taken"]')" -ge "$NODES" ]; }
check "nodes report" wait_until 10 reports_are_in

# ---- lag ----
read -r n1 n2 n3 n4 n5 _ <<<"$(list where)"
holders=$(nodes "$n1" "$n2" "$n3")
check "a large datagram of reads asks all holders" test "$(who 'mg where v')" = "$holders"
check "by the slow path" test "$(slow parts)" = 300
check "tokens in it say where" \
	test "$(who 'mg where v Pstrong' 'mg where v' 'mg where v Pnothing L5')" = "$n1, $holders, $holders"
check "nothing was passed over" test "$(slow masked)" = 0

echo version_lag=500 >"$RUN/state${n1#n}"
echo version_lag=50 >"$RUN/state${n2#n}"
check "one lags too far" wait_until 10 lags "$n1"
without=$(nodes "$n2" "$n3" "$n4")
without_both=$(nodes "$n3" "$n4" "$n5")
stricter() { [ "$(who 'mg where v L49')" = "$without_both" ]; }
check "for a token, one that lags a little lags too far" wait_until 10 stricter
check "each command of a datagram has its own bound" \
	test "$(who 'mg where v' 'mg where v L49' 'mg where v L50 Peventual' 'mg where v Pstrong' 'mg where v L100000')" \
	= "$without, $without_both, $without, $n2, $without"
check "a large get goes past them" test "$(client python3 - <<'PY'
from kvclient import Client
got = Client("10.1.0.100", timeout=5).ask("get" + " where" * 300 + "\r\n").split(b"\r\n")
assert got[-2:] == [b"END", b""] and got[:-2:2] == [b"VALUE where 0 2"] * 300, got
print(*sorted({n.decode() for n in got[1:-2:2]}))
PY
)" = "$without"
check "it is counted" slow_is masked 800
# A key that has the same first holders.
key=$(for i in $(seq 300); do
	[[ $(list "key$i") != "$n1 $n2 "* ]] || { echo "key$i" && break; }
done)
large_set() {
	client python3 - "$key" <<'PY'
import sys
from kvclient import Client
c = Client("10.1.0.100")
for _ in range(20):
    c.expect("set %s 0 0 5000\r\n%s\r\n" % (sys.argv[1], "x" * 5000), "STORED\r\n")
PY
}
check "large sets are stored" large_set
check "by the first that does not lag" stored_at "$n2" "$key"
not_at() { ! stored_at "$@"; }
check "not by the one that does" not_at "$n1" "$key"
for i in $(seq "$NODES"); do echo version_lag=500 >"$RUN/state$i"; done
all_lag() { [ "$(who 'mg where v')" = "$n1" ] && slow_is lag_open 300; }
check "when all lag, the first is asked all the same" wait_until 10 all_lag
for i in $(seq "$NODES"); do echo version_lag=0 >"$RUN/state$i"; done
fresh() { [ "$(who 'mg where v L0')" = "$holders" ]; }
check "and it passes" wait_until 10 fresh

# ---- tenants ----
check "a node gets its share of a tenant's large sets, and no more" client python3 - <<'PY'
# 20 a second, 10 of them for each node: 18 at once, all within one second of the clock that all have.
import time
from kvclient import Client
for _ in range(5):
    time.sleep(1.05 - time.monotonic() % 1)
    second = int(time.monotonic())
    got = Client("10.1.0.100").ask_all(["set free:one 0 0 3000\r\n%s\r\n" % ("x" * 3000)] * 18)
    if None not in got and int(time.monotonic()) == second:
        break
else:
    raise SystemExit("18 sets take more than a second")
assert set(got) == {b"SERVER_ERROR over quota\r\n", b"STORED\r\n"}, got
assert got.count(b"STORED\r\n") == 10, got
PY
check "what is beyond it is counted" slow_is over_share 8
read -r t1 t2 t3 _ <<<"$(list free:one)"
check "none was moved: its node has them" stored_at "$t1" free:one
check "and the next has not" not_at "$t2" free:one
check "nor the third" not_at "$t3" free:one
check "a key over quota fails its large get" client python3 - <<'PY'
from kvclient import Client
Client("10.1.0.100").expect("get where %s\r\n" % " ".join("free:%d" % i for i in range(300)),
                            "SERVER_ERROR over quota\r\n")
PY
check "and is counted" slow_is over_rate 200
check "others are served" test "$(who 'mg where v')" = "$holders"

# ---- max_in_flight ----
sed -i 's/max_version_lag: 100/max_in_flight: 3/' "$CONFIG"
ctl reload >/dev/null
check "nothing was shed so far" test "$(slow shed)" = 0
before=$(slow timeouts)
kill -STOP "${PIDS[$n1]}"
check "a node that hangs gets three large sets, and reads go past it" client python3 - "$key" "$n1" <<'PY'
import sys
from kvclient import Client
from where import who
key, hangs = sys.argv[1:]
large = "set %s 0 0 3000%s\r\n%s\r\n"
c = Client("10.1.0.100", timeout=5)
c.send(large % (key, " noreply", "x" * 3000))  # is not waited for
sent = [c.send(large % (key, "", "x" * 3000)) for _ in range(10)]
for ident in sent[3:]:
    assert c.receive(ident) == b"SERVER_ERROR busy: the key's nodes have all they may\r\n"
answered = who("mg where v")[0].split()
assert len(answered) == 2 and hangs not in answered, answered
assert set(c.messages("mg where v Pstrong\r\n" * 100, 100)) == {
    b"SERVER_ERROR busy: the key's nodes have all they may\r\n"}
PY
hung() { # COUNT
	[ "$(slow timeouts)" = $((before + $1)) ]
}
check "the three are given up" wait_until 5 hung 3
# Of each such datagram one command is asked at a time, and the node has three of them.
check "it gets one command each of three large datagrams" client python3 - "$key" <<'PY'
import sys
from kvclient import Client
clients = [Client("10.1.0.100", timeout=5) for _ in range(4)]
ident = [c.send("mg %s v Pstrong\r\n" % sys.argv[1] * 100) for c in clients]
got = [c.receive(i) for c, i in zip(clients, ident)]
busy = [g is not None and g.startswith(b"SERVER_ERROR busy") for g in got]
assert None not in got and sum(busy) == 1, got
PY
check "they are given up" hung 6
check "what was refused is counted" test "$(slow shed)" = $((7 + 100 + 100))
kill -CONT "${PIDS[$n1]}"
check "the node is back" wait_until 20 eligible_is "$NODES"
check "no place was lost: large sets are stored, one behind the other" wait_until 10 large_set
check "by the node itself" stored_at "$n1" "$key"
accounted() {
	[ "$(ctl stats --json | field '(lambda s: s["received"] == s["forwarded"] + s["answered"] + s["splits"] + s["drop_silent"] + s["drop_no_service"] + s["drop_send"])(r["slow_path"])')" = True ]
}
check "all are accounted for" accounted
check "in + created = out + absorbed + drops + held" conserved

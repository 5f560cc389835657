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
check "in = out + drops + held" conserved

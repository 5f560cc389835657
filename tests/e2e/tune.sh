#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Scoring while it runs: profiles by schedule and by traffic, thresholds and weights set over the
# control socket, and the self check that tells when scores no longer follow what happens.
. "$(dirname "$0")/_init.sh"
NODES=4
hosts_start
nodes_start
config_write
# Of the same pool as cache, which has one holder a key and comes first.
sed -i "s|^  - {name: direct, .*|&\n  - {name: copies, address: 10.1.0.102, port: 11211, replication: 3, pool: default, scoring: {choice: softmax, min_share: 0.02},\n     rules: [{prefix: 'best:', choice: best}]}|" "$CONFIG"
on router ip addr add 10.1.0.102/32 dev front
SECRET=0123456789abcdef-secret
# By schedule: write-heavy since two minutes ago, read-heavy in half an hour, whatever the time of day.
schedule=$(printf '%s write-heavy\n%s read-heavy\n' "$(date -d '2 minutes ago' +%H:%M)" "$(date -d '30 minutes' +%H:%M)" |
	sort | while read -r from profile; do printf "{from: '%s', profile: %s}, " "$from" "$profile"; done)
sed -i "s/timeout_ms: $TIMEOUT_MS}/timeout_ms: $TIMEOUT_MS, scoring: {reject_threshold: 1, baseline_ms: 1000, profile: {schedule: [${schedule%, }]}}}/" "$CONFIG"
cat >>"$CONFIG" <<EOF
reports:
  address: 10.2.0.254
  keys: [{id: 7, secret: $SECRET}]
http: {address: 10.2.0.254, port: 8080}
EOF
check "the configuration is good" "$KVLANECTL" check "$CONFIG"
router_start
router_ready
pool() { ctl scores --json | field "[$1 for p in r['pools'] if p['name'] == 'default'][0]"; }
pool_is() { [ "$(pool "$1")" = "$2" ]; }
of() { # NODE EXPRESSION over n
	ctl scores --json | field "[$2 for n in r['nodes'] if n['id'] == 'n$1'][0]"
}
of_is() { [ "$(of "$1" "$2")" = "$3" ]; }
value() { ctl get "$1" --json | field "[(f['value'], f['file'], f['set']) for f in r['fields'] if f['name'] == '$2'][0]"; }

check "the schedule's profile applies" wait_until 5 pool_is '(p["profile"]["active"], p["profile"]["by"])' "('write-heavy', 'schedule')"
check "and its weights" pool_is 'p["weights"]["capacity_free"]' 0.4
check "it is told to people" test "$(ctl scores | grep -c 'profile write-heavy (schedule)')" = 1

# Profiles and weights at run time.
generation() { ctl status --json | field 'r["workers"][0]["generation"]'; }
before=$(generation)
check "a profile is set" ctl set cache scoring.profile=auto
check "auto begins as read-heavy" wait_until 5 pool_is '(p["profile"]["active"], p["profile"]["by"])' "('read-heavy', 'auto')"
start load client "$KVLOAD" -p -f -t 25 -r 1000 -k 400 $VIP 11211
check "what it goes by is counted" wait_until 20 pool_is '(p["profile"]["read_share"] or 0) > 0.5' True
check "a weight is set over the profile's" ctl set cache scoring.weights.hit=0.05 scoring.model=weighted
check "it applies" wait_until 5 pool_is '(p["model"], p["weights"]["hit"], p["weights"]["load"])' "('weighted', 0.05, 0.3)"
terms() { of_is 2 '"latency_health" in n["read"]["terms"] and "base" not in n["read"]["terms"]' True; }
check "scores are the weighted model's" wait_until 10 terms
check "workers saw it" test "$(generation)" -gt "$before"
check "back to the file's" ctl unset cache scoring.model scoring.weights.hit scoring.profile
check "it says so" test "$(value cache scoring.weights.hit)" = "('profile', 'profile', False)"
back() { pool_is '(p["model"], p["profile"]["by"], p["weights"]["hit"])' "('penalty', 'schedule', 0.1)"; }
check "all of it" wait_until 5 back

# Thresholds: a score's deduction changes without a reload.
body="{\"node\":\"n2\",\"time_ms\":$(date +%s%3N),\"cpu\":0.5}"
signature=$({ printf 'kvlane-report-1\0\7\0\0\0'; printf %s "$body"; } | openssl dgst -sha256 -hmac "$SECRET" -r | cut -d' ' -f1)
check "a node reports a CPU half busy" test "$(on n2 curl -s -m 5 -o /dev/null -w '%{http_code}' -H 'X-Kvlane-Key: 7' \
	-H "X-Kvlane-Signature: $signature" --data-binary "$body" http://10.2.0.254:8080/v1/report)" = 200
reported() { of_is 2 'n["facts"]["cpu"]' 0.5; }
check "the scorer knows" wait_until 10 reported
check "it costs nothing" of_is 2 '"cpu" in n["read"]["terms"]' False
check "the threshold is lowered" ctl set cache scoring.cpu_threshold=0.25 scoring.low_score=0
deducted() { of_is 2 'round(n["read"]["terms"].get("cpu", 0), 6)' -10.0; }
check "now it costs two points for each 5% over" wait_until 10 deducted
revision=$(ctl status --json | field 'r["revision"]')
check "a bad value is refused, by the file's message" test \
	"$(ctl set cache scoring.queue_high=5 scoring.cpu_threshold=85 2>&1)" = \
	"kvlanectl: set: scoring.cpu_threshold: must be 0..1 (params)"
check "and nothing changes, not the good one either" test "$(value cache scoring.queue_high)" = "('20', '20', False)"
check "nor the other" test "$(value cache scoring.cpu_threshold)" = "('0.25', '0.7', True)"
check "an unknown name is refused" test "$(ctl set cache scoring.cpu_treshold=1 2>&1 | grep -c 'did you mean cpu_threshold')" = 1
check "an unknown service, too" test "$(ctl set nobody scoring.model=penalty 2>&1 | grep -c not_found)" = 1
check "status lists what is set" test "$(ctl status --json | field \
	'[(o["service"], o["name"], o["value"], o["file"]) for o in r["overrides"] if "cpu" in o["name"]]')" = \
	"[('cache', 'scoring.cpu_threshold', '0.25', '0.7')]"
check "a reload keeps it" ctl reload
check "still there" test "$(value cache scoring.cpu_threshold)" = "('0.25', '0.7', True)"
check "and no new revision came of any of it" test "$(ctl status --json | field 'r["revision"]')" = "$revision"
check "unset: all" ctl unset cache
check "gone" test "$(ctl status --json | field 'r["overrides"]')" = "[]"

# A node's weight: the ring changes, and the answer says by how much.
ctl set --node n3 weight=50 --json >"$RUN/set"
check "a weight changes the placement" test "$(field 'r["revision"]' <"$RUN/set")" -gt "$revision"
check "by about an eighth of the keys" test "$(field '[0.05 < m["moved"] < 0.2 for m in r["moved"]]' <"$RUN/set")" = "[True, True, True]"
weight_of() { ctl nodes --json | field "[n['weight'] for n in r['nodes'] if n['id'] == 'n3'][0]"; }
check "nodes show it" test "$(weight_of)" = 50
check "services say how much has moved" test "$(ctl services --json | field '[s["moved"] for s in r["services"]]')" = \
	"$(field '[m["moved"] for m in r["moved"]]' <"$RUN/set")"
check "a bad weight is refused" test "$(ctl set --node n3 weight=0 2>&1)" = "kvlanectl: set: weight: must be 1..10000 (params)"
topology_write 1 2 4
check "its node goes" ctl reload
check "and the weight with it" test "$(ctl status --json | field 'r["overrides"]')" = "[]"
topology_write 1 2 3 4
check "it comes back" ctl reload
check "as the file has it" test "$(weight_of)" = 100
check "set again" ctl set --node n3 weight=300
check "and unset" ctl unset --node n3
check "as the file has it again" test "$(weight_of)" = 100
check "all are eligible" wait_until 20 eligible_is 4
wait "${PIDS[load]}" && unset "PIDS[load]"
check "no request was lost or answered wrongly" test "$(field '(r["sent"] - r["answered"], r["wrong"])' <"$RUN/load.log")" = "(0, 0)"

# The self check: scores that see neither rejections (reject_threshold 1) nor how slow a node in Python
# is (baseline_ms 1000) part from what happens.
echo reject-tenth >"$RUN/mode"
stop n1
start n1 n1 python3 "$ROOT/tests/e2e/faultnode.py" 10.2.0.1 11211 "$RUN/mode"
check "something is set" ctl set cache scoring.queue_high=9
stop router # a new one remembers nothing of n1's absence
router_start
router_ready
check "nor of what was set" test "$(ctl status --json | field 'r["overrides"]')" = "[]"
start load client "$KVLOAD" -p -f -t 60 -r 1000 -k 400 $VIP 11211
alarm() { ctl status --json | field '[a for a in r["alarms"] if "scores no longer" in a] != []' | grep -qx True; }
check "the alarm is raised" wait_until 40 alarm
check "scores say so" pool_is 'p["self_check"]["alarm"]' True
check "to people, too" test "$(ctl scores | grep -c 'self check: ALARM')" = 1
rejects() { of_is 1 'n["read"]["terms"].get("rejects", 0) < -10 and n["read"]["score"] < min(0.8, 1)' True; }
check "no score sees it" of_is 1 '"rejects" in n["read"]["terms"]' False
check "the threshold is set as it should be" ctl set cache scoring.reject_threshold=0.01
check "now the score follows" wait_until 10 rejects

# Services and rules that share a pool draw by the same weights, each in its own way: whatever the
# first one's choice is, softmax's are exp(score / T), and its floor is its own minimum share's.
shared() { # for a key that n1 holds: the weights, then the probabilities, are what `copies` says
	local i
	for i in $(seq 1 100); do
		ctl route "$1$i" --service copies --json >"$RUN/route"
		grep -q '"id": *"n1"' "$RUN/route" && break
	done
	python3 - "$RUN/route" "$2" <<'PY'
import json, math, sys
route = json.load(open(sys.argv[1]))
row = route["candidates"][:3]
best = max(c["score"] for c in route["candidates"])
floor = math.ceil(0.02 / 0.98 * 2 * 65535)
print([(c["id"], round(c["score"], 3), c["weight"], c["probability"]) for c in row])
assert any(c["id"] == "n1" and c["score"] < 0.85 for c in row)
for c in row:
    assert abs(c["weight"] - max(floor, 65535 * math.exp((c["score"] - best) / 0.2))) <= 0.03 * c["weight"], c
total, first = sum(c["weight"] for c in row), max(row, key=lambda c: c["weight"])
for c in row:
    want = c["weight"] / total if sys.argv[2] == "softmax" else float(c is first)
    assert abs(c["probability"] - want) < 0.03, (c, want)
PY
}
check "the first service of the pool chooses best" ctl set cache scoring.choice=best
check "another's softmax draws by exp(score / T)" wait_until 10 shared key softmax
check "and its rule's best takes the largest" wait_until 10 shared best: best
check "that choice is shown as the pool's first" pool_is 'p["choice"]' best
check "and taken back" ctl unset cache scoring.choice

# All there is of one node.
check "windows, states and classes of one node" test "$(ctl scores --node n1 --json | field \
	'(len(r["nodes"]), sorted(r["nodes"][0]["windows"]), len(r["nodes"][0]["classes"]), r["nodes"][0]["history"]["rejects"] > 0, r["nodes"][0]["health"]["state"] != "")')" = \
	"(1, ['failures', 'p95_us', 'p99_us', 'rejects'], 8, True, True)"
check "as a table" test "$(ctl scores --node n1 | grep -cE '^(rejects|read_hot_large|last 5 minutes:|state )')" = 4
check "scores of 4096 nodes fit an answer" python3 - "$SOCKET" <<'PY'
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.settimeout(10)
s.connect(sys.argv[1])
s.sendall(b'{"v":1,"id":1,"method":"scores"}\n')
line = s.makefile().readline()
print("%d bytes for 4 nodes" % len(line))
assert len(line) / 4 * 4096 < 8 << 20
PY
check "route shows the terms of each candidate" test "$(ctl route k --service cache --json |
	field 'all("terms" in c and "stale" in c and "probability" in c for c in r["candidates"])')" = True
stop load
settled() { conserved; }
check "in = out + drops + held" wait_until 5 settled

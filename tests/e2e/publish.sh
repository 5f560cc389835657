#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Weights of 1000 nodes with 160 tokens each, published as often as changes come, more than 20 times a
# second, while requests run: no packet is lost for it. Six real memcacheds serve all of the nodes,
# each on 167 ports. Prints how long a publication takes and until all workers run it.
WORKERS=${WORKERS:-1}
. "$(dirname "$0")/_init.sh"
ALL=1000 RATE=3000 SECONDS_LOADED=16
PORTS=$(((ALL + NODES - 1) / NODES))
hosts_start
for i in $(seq "$NODES"); do
	listen=$(for p in $(seq $PORTS); do printf '10.2.0.%d:%d,' "$i" $((20000 + p)); done)
	start "n$i" "n$i" memcached -u nobody -t 1 -m 64 -c 2048 -U 11211 -p 11211 -l "${listen%,}"
done
answers() { on "n$1" python3 -m kvclient "10.2.0.$1" $((20000 + PORTS)) version; }
for i in $(seq "$NODES"); do
	wait_until 10 answers "$i" || fail "memcached n$i does not answer"
done
config_write
sed -i "s/max_nodes: 64/max_nodes: 1024/; /name: direct/d; s/timeout_ms: $TIMEOUT_MS}/timeout_ms: $TIMEOUT_MS, replication: 3}/" "$CONFIG"
cat >>"$CONFIG" <<EOF
reports:
  address: 10.2.0.254
  keys: [{id: 7, secret: 0123456789abcdef-secret}]
http: {address: 10.2.0.254, port: 8080}
EOF
{
	echo "nodes:"
	for k in $(seq 0 $((ALL - 1))); do
		echo "  - {id: m$k, address: 10.2.0.$((k % NODES + 1)), port: $((20001 + k / NODES)), host: h$k, zone: z$((k % 3))}"
	done
} >"$RUN/nodes.yaml"
router_start
wait_until 60 eligible_is $ALL || fail "kvlaned is not ready with $ALL nodes"
check "1000 nodes have 160,000 tokens" test \
	"$(ctl services --json | field '[s["tokens"] for s in r["services"]]')" = "[160000]"

status() { ctl status --json | field "r['$1']"; }
requests_pass() { [ "$(ctl stats --json | field "r['requests'] > $1")" = True ]; }
start load client "$KVLOAD" -p -f -t $SECONDS_LOADED -r $RATE -s 10 -k 3000 -T 400 $VIP 11211
wait_until 20 requests_pass 5000 || fail "no load"
# Every node reports another CPU, so that each set changes all of the weights but the best ones.
on router python3 - "$SOCKET" $ALL >"$RUN/publish" <<'PY'
import hashlib, hmac, http.client, json, socket, sys, time


def report(node, cpu):
    body = json.dumps({"node": node, "time_ms": int(time.time() * 1000), "cpu": cpu}).encode()
    mac = hmac.new(b"0123456789abcdef-secret", b"kvlane-report-1\0\7\0\0\0" + body, hashlib.sha256)
    c = http.client.HTTPConnection("10.2.0.254", 8080, timeout=5)
    c.request("POST", "/v1/report", body, {"X-Kvlane-Key": "7", "X-Kvlane-Signature": mac.hexdigest()})
    assert c.getresponse().status == 200
    c.close()


nodes = int(sys.argv[2])
for k in range(nodes):
    report("m%d" % k, 0.7 + 0.29 * k / nodes)
s = socket.socket(socket.AF_UNIX)
s.settimeout(10)
s.connect(sys.argv[1])
f = s.makefile("rb")


def ask(method, **params):
    s.sendall(json.dumps({"v": 1, "id": 1, "method": method, "params": params}).encode() + b"\n")
    reply = json.loads(f.readline())
    assert "error" not in reply, reply
    return reply["result"]


def weights(temperature):
    ask("set", service="cache", values={"scoring.temperature": temperature})
    generation = ask("status")["generation"]
    while ask("status")["generation"] < generation + 2:
        time.sleep(0.01)
    return [n["read"]["weight"] for n in ask("scores")["nodes"]]


changed = sum(a != b for a, b in zip(weights("0.1"), weights("0.2")))
before, began, sets, settle, build = ask("status"), time.monotonic(), 0, [], []
while time.monotonic() < began + 6:
    ask("set", service="cache", values={"scoring.temperature": "%.3f" % (0.1 + sets % 100 / 1000)})
    sets += 1
    if sets % 20 == 0:
        status = ask("status")
        settle.append(status["settle_us"])
        build.append(status["publish_us"])
took, after = time.monotonic() - began, ask("status")
ask("unset", service="cache")
settle.sort(), build.sort()
print(json.dumps({
    "seconds": round(took, 2), "sets": sets, "a_second": (after["generation"] - before["generation"]) / took,
    "publish_us": {"p50": build[len(build) // 2], "most": build[-1]},
    "settle_us": {"p50": settle[len(settle) // 2], "most": settle[-1]},
    "weights_changed": changed, "failed": [a for a in after["alarms"] if "publications" in a]}))
PY
cat "$RUN/publish"
published() { field "$1" <"$RUN/publish"; }
check "published more than 20 times a second" test "$(published 'r["a_second"] > 20')" = True
check "with nearly all of the weights changed" test "$(published 'r["weights_changed"] > 900')" = True
check "none failed" test "$(published 'r["failed"]')" = "[]"
check "all workers run each within 50 ms" test "$(published 'r["settle_us"]["most"] < 50000')" = True
wait "${PIDS[load]}" && unset "PIDS[load]"
cat "$RUN/load.log"
check "no request was lost, or answered wrongly" test \
	"$(field '(r["sent"] - r["answered"], r["errors"], r["wrong"], r["timeouts"])' <"$RUN/load.log")" = "(0, 0, 0, 0)"
ctl stats --json | field 'r["drops"]'
check "no packet was dropped" test "$(ctl stats --json | field 'sum(r["drops"].values())')" = 0
check "nor was any node taken out for it" eligible_is $ALL
check "in = out + drops + held" conserved

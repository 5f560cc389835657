#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Weights of 1000 nodes with 160 tokens each, published as often as changes come, more than 20 times a
# second, while requests run: no packet is lost for it. Six real memcacheds serve all of the nodes,
# each on 167 ports; nothing is retried, so a request that was lost would show. Prints how long a
# publication takes and until all workers run it.
. "$(dirname "$0")/_init.sh"
ALL=1000 FLOWS=16 RATE=188 SECONDS_LOADED=20
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
sed -i "s/max_nodes: 64/max_nodes: 1024/; /name: direct/d; s/timeout_ms: $TIMEOUT_MS}/timeout_ms: $TIMEOUT_MS, replication: 3, retries: 0}/" "$CONFIG"
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
for i in $(seq $FLOWS); do # that chance gives all of them to one worker has odds of 1 in 32768
	start "load$i" client "$KVLOAD" -p -f -t $SECONDS_LOADED -r $RATE -s 10 -k 200 -K $((i * 1000)) -T 400 $VIP 11211
done
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
    "generation": after["generation"], "weights_changed": changed, "failed": [a for a in after["alarms"] if "publications" in a]}))
PY
cat "$RUN/publish"
published() { field "$1" <"$RUN/publish"; }
check "published more than 20 times a second" test "$(published 'r["a_second"] > 20')" = True
check "with nearly all of the weights changed" test "$(published 'r["weights_changed"] > 900')" = True
check "none failed" test "$(published 'r["failed"]')" = "[]"
# Of two CPUs a worker is not alone on its own: the most is what the kernel may keep it waiting.
check "all workers run each within 10 ms, at most 200" \
	test "$(published 'r["settle_us"]["p50"] < 10000 and r["settle_us"]["most"] < 200000')" = True
newest_runs() { [ "$(ctl status --json | field "r['generation'] >= $(published 'r["generation"]') and all(
	(w['generation'], w['revision']) == (r['generation'], r['revision']) for w in r['workers'])")" = True ]; }
check "and all run the newest" wait_until 5 newest_runs
# A new topology moves a thousandth of the keys, still under load.
sed -i '/id: m999,/d' "$RUN/nodes.yaml"
ctl reload >/dev/null
revised() { [ "$(ctl status --json | field '[w["revision"] for w in r["workers"]] == [2] * len(r["workers"])')" = True ]; }
check "all workers run the new revision" wait_until 5 revised
loaded() { for i in $(seq $FLOWS); do kill -0 "${PIDS[load$i]}" 2>/dev/null || return 1; done; }
check "with the load still there" loaded
for i in $(seq $FLOWS); do
	wait "${PIDS[load$i]}" && unset "PIDS[load$i]"
done
cat "$RUN"/load*.log
lost() { cat "$RUN"/load*.log | python3 -c 'import json, sys; l = [json.loads(x) for x in sys.stdin]
print(len(l), [sum(f(x) for x in l) for f in (lambda x: x["sent"] - x["answered"], lambda x: x["errors"], lambda x: x["wrong"],
	lambda x: x["timeouts"])])'; }
check "no request was lost, or answered wrongly" test "$(lost)" = "$FLOWS [0, 0, 0, 0]"
check "each worker had its part" test "$(ctl stats --json | field 'min(w["requests"] for w in r["workers"]) > 1000')" = True
# A packet socket sees what is the host's own and other hosts', too.
check "no packet was dropped" test "$(ctl stats --json |
	field '{k: v for k, v in r["drops"].items() if v and (k, "'$DEVICE'") not in (("not_ours", "packet"), ("foreign_mac", "packet"))}')" = "{}"
check "nor was any node taken out for it" eligible_is $((ALL - 1))
check "in = out + drops + held" conserved

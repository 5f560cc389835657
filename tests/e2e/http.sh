#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# HTTP: a report as JSON changes a node's score as one by UDP does; what is forged, replayed, absurd
# or out of range is told by status, counted under the same names and ignored. Health, metrics and
# the decision for a key.
. "$(dirname "$0")/_init.sh"
hosts_start
nodes_start
config_write
SECRET=0123456789abcdef-secret
cat >>"$CONFIG" <<EOF
reports:
  address: 10.2.0.254
  interval_ms: 500
  keys: [{id: 7, secret: $SECRET}, {id: 4294967295, secret: another-secret-of-some-length}]
http: {address: 10.2.0.254, port: 8080}
EOF
sed -i "s/mode: dsr}/mode: dsr, keyless: round_robin}/" "$CONFIG"
router_start
router_ready
URL=http://10.2.0.254:8080

now_ms() { echo $(($(date +%s%N) / 1000000)); }

# As docs/operations.md has it: header, key id (7) in four bytes, little end first, body.
signature() { # SECRET: of $RUN/body
	{
		printf 'kvlane-report-1\0\7\0\0\0'
		cat "$RUN/body"
	} | openssl dgst -sha256 -hmac "$1" -r | cut -d' ' -f1
}

# post HOST BODY [SECRET [KEY-ID]]: prints the status; the answer is in $RUN/answer
post() {
	printf '%s' "$2" >"$RUN/body"
	on "$1" curl -s -m 5 -o "$RUN/answer" -w '%{http_code}' -H "X-Kvlane-Key: ${4:-7}" \
		-H "X-Kvlane-Signature: $(signature "${3:-$SECRET}")" --data-binary "@$RUN/body" $URL/v1/report
}
get() { # PATH [CURL-OPTION...]: prints the status
	local path=$1
	shift
	on n1 curl -s -m 5 -o "$RUN/answer" -w '%{http_code}' "$@" "$URL$path"
}
answer() { field "$1" <"$RUN/answer"; }
reports() { ctl stats --json | field "r['reports']['$1']"; }
of() { # NODE EXPRESSION over n
	ctl scores --json | field "[$2 for n in r['nodes'] if n['id'] == 'n$1'][0]"
}

# A report moves the score.
check "no report so far" test "$(of 3 'n["report_age_ms"] is None and n["read"]["score"] > 0.99')" = True
check "a report is taken" test \
	"$(post n3 "{\"node\":\"n3\",\"time_ms\":$(now_ms),\"cpu\":0.95,\"compacting\":true}")" = 200
busy() { [ "$(of 3 '"compacting" in n["read"]["terms"] and n["read"]["terms"]["cpu"] < -9 and n["read"]["score"] < 0.65')" = True ]; }
check "its node's score falls, and says why" wait_until 10 busy
check "it counts as taken" test "$(reports taken)" = 1
cat >"$RUN/secret" <<<"$SECRET"
start agent n4 "$BUILD/ctrl/kvlane-agent" --node n4 --router 10.2.0.254 --interval 200 \
	--memcached 10.2.0.4 --interface eth0 --key "7:$RUN/secret"
both() { [ "$(reports taken)" -ge 3 ]; }
check "so do those that come by UDP" wait_until 10 both
check "a node's times hold for both ways: an older one by HTTP is a replay" test \
	"$(post n4 "{\"node\":\"n4\",\"time_ms\":$(($(now_ms) - 10000)),\"cpu\":0.5}")" = 409
stop agent

# What does not hold.
last="{\"node\":\"n3\",\"time_ms\":$(now_ms),\"cpu\":0.95,\"compacting\":true}"
check "the next is taken" test "$(post n3 "$last")" = 200
check "the same once more is a replay" test "$(post n3 "$last")" = 409
check "and says so" test "$(answer 'r["error"]["code"]')" = replayed
good="{\"node\":\"n3\",\"time_ms\":$(($(now_ms) + 1000)),\"cpu\":0.0}"
check "a forged one is refused" test "$(post n3 "$good" wrong-secret-wrong-secret)" = 401
check "and says so (forged)" test "$(answer 'r["error"]["code"]')" = forged
check "the right secret under another key's id, too" test "$(post n3 "$good" "$SECRET" 4294967295)" = 401
check "an unknown key, too" test "$(post n3 "$good" "$SECRET" 8)" = 401
check "by name" test "$(answer 'r["error"]["code"]')" = unknown_key
check "without headers, too" test "$(get /v1/report -d "$good")" = 401
check "a signature that is no hex, too" test \
	"$(get /v1/report -d "$good" -H 'X-Kvlane-Key: 7' -H 'X-Kvlane-Signature: zz')" = 401
check "none of them told anything" test "$(of 3 'n["read"]["terms"]["cpu"] < -9')" = True
check "signed rubbish is malformed" test "$(post n3 'rubbish')" = 400
check "an absurd one is refused" test "$(post n3 "{\"node\":\"n 3\",\"time_ms\":5}")" = 422
check "by name (absurd)" test "$(answer 'r["error"]["code"]')" = absurd
check "a node that is not there is told" test "$(post n3 "{\"node\":\"n99\",\"time_ms\":$(now_ms)}")" = 404
check "a time out of the future is refused" test "$(post n3 "{\"node\":\"n3\",\"time_ms\":$(($(now_ms) + 60000))}")" = 409
check "a time long past, too" test "$(post n5 "{\"node\":\"n5\",\"time_ms\":$(($(now_ms) - 60000))}")" = 409
check "by name (stale)" test "$(answer 'r["error"]["code"]')" = stale
check "a figure out of range is named" test \
	"$(post n5 "{\"node\":\"n5\",\"time_ms\":$(now_ms),\"cpu\":-1,\"io_wait\":0.9}")" = 422
check "it alone" test "$(answer 'r["error"]["details"]')" = "['cpu']"
io_wait() { [ "$(of 5 'n["facts"]["cpu"] is None and n["facts"]["io_wait"] > 0.8')" = True ]; }
check "and the rest was taken" wait_until 10 io_wait
for what in "forged 3" "unknown_key 2" "malformed 1" "absurd 1" "unknown_node 1" "ahead 1" "stale 1" \
	"rejected_figures 1" "replayed 2"; do
	read -r name count <<<"$what"
	check "counted: $name $count" test "$(reports "$name")" = "$count"
done

# The server itself.
check "an unknown path is 404" test "$(get /v1/reports)" = 404
check "a wrong method is 405" test "$(get /v1/report)" = 405
check "another, too" test "$(get /metrics -X DELETE)" = 405
head -c 9000 /dev/zero | tr '\0' x >"$RUN/large"
check "a body too large is 413" test "$(get /v1/report --data-binary "@$RUN/large")" = 413
on n1 python3 - <<'PY'
import os, random, socket
random.seed(7)
for i in range(200):
    s = socket.create_connection(("10.2.0.254", 8080), 5)
    s.settimeout(8)
    try:
        s.sendall(random.choice([b"", b"GET ", b"POST /v1/report HTTP/1.1\r\n"]) + os.urandom(random.randrange(3000)))
        s.shutdown(socket.SHUT_WR)
        while s.recv(4096):
            pass
    except ConnectionError:
        pass
    s.close()
PY
check "rubbish does not bring it down" test "$(get /healthz)" = 200

# A neighbour that holds more connections than there may be, asks byte by byte, and opens new ones for
# those that are closed.
http() { ctl stats --json | field "r['http']['$1']"; }
http_passes() { [ "$(http "$1")" -gt "$2" ]; }
check "nobody had to give way so far" test "$(http evicted)" = 0
cat >"$RUN/slow.py" <<'PY'
import itertools, socket
held = []
for turn in itertools.count():
    while len(held) < 60:
        held.append(socket.create_connection(("10.2.0.254", 8080), 5))
        held[-1].settimeout(0.001)
    for s in list(held):
        try:
            s.send(b"GET /healthz HTTP/1.1\r\nX: y"[turn:turn + 1] or b"y")
            if s.recv(1000) == b"":
                raise ConnectionError
        except TimeoutError:
            pass
        except OSError:
            held.remove(s)
            s.close()
PY
start slow n2 python3 "$RUN/slow.py"
check "its own connections give way" wait_until 10 http_passes evicted 100
quick() { [ "$(get "$1" -m 1)" = 200 ]; }
for i in 1 2 3 4 5; do
	check "meanwhile others are answered at once ($i)" quick /healthz
done
check "a scrape, too" quick /metrics
check "while it goes on" wait_until 5 http_passes evicted "$(http evicted)"
stop slow

# Decisions.
check "a key's decision" test "$(get '/v1/route?key=user%3A42&service=cache')" = 200
check "has the names of SPEC 11.2" test \
	"$(answer 'sorted({"route_key","node","hash","token","used_local_fallback","revision","candidates"} - set(r))')" = "[]"
same() { ctl route user:42 --service cache --json | field '(r["choice"], r["key_hash"], r["used_local_fallback"])'; }
check "and is the control socket's" test "$(answer '(r["node"], r["hash"], r["used_local_fallback"])')" = "$(same)"
check "the key comes back to who asked" test "$(answer 'r["route_key"]')" = user:42
check "without a key it is refused" test "$(get '/v1/route?keys=1')" = 400
check "a key of 251 bytes, too" test "$(get "/v1/route?key=$(head -c 251 "$RUN/large")")" = 400
check "one of 250 is not" test "$(get "/v1/route?key=$(head -c 250 "$RUN/large")")" = 200
check "a bad percent sign is refused" test "$(get '/v1/route?key=%zz')" = 400
check "a service's name ends where it ends" test "$(get '/v1/route?key=a&service=cache%00x')" = 400
check "an unknown service is not found" test "$(get '/v1/route?key=a&service=nobody')" = 404
check "a keyless command is answered here" test "$(get '/v1/route?command=version&service=cache')" = 200
check "which is a local fallback" test "$(answer '(r["used_local_fallback"], r["node"])')" = "(True, None)"
check "or goes round" test "$(ctl route --command version --service direct --json |
	field '(r["used_local_fallback"], r["keyless"], len(r["candidates"]))')" = "(False, 'round_robin', 6)"
check "the CLI says the same" test "$(ctl route --command mn --service cache | grep -c 'answers it itself')" = 1
check "a command with a key is refused" test "$(get '/v1/route?command=get')" = 400
refused() { ! ctl route --command flush_all 2>"$RUN/refused" && grep -q 'refuses this command' "$RUN/refused"; }
check "an admin command, too" refused

# Metrics.
client python3 -m kvclient $VIP 11211 version >/dev/null
check "metrics are served" test "$(get /metrics)" = 200
cp "$RUN/answer" "$RUN/metrics"
metric() { grep -F "$1 " "$RUN/metrics" | awk '{print $2}'; }
check "well-formed" python3 - "$RUN/metrics" <<'PY'
import re, sys
families, seen = {}, None
for line in open(sys.argv[1]):
    line = line.rstrip("\n")
    if line.startswith("# TYPE "):
        _, _, name, kind = line.split(" ")
        assert name not in families and kind in ("counter", "gauge"), line
        families[name] = 0
        seen = name
        assert kind != "counter" or name.endswith("_total"), line
    elif not line.startswith("# HELP "):
        m = re.fullmatch(r'([a-z0-9_]+)(\{[a-z_]+="[^"\\]*"(,[a-z_]+="[^"\\]*")*\})? (-?[0-9.e+-]+)', line)
        assert m and m.group(1) == seen, line
        families[seen] += 1
assert len(families) > 40, len(families)
assert all(families.values()), [f for f in families if not families[f]]
PY
check "the node's requests are the socket's" test \
	"$(awk '/^kvlane_node_requests_total/ {sum += $2} END {print sum}' "$RUN/metrics")" = \
	"$(ctl nodes --json | field 'sum(n["requests"] for n in r["nodes"])')"
check "the reports, too" test "$(metric 'kvlane_reports_total{fault="forged"}')" = 3
check "and all that policies count" test \
	"$(grep -o '^kvlane_policy_total{what="[a-z_]*' "$RUN/metrics" | cut -d'"' -f2 | sort | xargs)" = \
	"$(ctl stats --json | field '" ".join(sorted(r["policy"]))')"
check "and the score's terms" grep -q 'kvlane_node_score_points{node="n3",.*term="compacting"' "$RUN/metrics"
check "no key is in metrics or log" test "$(cat "$RUN/metrics" "$LOG" | grep -c user:)" = 0

# Health.
check "all is well" test "$(get /healthz)" = 200
for i in $(seq 6); do stop "n$i"; done
unwell() { [ "$(get /healthz)" = 503 ]; }
check "without a node it is not" wait_until 20 unwell
check "and the reason names the services" grep -q 'service cache: no node of pool' "$RUN/answer"
node_start 2
well() { [ "$(get /healthz)" = 200 ]; }
check "one node is enough" wait_until 40 well
check "in = out + drops + held" conserved

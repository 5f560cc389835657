#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# 100 keys in one request cost about what the slowest of them does alone: all nodes are asked at
# once. Nodes that take 40 ms for an answer, so that it is their time which counts, and not how six
# processes share this machine's CPUs.
. "$(dirname "$0")/_init.sh"
hosts_start
for i in $(seq 1 "$NODES"); do
	start "n$i" "n$i" python3 tests/e2e/slownode.py "10.2.0.$i" 11211 40
	wait_until 5 node_answers "$i" || fail "n$i does not answer"
done
config_write
router_start
router_ready

check "100 keys at once: at most 1.3 times the slowest alone" client python3 - <<'PY'
import time
from kvclient import Client

c = Client("10.1.0.100", timeout=5)
keys = ["key%03d" % i for i in range(100)]
value = "VALUE %s 0 1\r\nx\r\n"

def timed(request, wanted):
    start = time.monotonic()
    c.expect(request, wanted)
    return time.monotonic() - start

slowest = max(timed("get %s\r\n" % k, value % k + "END\r\n") for k in keys)
all_keys = sorted(timed("get %s\r\n" % " ".join(keys), "".join(value % k for k in keys) + "END\r\n")
                  for _ in range(5))
print("slowest of 100 alone %.1f ms, 100 at once %.1f ms (median of 5)"
      % (slowest * 1000, all_keys[2] * 1000))
assert all_keys[2] <= 1.3 * slowest, (slowest, all_keys)
PY
check "each key was a part of its own" test "$(ctl stats --json | field 'r["split"]["parts"]')" = 500
check "all six nodes were asked" \
	test "$(ctl nodes --json | field 'min(n["requests"] for n in r["nodes"]) > 50')" = True
check "in = out + drops + held" conserved

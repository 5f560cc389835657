# SPDX-License-Identifier: BSD-3-Clause
"""table.py STATE: one line a node from `kvlanectl nodes --json`, with the traffic since the call
before (kept in the file STATE); the latencies are of all traffic so far. * = out of the candidates."""
import json
import sys

now = json.load(sys.stdin)["nodes"]
try:
    with open(sys.argv[1]) as f:
        before = json.load(f)
except FileNotFoundError:
    before = {}

all_requests = sum(n["requests"] - before.get(n["id"], {}).get("requests", 0) for n in now)
print("%-5s %-5s %-10s %9s %6s %9s %7s %8s %7s %7s" % (
    "node", "zone", "state", "requests", "share", "hits", "errors", "timeouts", "p50 us", "p95 us"))
for n in now:
    last = before.get(n["id"], {})
    requests, hits, timeouts = (n[k] - last.get(k, 0) for k in ("requests", "hits", "timeouts"))
    errors = n["errors"] + n["rejects"] - last.get("errors", 0) - last.get("rejects", 0)
    print("%-5s %-5s %-10s %9d %5.1f%% %9d %7d %8d %7.0f %7.0f" % (
        n["id"], n["zone"], n["state"] if n["eligible"] else n["state"] + "*", requests,
        100 * requests / all_requests if all_requests else 0, hits, errors, timeouts,
        n["p50_us"], n["p95_us"]))
print(flush=True)
with open(sys.argv[1], "w") as f:
    json.dump({n["id"]: n for n in now}, f)

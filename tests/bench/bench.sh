#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# bench.sh: what a packet costs, by itself and in the whole program; docs/performance.md says how
# it is measured. Prints tables and writes $BUILD/bench.json. Three minutes; two CPUs; needs root.
# Nothing passes or fails by its figures.
set -euo pipefail
cd "$(dirname "$0")/../.."
BUILD=${BUILD:-$PWD/build}
RUN=$(mktemp -d)
trap 'rm -rf "$RUN"' EXIT

cpu=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
dpdk=$(pkg-config --modversion libdpdk)
echo "$cpu, $(nproc) CPUs; Linux $(uname -r); DPDK $dpdk; load $(cut -d ' ' -f 1 /proc/loadavg)"
echo

"$BUILD/tests/pipeline_bench" -j "$RUN/pipeline.json"
tsc_hz=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["tsc_hz"])' \
	"$RUN/pipeline.json")
python3 -B tests/bench/compare.py --build "$BUILD" --tsc-hz "$tsc_hz" --json "$RUN/compare.json"

CPU=$cpu DPDK=$dpdk python3 - "$RUN" "$BUILD/bench.json" <<'PYTHON'
import datetime, json, os, platform, sys

folder, out = sys.argv[1:]
pipeline = json.load(open(f"{folder}/pipeline.json"))
machine = {"cpu": os.environ["CPU"], "cpus": os.cpu_count(), "tsc_hz": pipeline.pop("tsc_hz"),
           "kernel": platform.release(), "dpdk": os.environ["DPDK"]}
json.dump({"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
           "machine": machine, "cycles_per_packet": pipeline,
           "programs": json.load(open(f"{folder}/compare.json"))}, open(out, "w"), indent=1)
PYTHON
echo
echo "all figures: $BUILD/bench.json"

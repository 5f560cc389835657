#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# run.sh BUILD SECONDS: each libFuzzer target for so long, from its corpus in the tree. New inputs
# go to the build folder; a finding is kept there and fails the run.
set -uo pipefail
cd "$(dirname "$0")"
build=$1 seconds=$2 status=0 passed=0 failed=0

for target in "$build"/tests/fuzz_*; do
	[ -x "$target" ] && [ -f "$target" ] || continue
	name=$(basename "$target")
	name=${name#fuzz_}
	grown=$build/corpus/$name
	mkdir -p "$grown" "$build/findings"
	if "$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
		-artifact_prefix="$build/findings/$name-" "$grown" "corpus/$name" >"$build/$name.log" 2>&1; then
		runs=$(awk '/number_of_executed_units/ {print $2}' "$build/$name.log")
		echo "pass  fuzz/$name: $runs runs in $seconds s, no finding"
		passed=$((passed + 1))
	else
		echo "FAIL  fuzz/$name: see $build/findings"
		tail -n 40 "$build/$name.log"
		failed=$((failed + 1)) status=1
	fi
done
echo "$passed passed, $failed failed"
[ $passed -gt 0 ] || status=1
exit $status

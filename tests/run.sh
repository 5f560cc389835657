#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# run.sh [NAME]...: unit tests, source rules and end-to-end scenarios (or those whose name contains
# a NAME), from $BUILD. One line each, output only of what failed; the last line counts.
set -uo pipefail
cd "$(dirname "$0")/.."
BUILD=${BUILD:-$PWD/build}
export BUILD
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-halt_on_error=1:print_stacktrace=1}
passed=0 failed=0 skipped=0

wanted() {
	local name
	[ $# -gt 1 ] || return 0
	for name in "${@:2}"; do
		[[ $1 == *"$name"* ]] && return 0
	done
	return 1
}

# Runs one test program; counts cmocka's tests or "ok:" lines, else the program itself.
run_one() { # NAME COMMAND...
	local name=$1 out status n bad start=$SECONDS
	shift
	out=$(mktemp)
	"$@" >"$out" 2>&1 </dev/null
	status=$?
	n=$(grep -cE '^\[ +OK \]|^ok: ' "$out")
	if [ $status -eq 77 ]; then
		skipped=$((skipped + 1))
		printf 'SKIP  %s: %s\n' "$name" "$(tail -n 1 "$out")"
	elif [ $status -eq 0 ]; then
		passed=$((passed + (n > 0 ? n : 1)))
		printf 'pass  %-32s %4d  %3d s\n' "$name" $((n > 0 ? n : 1)) $((SECONDS - start))
	else
		bad=$(grep -cE '^\[ +FAILED +\] [a-z_0-9]+$' "$out")
		passed=$((passed + n))
		failed=$((failed + (bad > 0 ? bad : 1)))
		printf 'FAIL  %s (exit status %d)\n' "$name" "$status"
		sed 's/^/      | /' "$out" | tail -n 60
	fi
	rm -f "$out"
}

while IFS=$'\t' read -r name command; do
	if wanted "$name" "$@"; then
		# shellcheck disable=SC2086
		run_one "$name" $command
	fi
done < <(meson introspect --tests "$BUILD" | python3 -c '
import json, sys
for t in json.load(sys.stdin):
    print(t["name"] + "\t" + " ".join(t["cmd"]))')

wanted lint/rules "$@" && run_one lint/rules tools/rules.sh
for script in tests/e2e/[a-z]*.sh; do
	name=e2e/$(basename "$script" .sh)
	wanted "$name" "$@" && run_one "$name" "$script"
done

if [ $skipped -gt 0 ]; then
	echo "$passed passed, $failed failed, $skipped skipped"
else
	echo "$passed passed, $failed failed"
fi
[ $failed -eq 0 ] && [ $passed -gt 0 ]

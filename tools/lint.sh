#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Formatting, static analysis, and the rules of the architecture.
set -uo pipefail
cd "$(dirname "$0")/.."
status=0
sources=$(git ls-files -co --exclude-standard '*.c' '*.h')

say() {
	printf '%-28s %s\n' "$1" "$2"
}

# shellcheck disable=SC2086
bad=$(clang-format --dry-run --Werror $sources 2>&1 | grep -oE '^[^:]+:[0-9]+' | sort -u)
if [ -z "$bad" ]; then
	say clang-format ok
else
	say clang-format "differs in $(echo "$bad" | cut -d: -f1 | sort -u | wc -l) files:"
	echo "$bad" | head -n 20
	status=1
fi

# The checks across files (ctu) take what a callee fills for what it reads.
# Findings that cannot be helped are suppressed where they stand, with the reason.
if cppcheck --quiet --error-exitcode=1 --enable=warning,portability --inline-suppr --std=c11 \
	--suppress=missingIncludeSystem --suppress=unknownMacro \
	--suppress=ctuuninitvar --suppress=ctuPointerArith --suppress='*:*_test.c' --suppress='*:*/test_*.c' \
	'-DLIST_HEAD(a,b)=struct b' --suppress='*:/usr/include/*' \
	-DRTE_CACHE_LINE_SIZE=64 -I. lib dataplane ctrl; then
	say cppcheck ok
else
	say cppcheck findings
	status=1
fi

if tools/rules.sh; then
	say rules ok
else
	status=1
fi
exit $status

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Rules of the architecture that a compiler does not check. Prints "ok: RULE" for each that holds.
set -uo pipefail
cd "$(dirname "$0")/.."
status=0

rule() { # WHAT: complaints on stdin
	local found
	found=$(cat)
	if [ -z "$found" ]; then
		echo "ok: $1"
	else
		printf 'broken: %s\n%s\n' "$1" "$found"
		status=1
	fi
}

code() { # DIR...: C sources that are no tests
	git ls-files -co --exclude-standard "$@" | grep -E '\.[ch]$' | grep -vE '_test\.c$|/test_'
}

# What runs per packet. Set-up (setup.c, clients.c, port/) may allocate, idle.c may sleep.
per_packet=$(code dataplane | grep -vE '^dataplane/(port/|setup\.c|clients\.c|idle\.[ch])')
# shellcheck disable=SC2086
grep -nE '\b(malloc|calloc|realloc|free|strdup|rte_[a-z]*malloc[a-z_]*|rte_free|printf|fprintf|snprintf|syslog|rte_log|RTE_LOG|kvl_log|pthread_[a-z_]+|rte_spinlock_[a-z]+|rte_rwlock_[a-z]+|nanosleep|usleep|sleep|read|write|send|recv|ioctl|clock_gettime|gettimeofday|time)\(' \
	$per_packet | rule "no allocation, lock, log or system call in what runs per packet"

code lib | xargs grep -nE '#include <rte_' | rule "lib/ includes no DPDK header"
code lib | xargs grep -nE '#include "(dataplane|ctrl)/' | rule "lib/ knows neither dataplane/ nor ctrl/"
code dataplane | xargs grep -nE '#include "ctrl/' | rule "dataplane/ does not know ctrl/"
code lib dataplane ctrl | xargs grep -LE 'SPDX-License-Identifier' | rule "every source names its licence"
code lib dataplane ctrl | grep '\.h$' | xargs grep -L '#pragma once' | rule "every header is guarded"
code lib dataplane ctrl | xargs awk 'length($0) > 140 {print FILENAME ":" FNR ": too long"}' |
	rule "no line is far over 100 columns"
git ls-files -co --exclude-standard "*.c" "*.h" | xargs wc -l | awk '$1 > 600 && $2 != "total" {print $2 ": " $1 " lines"}' |
	rule "no file is over 600 lines"
# Operators read names there, not the headers.
{
	sed -n '/define KVL_\(DROPS\|VERDICTS\)/,/^$/p' dataplane/counters.h lib/proto/request.h |
		grep -oE '"[a-z_]+"' | tr -d '"'
	sed -n '/define KVL_\(POLICY\|SLOW\|EXCEPTION\)_COUNTERS/,/^$/s/.*X(\([a-z_]*\)).*/\1/p' \
		dataplane/counters.h ctrl/core/slow_path.h ctrl/core/exception.h
} | sort -u | while read -r name; do
	grep -qE "[\`.]$name\`" docs/counters.md || echo "$name"
done | rule "every counter's name is in docs/counters.md"
exit $status

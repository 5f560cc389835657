#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Reserves 2 MB hugepages for the router when there are too few, and says so. kvlaned runs without
# them too, at a cost, so failing to get them is no error.
set -eu
want=${1:-512}
file=/proc/sys/vm/nr_hugepages

have=$(cat $file)
if [ "$have" -ge "$want" ]; then
	exit 0
fi
if echo "$want" 2>/dev/null >$file; then
	echo "hugepages: $(cat $file) pages of 2 MB reserved (there were $have; \`echo $have >$file\` undoes it)"
else
	echo "hugepages: cannot reserve any; kvlaned will run without them" >&2
fi

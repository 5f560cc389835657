#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# plot.sh CSV SVG: kvsim's CSV as bars, p99 over the oracle's at 70% load, policies side by side.
set -eu
csv=$1 svg=$2
data=$(mktemp)
trap 'rm -f "$data"' EXIT
awk -F, '
	NR > 1 && $1 == "0.70" && $3 ~ /^(random|leastinflight|p2c|c3|prequal|kvl-p2c|kvlane)$/ {
		if (!($2 in seen)) { seen[$2] = 1; order[++n] = $2 }
		ratio[$2, $3] = $6
	}
	END {
		split("random leastinflight p2c c3 prequal kvl-p2c kvlane", policy, " ")
		line = "scenario"
		for (p = 1; p <= 7; p++) line = line " " policy[p]
		print line
		for (i = 1; i <= n; i++) {
			line = order[i]
			for (p = 1; p <= 7; p++) line = line " " ratio[order[i], policy[p]]
			print line
		}
	}' "$csv" >"$data"
gnuplot <<EOF
set terminal svg size 1000,420 font "sans,12"
set output "$svg"
set title "p99 over the oracle's, 70% load, N = 3 (log scale; 10 = requests fail)"
set style data histogram
set style histogram clustered gap 1.5
set style fill solid 0.9 border -1
set logscale y
set yrange [0.95:11]
set ytics (1, 1.25, 1.5, 2, 3, 5, 10)
set grid y
set key outside right
set xtics nomirror rotate by -20
plot for [i=2:8] "$data" using i:xtic(1) title columnheader(i) linecolor i-1
EOF

/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/sim/tally.h"

#define SUB (UINT64_C(1) << TALLY_SUB_BITS)

static uint32_t bucket_of(uint64_t ns)
{
	uint32_t exp;

	if (ns < SUB)
		return (uint32_t)ns;
	exp = 63 - __builtin_clzll(ns);
	return (exp - TALLY_SUB_BITS + 1) * SUB + ((ns >> (exp - TALLY_SUB_BITS)) & (SUB - 1));
}

static double bucket_middle(uint32_t b)
{
	uint32_t shift = b < 2 * SUB ? 0 : b / SUB - 1;

	return b < SUB ? b
		       : (double)((SUB + b % SUB) << shift) + (double)(UINT64_C(1) << shift) / 2;
}

void tally_add(struct sim_tally *t, uint64_t ns)
{
	uint32_t b = bucket_of(ns);

	t->count[b < TALLY_BUCKETS ? b : TALLY_BUCKETS - 1]++;
	t->total++;
	t->sum_ns += (double)ns;
}

double tally_quantile_ms(const struct sim_tally *t, double quantile)
{
	uint64_t rank = (uint64_t)(quantile * (double)t->total) + 1, seen = 0;

	for (uint32_t b = 0; b < TALLY_BUCKETS; b++) {
		seen += t->count[b];
		if (seen >= rank)
			return bucket_middle(b) / 1e6;
	}
	return 0;
}

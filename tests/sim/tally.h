/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

/* Latencies to 0.1% (1024 buckets a power of two), which tells policies apart that a router's own
 * histogram would call equal. */
#define TALLY_SUB_BITS 10
#define TALLY_BUCKETS  ((40 - TALLY_SUB_BITS) << TALLY_SUB_BITS)

struct sim_tally {
	uint64_t count[TALLY_BUCKETS]; /* in nanoseconds */
	uint64_t total, failed;
	double sum_ns;
};

void tally_add(struct sim_tally *t, uint64_t ns);
double tally_quantile_ms(const struct sim_tally *t, double quantile);

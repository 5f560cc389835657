/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

/*
 * Log-linear latency histogram, in microseconds: KVL_HIST_SUB buckets per power of two, so a
 * value is known to within half a bucket, 1/(2*KVL_HIST_SUB) = 3.2% of it (SPEC 6.2; the scheme of
 * HdrHistogram). Fixed size, no allocation. One writer; readers may sum it while it is written and
 * see a count late, never a wrong one.
 */
#define KVL_HIST_SUB_BITS 4
#define KVL_HIST_SUB      (1u << KVL_HIST_SUB_BITS)
#define KVL_HIST_MAX_US   (1u << 24) /* 16.8 s; longer ones count in the last bucket */
#define KVL_HIST_BUCKETS  ((24 - KVL_HIST_SUB_BITS + 1) * KVL_HIST_SUB)

struct kvl_histogram {
	uint32_t count[KVL_HIST_BUCKETS]; /* wraps; readers take differences */
};

static inline uint32_t kvl_hist_bucket(uint32_t us)
{
	uint32_t exp;

	if (us >= KVL_HIST_MAX_US)
		return KVL_HIST_BUCKETS - 1;
	if (us < KVL_HIST_SUB)
		return us;
	exp = 31 - __builtin_clz(us); /* >= KVL_HIST_SUB_BITS */
	return (exp - KVL_HIST_SUB_BITS + 1) * KVL_HIST_SUB
	       + ((us >> (exp - KVL_HIST_SUB_BITS)) & (KVL_HIST_SUB - 1));
}

static inline void kvl_hist_add(struct kvl_histogram *h, uint32_t us)
{
	h->count[kvl_hist_bucket(us)]++;
}

/* Middle of a bucket's range. */
double kvl_hist_value(uint32_t bucket);

/* Adds from to into. */
void kvl_hist_merge(struct kvl_histogram *into, const struct kvl_histogram *from);

/* since = later - earlier, bucket by bucket, right across a wrap. */
void kvl_hist_since(const struct kvl_histogram *later, const struct kvl_histogram *earlier,
	struct kvl_histogram *since);

uint64_t kvl_hist_total(const struct kvl_histogram *h);

/* The value that `quantile` (0..1) of the samples do not exceed; 0 when there are none. */
double kvl_hist_quantile(const struct kvl_histogram *h, double quantile);

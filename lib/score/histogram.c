/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/score/histogram.h"

/* Bounds of a bucket: exact below KVL_HIST_SUB, 2^shift wide above. */
static uint32_t bucket_shift(uint32_t bucket)
{
	return bucket < 2 * KVL_HIST_SUB ? 0 : bucket / KVL_HIST_SUB - 1;
}

static uint32_t bucket_low(uint32_t bucket)
{
	if (bucket < KVL_HIST_SUB)
		return bucket;
	return (KVL_HIST_SUB + bucket % KVL_HIST_SUB) << bucket_shift(bucket);
}

double kvl_hist_value(uint32_t bucket)
{
	/* Values are whole microseconds: a bucket of width 1 has its only value as its middle. */
	return bucket_low(bucket) + ((1u << bucket_shift(bucket)) - 1) / 2.0;
}

void kvl_hist_merge(struct kvl_histogram *into, const struct kvl_histogram *from)
{
	for (uint32_t b = 0; b < KVL_HIST_BUCKETS; b++)
		into->count[b] += from->count[b];
}

void kvl_hist_since(const struct kvl_histogram *later, const struct kvl_histogram *earlier,
	struct kvl_histogram *since)
{
	/* Unsigned subtraction is right across a wrap. */
	for (uint32_t b = 0; b < KVL_HIST_BUCKETS; b++)
		since->count[b] = later->count[b] - earlier->count[b];
}

uint64_t kvl_hist_total(const struct kvl_histogram *h)
{
	uint64_t total = 0;

	for (uint32_t b = 0; b < KVL_HIST_BUCKETS; b++)
		total += h->count[b];
	return total;
}

double kvl_hist_quantile(const struct kvl_histogram *h, double quantile)
{
	const uint64_t total = kvl_hist_total(h);
	uint64_t rank, seen = 0;

	if (total == 0)
		return 0;
	/* Nearest rank: the smallest value that at least quantile*total samples do not exceed. */
	rank = quantile > 0 ? (uint64_t)(quantile * (double)total) : 0;
	if ((double)rank < quantile * (double)total || rank == 0)
		rank++;
	for (uint32_t b = 0; b < KVL_HIST_BUCKETS; b++) {
		seen += h->count[b];
		if (seen >= rank)
			return kvl_hist_value(b);
	}
	/* quantile above 1, or a count that grew while we summed: the highest there is. */
	for (uint32_t b = KVL_HIST_BUCKETS; b-- > 0;)
		if (h->count[b] != 0)
			return kvl_hist_value(b);
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "lib/score/history.h"

void kvl_history_clear(struct kvl_history *h)
{
	memset(h, 0, sizeof(*h));
}

static unsigned int advance(struct kvl_history *h, uint64_t now_ms)
{
	uint64_t slot = now_ms / KVL_HISTORY_SLOT_MS;

	if (slot >= h->slot + KVL_HISTORY_SLOTS)
		kvl_history_clear(h);
	else
		for (uint64_t s = h->slot + 1; s <= slot; s++) {
			memset(&h->outcomes[s % KVL_HISTORY_SLOTS], 0, sizeof(*h->outcomes));
			memset(&h->latency[s % KVL_HISTORY_SLOTS], 0, sizeof(*h->latency));
		}
	if (slot > h->slot)
		h->slot = slot;
	return h->slot % KVL_HISTORY_SLOTS;
}

static void outcomes_add(struct kvl_outcomes *into, const struct kvl_outcomes *from)
{
	into->replies += from->replies;
	into->errors += from->errors;
	into->rejects += from->rejects;
	into->timeouts += from->timeouts;
}

void kvl_history_add(struct kvl_history *h, const struct kvl_outcomes *outcomes,
	const struct kvl_histogram *latency, uint64_t now_ms)
{
	unsigned int at = advance(h, now_ms);

	outcomes_add(&h->outcomes[at], outcomes);
	if (latency != NULL)
		kvl_hist_merge(&h->latency[at], latency);
}

static double average(const struct kvl_histogram *h, uint64_t total)
{
	double sum = 0;

	for (uint32_t b = 0; b < KVL_HIST_BUCKETS; b++)
		sum += h->count[b] * kvl_hist_value(b);
	return total == 0 ? NAN : sum / (double)total;
}

void kvl_history_read(struct kvl_history *h, uint64_t now_ms, struct kvl_history_sum *sum)
{
	struct kvl_histogram all = {0};
	uint64_t total;

	advance(h, now_ms);
	memset(sum, 0, sizeof(*sum));
	for (unsigned int s = 0; s < KVL_HISTORY_SLOTS; s++) {
		outcomes_add(&sum->outcomes, &h->outcomes[s]);
		kvl_hist_merge(&all, &h->latency[s]);
	}
	total = kvl_hist_total(&all);
	sum->average_us = average(&all, total);
	sum->p99_us = total == 0 ? NAN : kvl_hist_quantile(&all, 0.99);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "lib/score/scorer_internal.h"

static uint64_t gathered_count(const struct kvl_outcomes *o)
{
	return o->replies + o->timeouts;
}

/* One sample of each passive metric from what was gathered. */
static void sample_take(struct kvl_scored_node *n, uint64_t now_ms)
{
	const struct kvl_outcomes *o = &n->gathered;
	double all = (double)gathered_count(o), failed = (double)(o->errors + o->timeouts);

	/* A rejection is an answer, but no measure of how fast the node works (SPEC 4.3). */
	if (o->replies > o->rejects) {
		kvl_window_add(&n->windows[KVL_METRIC_P95_US], KVL_METRIC_P95_US,
			kvl_hist_quantile(&n->gathered_latency, 0.95), now_ms);
		kvl_window_add(&n->windows[KVL_METRIC_P99_US], KVL_METRIC_P99_US,
			kvl_hist_quantile(&n->gathered_latency, 0.99), now_ms);
	}
	kvl_window_add(&n->windows[KVL_METRIC_FAILURES], KVL_METRIC_FAILURES, fmin(failed / all, 1),
		now_ms);
	kvl_window_add(&n->windows[KVL_METRIC_REJECTS], KVL_METRIC_REJECTS,
		fmin((double)o->rejects / all, 1), now_ms);
	memset(&n->gathered, 0, sizeof(n->gathered));
	memset(&n->gathered_latency, 0, sizeof(n->gathered_latency));
	n->gathered_ms = now_ms;
}

/*
 * A sample is due after KVL_SCORER_PERIOD_MS, and when it is made of enough replies: the p99 of
 * three replies is their maximum and says nothing. Where so few come, what there is after
 * KVL_SCORER_PATIENCE_MS must do.
 */
static bool sample_due(const struct kvl_scored_node *n, uint64_t now_ms)
{
	uint64_t count = gathered_count(&n->gathered), age = now_ms - n->gathered_ms;

	if (count >= KVL_SCORER_LEAST)
		return age >= KVL_SCORER_PERIOD_MS;
	return count > 0 && age >= KVL_SCORER_PATIENCE_MS;
}

void kvl_gather(struct kvl_scored_node *n, const struct kvl_seen *seen, uint64_t now_ms)
{
	const struct kvl_outcomes *o = &seen->outcomes;

	if (gathered_count(o) > 0) {
		kvl_history_add(&n->history, o, seen->latency, now_ms);
		n->gathered.replies += o->replies;
		n->gathered.errors += o->errors;
		n->gathered.rejects += o->rejects;
		n->gathered.timeouts += o->timeouts;
		if (seen->latency != NULL)
			kvl_hist_merge(&n->gathered_latency, seen->latency);
	}
	if (sample_due(n, now_ms))
		sample_take(n, now_ms);
}

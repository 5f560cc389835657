/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "lib/score/scorer_internal.h"

static uint64_t gathered_count(const struct kvl_outcomes *o)
{
	return o->replies + o->timeouts;
}

static void rates_take(struct kvl_scored_node *n, uint64_t now_ms)
{
	const struct kvl_outcomes *o = &n->gathered;
	double all = (double)gathered_count(o), failed = (double)(o->errors + o->timeouts);

	kvl_window_add(&n->windows[KVL_METRIC_FAILURES], KVL_METRIC_FAILURES, fmin(failed / all, 1),
		now_ms);
	kvl_window_add(&n->windows[KVL_METRIC_REJECTS], KVL_METRIC_REJECTS,
		fmin((double)o->rejects / all, 1), now_ms);
	memset(&n->gathered, 0, sizeof(n->gathered));
	n->gathered_ms = now_ms;
}

static void latency_take(struct kvl_scored_node *n, uint64_t now_ms)
{
	kvl_window_add(&n->windows[KVL_METRIC_P95_US], KVL_METRIC_P95_US,
		kvl_hist_quantile(&n->gathered_latency, 0.95), now_ms);
	kvl_window_add(&n->windows[KVL_METRIC_P99_US], KVL_METRIC_P99_US,
		kvl_hist_quantile(&n->gathered_latency, 0.99), now_ms);
	memset(&n->gathered_latency, 0, sizeof(n->gathered_latency));
	n->latencies = 0;
	n->latency_ms = now_ms;
}

/*
 * A sample is due after KVL_SCORER_PERIOD_MS, and when it is made of enough: the p99 of three
 * replies is their maximum and says nothing. Where so few come, what there is KVL_SCORER_PATIENCE_MS
 * after the last sample must do.
 */
static bool sample_due(uint64_t count, bool enough, uint64_t age_ms)
{
	return count > 0 && age_ms >= (enough ? KVL_SCORER_PERIOD_MS : KVL_SCORER_PATIENCE_MS);
}

static bool rates_due(const struct kvl_scored_node *n, uint64_t now_ms)
{
	const struct kvl_outcomes *o = &n->gathered;
	uint64_t count = gathered_count(o);

	/* Rejections are no matter of chance, and where a verdict has aged away they should not go
	 * on for long before it is back. */
	return sample_due(count, count >= KVL_SCORER_LEAST || o->rejects >= KVL_SCORER_REJECTS,
		now_ms - n->gathered_ms);
}

static void outcomes_gather(struct kvl_scored_node *n, const struct kvl_seen *seen, uint64_t now_ms)
{
	const struct kvl_outcomes *o = &seen->outcomes;

	kvl_history_add(&n->history, o, seen->latency, now_ms);
	n->gathered.replies += o->replies;
	n->gathered.errors += o->errors;
	n->gathered.rejects += o->rejects;
	n->gathered.timeouts += o->timeouts;
	/* A rejection is an answer, but no measure of how fast the node works (SPEC 4.3). */
	if (seen->latency != NULL && o->replies > o->rejects) {
		kvl_hist_merge(&n->gathered_latency, seen->latency);
		n->latencies += o->replies - o->rejects;
	}
}

void kvl_gather(struct kvl_scored_node *n, const struct kvl_seen *seen, uint64_t now_ms)
{
	if (gathered_count(&seen->outcomes) > 0)
		outcomes_gather(n, seen, now_ms);
	if (rates_due(n, now_ms))
		rates_take(n, now_ms);
	if (sample_due(n->latencies, n->latencies >= KVL_SCORER_LEAST, now_ms - n->latency_ms))
		latency_take(n, now_ms);
}

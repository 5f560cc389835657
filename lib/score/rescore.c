/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/score/fresh.h"
#include "lib/score/scorer_internal.h"

static double value(const struct kvl_scored_node *n, enum kvl_metric metric)
{
	return kvl_window_value(&n->windows[metric], metric);
}

static double or_else(double a, double b)
{
	return isnan(a) ? b : a;
}

static uint32_t flags_of(const struct kvl_scored_node *n, bool stale, uint64_t now_ms)
{
	uint32_t flags = n->report_flags;

	if (stale)
		flags |= KVL_FACT_STALE;
	/* An agent that fell silent before its node did tells nothing of it. */
	if (n->health.silence == KVL_SILENCE_DOUBTED && !kvl_health_eligible(&n->health))
		flags |= KVL_FACT_DEAD;
	if (n->probe_failing)
		flags |= KVL_FACT_PROBE_FAILING;
	if (n->health.state == KVL_HEALTH_COOLDOWN)
		flags |= KVL_FACT_COOLDOWN;
	if (kvl_health_observed(&n->health, now_ms))
		flags |= KVL_FACT_OBSERVED;
	if (n->unconfirmed)
		flags |= KVL_FACT_UNCONFIRMED;
	if (n->far)
		flags |= KVL_FACT_FAR;
	return flags;
}

/*
 * What was reported too long ago to mean anything now. Stay: what the node is made of, and what may
 * not be asked of it (read-only, recovering), where the safe side is to believe it until it is
 * taken back.
 */
static void report_expire(struct kvl_scored_node *n)
{
	for (unsigned int m = 0; m < KVL_METRIC_REPORTED; m++)
		kvl_window_forget(&n->windows[m]);
	n->report_flags &= ~(uint32_t)(KVL_FACT_COMPACTING | KVL_FACT_REPAIRING);
}

/* What was measured too long ago: a verdict must not outlive the traffic that it rests on. */
static void passive_expire(
	struct kvl_scored_node *n, const struct kvl_health_params *params, uint64_t now_ms)
{
	for (unsigned int m = KVL_METRIC_REPORTED; m < KVL_METRIC_COUNT; m++)
		kvl_window_expire(&n->windows[m], params->passive_fresh_ms, now_ms);
}

static void facts_gather(struct kvl_scorer *s, struct kvl_scored_node *n, uint64_t now_ms)
{
	uint64_t limit = kvl_fresh_limit(kvl_fresh_load_ms(s->params.report_interval_ms), s->rate);
	bool stale = n->report_ms != 0 && kvl_fresh_stale(n->report_ms, limit, now_ms);

	if (stale
		&& kvl_fresh_stale(n->report_ms,
			kvl_fresh_load_forget_ms(s->params.report_interval_ms), now_ms))
		report_expire(n);
	passive_expire(n, &s->params.health, now_ms);
	n->facts = (struct kvl_facts){
		.capacity_free = value(n, KVL_METRIC_CAPACITY_FREE),
		.cpu = value(n, KVL_METRIC_CPU),
		.io_wait = value(n, KVL_METRIC_IO_WAIT),
		.load = kvl_load_combine(value(n, KVL_METRIC_CPU), value(n, KVL_METRIC_IO_WAIT),
			fmax(value(n, KVL_METRIC_NETWORK_IN), value(n, KVL_METRIC_NETWORK_OUT))),
		.hit_rate = value(n, KVL_METRIC_HIT_RATE),
		/* What the router measures outranks what the node says of itself (SPEC 4.10). */
		.p95_us = value(n, KVL_METRIC_P95_US),
		.p99_us = or_else(value(n, KVL_METRIC_P99_US), value(n, KVL_METRIC_RTT_P99_US)),
		.error_rate =
			or_else(value(n, KVL_METRIC_FAILURES), value(n, KVL_METRIC_ERROR_RATE)),
		.reject_rate = value(n, KVL_METRIC_REJECTS),
		.queue = value(n, KVL_METRIC_QUEUE),
		.network_cost = n->network_cost,
		.flags = flags_of(n, stale, now_ms),
		.capability = n->capability,
	};
	n->p99_us = or_else(n->facts.p99_us, n->p99_us);
}

static void fleet_measure(struct kvl_scorer *s, uint64_t now_ms)
{
	double *p95 = s->scratch, *p99 = s->scratch + s->max;
	size_t count = 0;

	for (uint32_t i = 0; i < s->max; i++) {
		const struct kvl_scored_node *n = &s->nodes[i];

		if (!n->present || !kvl_health_eligible(&n->health))
			continue;
		p95[count] = n->facts.p95_us;
		p99[count++] = n->facts.p99_us;
	}
	kvl_fleet_measure(&s->fleet, p95, p99, count, now_ms);
}

/* The best that any node is for a class: where all are alike, none is the worse for it. */
static void affinity_measure(struct kvl_scorer *s)
{
	double *best = s->fleet.fleet.best_affinity;

	for (unsigned int c = 0; c < KVL_CLASSES; c++) {
		best[c] = 0;
		for (uint32_t i = 0; i < s->max; i++)
			if (s->nodes[i].present && kvl_health_eligible(&s->nodes[i].health))
				best[c] = fmax(
					best[c], kvl_capability_affinity(s->params.score.capability,
							 &s->nodes[i].capability, c));
	}
}

static void rate_measure(struct kvl_scorer *s, uint64_t now_ms)
{
	if (now_ms > s->scored_ms)
		s->rate = (double)s->requests * 1000 / (double)(now_ms - s->scored_ms);
	s->requests = 0;
}

/* Of those with traffic since the last round: the newest failures and rejections, against the
 * score. */
static void self_check(struct kvl_scorer *s, uint64_t now_ms)
{
	double *scores = s->scratch, *success = s->scratch + s->max;
	size_t count = 0;

	for (uint32_t i = 0; i < s->max; i++) {
		const struct kvl_scored_node *n = &s->nodes[i];

		if (!n->present || !kvl_health_eligible(&n->health)
			|| n->windows[KVL_METRIC_FAILURES].last_ms + KVL_SCORER_LOW_MS <= now_ms)
			continue;
		scores[count] = n->breakdown[0].score;
		success[count++] = 1 - kvl_window_newest(&n->windows[KVL_METRIC_FAILURES])
				   - kvl_window_newest(&n->windows[KVL_METRIC_REJECTS]);
	}
	kvl_self_check_round(&s->self_check, scores, success, count);
}

/* The class that all have in common: small cold reads. */
static void low_judge(struct kvl_scorer *s, struct kvl_scored_node *n, uint64_t now_ms)
{
	bool low = n->breakdown[0].score < s->params.low_score;

	if (kvl_health_low(&n->health, &s->params.health, low, now_ms))
		s->dirty = true;
}

void kvl_rescore(struct kvl_scorer *s, uint64_t now_ms)
{
	bool judge = now_ms >= s->judged_ms + KVL_SCORER_LOW_MS;

	rate_measure(s, now_ms);
	s->scored_ms = now_ms;
	if (judge)
		s->judged_ms = now_ms;
	for (uint32_t i = 0; i < s->max; i++)
		if (s->nodes[i].present)
			facts_gather(s, &s->nodes[i], now_ms);
	fleet_measure(s, now_ms);
	if (s->params.score.capability != NULL)
		affinity_measure(s);
	for (uint32_t i = 0; i < s->max; i++) {
		struct kvl_scored_node *n = &s->nodes[i];

		if (!n->present)
			continue;
		for (unsigned int c = 0; c < KVL_CLASSES; c++)
			kvl_score(
				&s->params.score, &s->fleet.fleet, &n->facts, c, &n->breakdown[c]);
		if (judge)
			low_judge(s, n, now_ms);
	}
	if (judge)
		self_check(s, now_ms);
	s->dirty = true;
}

static enum kvl_filter reason_of(const struct kvl_scored_node *n, unsigned int class)
{
	const struct kvl_filter_node filter = {
		.reachable = n->reachable,
		.ejected = n->ejected,
		.draining = n->draining,
		.health = n->health.state,
		.flags = n->facts.flags,
	};

	return kvl_filter_node(&filter, class);
}

/* The nodes that are there, close together, in scratch space: a spared node is one of a pool. */
static size_t pool_gather(struct kvl_scorer *s, unsigned int class, uint64_t now_ms)
{
	size_t count = 0;

	for (uint32_t i = 0; i < s->max; i++) {
		struct kvl_scored_node *n = &s->nodes[i];

		if (!n->present)
			continue;
		s->reasons[count] = n->own[class] = reason_of(n, class);
		s->scratch[count] = n->breakdown[class].score;
		s->weighed[count++] = (struct kvl_weighed){
			.score = n->breakdown[class].score,
			.share = kvl_health_share(&n->health, &s->params.health, now_ms),
		};
	}
	return count;
}

void kvl_scorer_weights(struct kvl_scorer *s, unsigned int class, uint64_t now_ms,
	uint16_t *weights, uint32_t count)
{
	size_t pool = pool_gather(s, class, now_ms), at = pool;

	kvl_filter_spare(s->reasons, s->scratch, pool, KVL_ROW_MAX);
	for (size_t i = 0; i < pool; i++)
		s->weighed[i].reason = s->reasons[i];
	kvl_weights(&s->params.weights, s->weighed, pool, s->confidence, weights);
	/* Spread them to their numbers, from the back: what is read was not yet written over. */
	for (uint32_t i = count; i-- > 0;) {
		if (i >= s->max || !s->nodes[i].present) {
			weights[i] = 0;
			continue;
		}
		at--;
		s->nodes[i].reason[class] = s->reasons[at];
		weights[i] = weights[at];
	}
}

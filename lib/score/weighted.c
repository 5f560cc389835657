/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/score/score.h"

const struct kvl_score_weights kvl_weights_read_heavy = {0.2, 0.3, 0.2, 0.3, 0};
const struct kvl_score_weights kvl_weights_write_heavy = {0.4, 0.3, 0.2, 0.1, 0.1};

#define PARTS 4

struct part {
	enum kvl_term term;
	double weight;
	double value; /* 0..1, NAN = unknown */
};

static double clamp01(double x)
{
	return x < 0 ? 0 : x > 1 ? 1 : x; /* NAN stays NAN */
}

static double latency_health(const struct kvl_score_params *params, const struct kvl_fleet *fleet,
	const struct kvl_facts *facts)
{
	double ceiling = params->ceiling_us > 0 ? params->ceiling_us : fleet->worst_p95_us;

	if (!(ceiling > 0))
		return KVL_UNKNOWN;
	return clamp01(1 - facts->p95_us / ceiling);
}

/*
 * The mean of what is known, by weight: what an unknown term is taken for. So a metric that a node
 * does not have neither helps nor harms it against nodes that have it. Nothing known: half way.
 */
static double neutral(const struct part *parts)
{
	double sum = 0, weight = 0;

	for (int i = 0; i < PARTS; i++) {
		if (isnan(parts[i].value))
			continue;
		sum += parts[i].weight * parts[i].value;
		weight += parts[i].weight;
	}
	return weight > 0 ? sum / weight : 0.5;
}

void kvl_score_weighted(const struct kvl_score_params *params, const struct kvl_fleet *fleet,
	const struct kvl_facts *facts, struct kvl_breakdown *b)
{
	const struct kvl_score_weights *w = &params->weights;
	const struct part parts[PARTS] = {
		{KVL_TERM_CAPACITY_FREE, w->capacity_free, clamp01(facts->capacity_free)},
		{KVL_TERM_LOAD, w->load, clamp01(1 - facts->load)},
		{KVL_TERM_LATENCY_HEALTH, w->latency, latency_health(params, fleet, facts)},
		{KVL_TERM_LOCAL_HIT, w->hit, clamp01(facts->hit_rate)},
	};
	double middle = neutral(parts), sum = w->capacity_free + w->load + w->latency + w->hit;

	/* Weights are relative: by more than 1 in all, good and better would both be 100. */
	for (int i = 0; i < PARTS && sum > 0; i++) {
		double value = isnan(parts[i].value) ? middle : parts[i].value;

		kvl_breakdown_add(b, parts[i].term, 100 * parts[i].weight / sum * value);
	}
	/* SPEC 4.3: here, unlike in the penalty model, no term knows of errors yet. */
	if (facts->error_rate > 0)
		kvl_breakdown_scale(b, KVL_TERM_SUCCESS, 1 - clamp01(facts->error_rate));
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/score/score.h"

#define REJECTS_FACTOR     0.8  /* SPEC 4.3 */
#define UNCONFIRMED_FACTOR 0.85 /* SPEC 5.3 "lowered": as much as the first anomaly */
#define OBSERVED_FACTOR    0.85 /* SPEC 6.6 */
#define COOLDOWN_FACTOR    0.2  /* SPEC 4.2: ranks under fail-open only */

struct kvl_score_params kvl_score_defaults(void)
{
	return (struct kvl_score_params){
		.model = KVL_SCORE_PENALTY,
		.weights = kvl_weights_read_heavy,
		.cpu_threshold = 0.70,
		.io_threshold = 0.20,
		.queue_high = 20,
		.reject_threshold = 0.01,
	};
}

/*
 * A rejecting node looks fast (SPEC 4.3, "false health"), so latency must not make up for it: the
 * share of requests that it serves at all scales the score, and above the threshold a fifth more.
 */
static void rejects_apply(const struct kvl_score_params *params, const struct kvl_facts *facts,
	struct kvl_breakdown *b)
{
	double rate = fmin(facts->reject_rate, 1);

	if (facts->reject_rate > params->reject_threshold)
		kvl_breakdown_scale(b, KVL_TERM_REJECTS, REJECTS_FACTOR * (1 - rate));
}

static void network_apply(const struct kvl_score_params *params, const struct kvl_facts *facts,
	unsigned int class, struct kvl_breakdown *b)
{
	bool counts = (class & KVL_CLASS_WRITE) || (facts->flags & KVL_FACT_FAR);

	if (counts && facts->network_cost > 0 && params->weights.network > 0)
		kvl_breakdown_add(b, KVL_TERM_NETWORK_COST,
			-100 * params->weights.network * fmin(facts->network_cost, 1));
}

static void flag_apply(const struct kvl_facts *facts, uint32_t flag, enum kvl_term term,
	double factor, struct kvl_breakdown *b)
{
	if (facts->flags & flag)
		kvl_breakdown_scale(b, term, factor);
}

/* A deduction below zero would turn the multipliers that follow into gifts. */
static void floor_zero(struct kvl_breakdown *b)
{
	double sum = kvl_breakdown_sum(b);

	if (sum < -1e-9)
		kvl_breakdown_add(b, KVL_TERM_CLAMP, -sum);
}

void kvl_score(const struct kvl_score_params *params, const struct kvl_fleet *fleet,
	const struct kvl_facts *facts, unsigned int class, struct kvl_breakdown *b)
{
	double affinity = kvl_capability_affinity(params->capability, &facts->capability, class);

	if (params->capability != NULL && fleet->best_affinity[class] > 0)
		affinity /= fleet->best_affinity[class];
	kvl_breakdown_clear(b);
	if (params->model == KVL_SCORE_WEIGHTED)
		kvl_score_weighted(params, fleet, facts, b);
	else
		kvl_score_penalty(params, fleet, facts, b);
	network_apply(params, facts, class, b);
	floor_zero(b);
	rejects_apply(params, facts, b);
	if (affinity < 1)
		kvl_breakdown_scale(b, KVL_TERM_CAPABILITY, affinity);
	flag_apply(facts, KVL_FACT_UNCONFIRMED, KVL_TERM_UNCONFIRMED, UNCONFIRMED_FACTOR, b);
	flag_apply(facts, KVL_FACT_OBSERVED, KVL_TERM_OBSERVATION, OBSERVED_FACTOR, b);
	flag_apply(facts, KVL_FACT_COOLDOWN, KVL_TERM_COOLDOWN, COOLDOWN_FACTOR, b);
	kvl_breakdown_finish(b);
}

const char *kvl_score_model_name(enum kvl_score_model model)
{
	return model == KVL_SCORE_WEIGHTED ? "weighted" : "penalty";
}

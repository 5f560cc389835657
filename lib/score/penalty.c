/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/score/score.h"

/* SPEC 4.2's figures. */
#define POINTS_PER_SHARE 40 /* 2 points for each 5% over */
#define SHARE_MOST       30
#define P99_PER_DOUBLING 15 /* for each 100% over the baseline */
#define P99_MOST         25
#define ERRORS_PER_SHARE 500
#define ERRORS_MOST      15
#define QUEUE_POINTS     10

struct multiplier {
	uint32_t flag;
	enum kvl_term term;
	double factor;
};

static const struct multiplier multipliers[] = {
	{KVL_FACT_DEAD, KVL_TERM_HEARTBEAT, 0},
	{KVL_FACT_PROBE_FAILING, KVL_TERM_PROBE, 0.3},
	{KVL_FACT_COMPACTING, KVL_TERM_COMPACTING, 0.7},
	{KVL_FACT_REPAIRING, KVL_TERM_REPAIRING, 0.5},
};

/* Takes rate * per points, at most `most`; nothing when the rate is unknown or not above 0. */
static void deduct(
	struct kvl_breakdown *b, enum kvl_term term, double rate, double per, double most)
{
	if (!(rate > 0))
		return;
	kvl_breakdown_add(b, term, -fmin(rate * per, most));
}

static double p99_over(const struct kvl_score_params *params, const struct kvl_fleet *fleet,
	const struct kvl_facts *facts)
{
	double baseline = params->baseline_us > 0 ? params->baseline_us : fleet->baseline_p99_us;

	return baseline > 0 ? facts->p99_us / baseline - 1 : KVL_UNKNOWN;
}

void kvl_score_penalty(const struct kvl_score_params *params, const struct kvl_fleet *fleet,
	const struct kvl_facts *facts, struct kvl_breakdown *b)
{
	kvl_breakdown_add(b, KVL_TERM_BASE, 100);
	for (size_t i = 0; i < sizeof(multipliers) / sizeof(*multipliers); i++)
		if (facts->flags & multipliers[i].flag)
			kvl_breakdown_scale(b, multipliers[i].term, multipliers[i].factor);

	deduct(b, KVL_TERM_CPU, facts->cpu - params->cpu_threshold, POINTS_PER_SHARE, SHARE_MOST);
	deduct(b, KVL_TERM_P99, p99_over(params, fleet, facts), P99_PER_DOUBLING, P99_MOST);
	deduct(b, KVL_TERM_ERRORS, facts->error_rate, ERRORS_PER_SHARE, ERRORS_MOST);
	if (facts->queue > params->queue_high)
		kvl_breakdown_add(b, KVL_TERM_QUEUE, -QUEUE_POINTS);
	deduct(b, KVL_TERM_IO_WAIT, facts->io_wait - params->io_threshold, POINTS_PER_SHARE,
		SHARE_MOST);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/api/format.h"
#include "ctrl/api/score_parts.h"

/* How long ago; null = never. */
static json_t *age(uint64_t then_ms, uint64_t now_ms)
{
	return then_ms == 0 || then_ms > now_ms ? json_null()
						: json_integer((json_int_t)(now_ms - then_ms));
}

/* How long still; null = not at all. */
static json_t *left(uint64_t until_ms, uint64_t now_ms)
{
	return until_ms == KVL_HEALTH_NEVER || until_ms <= now_ms
		       ? json_null()
		       : json_integer((json_int_t)(until_ms - now_ms));
}

json_t *score_health(const struct kvl_router *r, uint16_t number, uint64_t now_ms)
{
	const struct kvl_scored_node *n = r->nodes.list[number].scored;
	const struct kvl_health_params *params =
		&kvl_scoring_params(r->nodes.scoring, number)->health;
	const struct kvl_health *h = &n->health;
	uint64_t probe_at = kvl_health_probe_at(h, params);

	return json_pack("{s:s, s:o, s:i, s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:b, s:b, s:f, s:s}",
		"state", kvl_health_name(h->state), "state_age_ms", age(h->since_ms, now_ms),
		"failures", (int)h->failures, "successes", (int)h->successes, "low_scores",
		(int)h->low_scores, "falls", (int)h->falls, "cooldown_left_ms",
		left(kvl_health_cooldown_until(h, params), now_ms), "passive_age_ms",
		age(h->passive_ms, now_ms), "alive_age_ms", age(h->alive_ms, now_ms),
		"probe_age_ms", age(h->probe_ms, now_ms), "probing", probe_at != KVL_HEALTH_NEVER,
		"probe_failing", n->probe_failing, "phi", kvl_phi(&n->phi, now_ms), "silence",
		kvl_silence_name(h->silence));
}

json_t *score_windows(const struct kvl_scored_node *n)
{
	json_t *object = json_object();

	for (unsigned int m = 0; m < KVL_METRIC_COUNT; m++) {
		const struct kvl_window *w = &n->windows[m];

		if (w->live == 0)
			continue;
		json_object_set_new(object, kvl_metric_name(m),
			json_pack("{s:o, s:o, s:i}", "value",
				kvl_json_number(kvl_window_value(w, m)), "newest",
				kvl_json_number(kvl_window_newest(w)), "samples", (int)w->live));
	}
	return object;
}

json_t *score_history(struct kvl_scored_node *n, uint64_t now_ms)
{
	struct kvl_history_sum sum;

	kvl_history_read(&n->history, now_ms, &sum);
	return json_pack("{s:I, s:I, s:I, s:I, s:o, s:o}", "replies",
		(json_int_t)sum.outcomes.replies, "errors", (json_int_t)sum.outcomes.errors,
		"rejects", (json_int_t)sum.outcomes.rejects, "timeouts",
		(json_int_t)sum.outcomes.timeouts, "average_us", kvl_json_number(sum.average_us),
		"p99_us", kvl_json_number(sum.p99_us));
}

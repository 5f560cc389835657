/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/api/format.h"
#include "ctrl/api/score_parts.h"

static json_t *profile_object(const struct kvl_scoring_pool *p)
{
	char text[KVL_PROFILE_TEXT];

	return json_pack("{s:s, s:s, s:s, s:I, s:o}", "active", kvl_profile_name(p->profile), "by",
		kvl_profile_by_name(p->rule->by), "rule", kvl_profile_format(p->rule, text),
		"age_ms", (json_int_t)p->profile_age_ms, "read_share",
		kvl_json_number(p->read_share));
}

static json_t *weights_object(const struct kvl_score_weights *w)
{
	return json_pack("{s:f, s:f, s:f, s:f, s:f}", "capacity_free", w->capacity_free, "load",
		w->load, "latency", w->latency, "hit", w->hit, "network", w->network);
}

static json_t *self_check_object(const struct kvl_self_check *c)
{
	return json_pack("{s:b, s:o, s:i, s:i}", "alarm", c->alarm, "correlation",
		kvl_json_number(kvl_self_check_correlation(c)), "parted", (int)c->parted, "met",
		(int)c->met);
}

static json_t *pool_object(const struct kvl_scoring_pool *p)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:b, s:o, s:o, s:o}", "name", p->name,
		"service", p->service, "model", kvl_score_model_name(p->params->score.model),
		"choice", kvl_choice_name(p->choice), "profile", profile_object(p), "weights",
		weights_object(&p->params->score.weights), "capability",
		p->params->score.capability != NULL, "worst_p95_us",
		kvl_json_number(p->fleet->worst_p95_us), "baseline_p99_us",
		kvl_json_number(p->fleet->baseline_p99_us), "self_check",
		self_check_object(p->self_check));
}

json_t *score_pools(const struct kvl_router *r, uint64_t now_ms)
{
	json_t *list = json_array();
	struct kvl_scoring_pool pool;

	for (unsigned int i = 0; i < KVL_SERVICES_MAX; i++)
		if (kvl_scoring_pool(r->nodes.scoring, i, now_ms, &pool))
			json_array_append_new(list, pool_object(&pool));
	return list;
}

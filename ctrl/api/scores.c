/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/api/commands.h"
#include "ctrl/api/format.h"
#include "ctrl/core/clock.h"
#include "ctrl/core/router.h"

/*
 * Each node's score and where it came from: every term under its fixed name in points of 100, the
 * figures that the terms were worked out from, and the weight that came of it.
 */

static json_t *number_or_null(double value)
{
	return isnan(value) ? json_null() : json_real(value);
}

static json_t *terms_object(const struct kvl_breakdown *b)
{
	json_t *object = json_object();

	for (unsigned int t = 0; t < KVL_TERM_COUNT; t++)
		if (b->known & 1u << t)
			json_object_set_new(object, kvl_term_name(t), json_real(b->points[t]));
	return object;
}

static json_t *class_object(const struct kvl_router *r, const struct kvl_scored_node *n,
	uint16_t number, unsigned int class)
{
	const struct kvl_root *root = kvl_publisher_root(r->publisher);
	unsigned int weight = number < root->node_count ? kvl_root_weights(root, class)[number] : 0;

	return json_pack("{s:f, s:i, s:s, s:o}", "score", n->breakdown[class].score, "weight",
		(int)weight, "filter", kvl_filter_name(n->reason[class]), "terms",
		terms_object(&n->breakdown[class]));
}

static json_t *facts_object(const struct kvl_facts *f)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "p95_us",
		number_or_null(f->p95_us), "p99_us", number_or_null(f->p99_us), "error_rate",
		number_or_null(f->error_rate), "reject_rate", number_or_null(f->reject_rate), "cpu",
		number_or_null(f->cpu), "io_wait", number_or_null(f->io_wait), "load",
		number_or_null(f->load), "queue", number_or_null(f->queue), "capacity_free",
		number_or_null(f->capacity_free), "hit_rate", number_or_null(f->hit_rate), "stale",
		(f->flags & KVL_FACT_STALE) != 0);
}

/* Figures that were refused (SPEC 4.7), by fault. */
static json_t *rejected_object(const struct kvl_scored_node *n)
{
	json_t *object = json_object();

	for (unsigned int f = KVL_METRIC_OK + 1; f < KVL_METRIC_FAULTS; f++) {
		json_int_t sum = 0;

		for (unsigned int m = 0; m < KVL_METRIC_COUNT; m++)
			sum += (json_int_t)n->windows[m].rejected[f];
		json_object_set_new(object, kvl_metric_fault_name(f), json_integer(sum));
	}
	return object;
}

static json_t *node_object(const struct kvl_router *r, uint16_t number)
{
	const struct kvl_node *node = &r->nodes.list[number];
	const struct kvl_scored_node *n = node->scored;
	uint64_t now = kvl_now_ms();

	return json_pack("{s:s, s:s, s:s, s:f, s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "id",
		node->config.id, "pool", node->config.pool, "state",
		kvl_health_name(n->health.state), "share",
		kvl_health_share(
			&n->health, &kvl_scoring_params(r->nodes.scoring, number)->health, now),
		"observed", kvl_health_observed(&n->health, now), "reason",
		kvl_json_text(node->reason), "read", class_object(r, n, number, 0), "write",
		class_object(r, n, number, KVL_CLASS_WRITE), "facts", facts_object(&n->facts),
		"report_age_ms",
		n->report_ms == 0 ? json_null() : json_integer((json_int_t)(now - n->report_ms)),
		"rejected", rejected_object(n));
}

json_t *kvl_command_scores(void *ctx, const json_t *params, struct kvl_message_error *error)
{
	const struct kvl_router *r = ctx;
	json_t *list = json_array();

	for (uint32_t n = 0; n < r->nodes.count; n++)
		if (r->nodes.list[n].present && r->nodes.list[n].scored != NULL)
			json_array_append_new(list, node_object(r, (uint16_t)n));
	return json_pack(
		"{s:I, s:o}", "revision", (json_int_t)r->topology->revision, "nodes", list);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "ctrl/api/commands.h"
#include "ctrl/api/format.h"
#include "ctrl/api/score_parts.h"
#include "ctrl/core/clock.h"
#include "ctrl/core/router.h"

/*
 * Each node's score and where it came from: every term under its fixed name in points of 100, the
 * figures that the terms were worked out from, and the weight that came of it.
 */

static json_t *class_object(const struct kvl_router *r, const struct kvl_scored_node *n,
	uint16_t number, unsigned int class)
{
	const struct kvl_root *root = kvl_publisher_root(r->publisher);
	unsigned int weight = number < root->node_count ? kvl_root_weights(root, class)[number] : 0;

	return json_pack("{s:f, s:i, s:s, s:o}", "score", n->breakdown[class].score, "weight",
		(int)weight, "filter", kvl_filter_name(n->reason[class]), "terms",
		kvl_json_terms(&n->breakdown[class]));
}

static json_t *facts_object(const struct kvl_facts *f)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "p95_us",
		kvl_json_number(f->p95_us), "p99_us", kvl_json_number(f->p99_us), "error_rate",
		kvl_json_number(f->error_rate), "reject_rate", kvl_json_number(f->reject_rate),
		"cpu", kvl_json_number(f->cpu), "io_wait", kvl_json_number(f->io_wait), "load",
		kvl_json_number(f->load), "queue", kvl_json_number(f->queue), "capacity_free",
		kvl_json_number(f->capacity_free), "hit_rate", kvl_json_number(f->hit_rate),
		"stale", (f->flags & KVL_FACT_STALE) != 0);
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

static json_t *capability_object(const struct kvl_capability *c)
{
	static const char *const disks[] = {
		[KVL_DISK_UNKNOWN] = NULL, [KVL_DISK_HDD] = "hdd", [KVL_DISK_SSD] = "ssd"};

	return json_pack("{s:o, s:i, s:i}", "disk", kvl_json_text(disks[c->disk]), "nic_mbit",
		(int)c->nic_mbit, "memory_mb", (int)c->memory_mb);
}

static json_t *node_object(const struct kvl_router *r, uint16_t number)
{
	const struct kvl_node *node = &r->nodes.list[number];
	const struct kvl_scored_node *n = node->scored;
	uint64_t now = kvl_now_ms();

	return json_pack("{s:s, s:s, s:s, s:b, s:f, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
		"id", node->config.id, "pool", node->config.pool, "state",
		kvl_health_name(n->health.state), "unconfirmed", node->config.unconfirmed, "share",
		kvl_health_share(
			&n->health, &kvl_scoring_params(r->nodes.scoring, number)->health, now),
		"observed", kvl_health_observed(&n->health, now), "reason",
		kvl_json_text(node->reason), "read", class_object(r, n, number, 0), "write",
		class_object(r, n, number, KVL_CLASS_WRITE), "facts", facts_object(&n->facts),
		"report_age_ms",
		n->report_ms == 0 ? json_null() : json_integer((json_int_t)(now - n->report_ms)),
		"rejected", rejected_object(n), "health", score_health(r, number, now),
		"capability", capability_object(&n->capability));
}

/* Windows and history are told of one node when asked for: of 4096 they would be too much. */
static json_t *detail_object(const struct kvl_router *r, uint16_t number)
{
	static const struct {
		const char *name;
		unsigned int class;
	} classes[] = {
		{"read", 0},
		{"write", KVL_CLASS_WRITE},
		{"read_hot", KVL_CLASS_HOT},
		{"write_hot", KVL_CLASS_WRITE | KVL_CLASS_HOT},
		{"read_large", KVL_CLASS_LARGE},
		{"write_large", KVL_CLASS_WRITE | KVL_CLASS_LARGE},
		{"read_hot_large", KVL_CLASS_HOT | KVL_CLASS_LARGE},
		{"write_hot_large", KVL_CLASS_WRITE | KVL_CLASS_HOT | KVL_CLASS_LARGE},
	};
	struct kvl_scored_node *n = r->nodes.list[number].scored;
	json_t *object = node_object(r, number), *all = json_object();

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		json_object_set_new(
			all, classes[i].name, class_object(r, n, number, classes[i].class));
	json_object_set_new(object, "classes", all);
	json_object_set_new(object, "windows", score_windows(n));
	json_object_set_new(object, "history", score_history(n, kvl_now_ms()));
	return object;
}

json_t *kvl_command_scores(void *ctx, const json_t *params, struct kvl_message_error *error)
{
	struct kvl_router *r = ctx;
	const char *only = NULL;
	json_t *list;

	if (json_unpack((json_t *)params, "{s?s}", "node", &only) < 0)
		return kvl_message_fail(
			error, KVL_CODE_PARAMS, "scores may take \"node\", a node's id");
	kvl_nodes_judge(&r->nodes, kvl_now_ms());
	list = json_array();
	for (uint32_t n = 0; n < r->nodes.count; n++) {
		const struct kvl_node *node = &r->nodes.list[n];

		if (!node->present || node->scored == NULL)
			continue;
		if (only == NULL)
			json_array_append_new(list, node_object(r, (uint16_t)n));
		else if (strcmp(node->config.id, only) == 0)
			json_array_append_new(list, detail_object(r, (uint16_t)n));
	}
	if (only != NULL && json_array_size(list) == 0) {
		json_decref(list);
		return kvl_message_fail(error, KVL_CODE_NOT_FOUND,
			"no such node that a service uses: `kvlanectl nodes` lists them");
	}
	return json_pack("{s:I, s:o, s:o}", "revision", (json_int_t)r->topology->revision, "pools",
		score_pools(r, kvl_now_ms()), "nodes", list);
}

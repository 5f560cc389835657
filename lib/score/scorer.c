/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/score/scorer_internal.h"

struct kvl_scorer_params kvl_scorer_defaults(uint32_t replication)
{
	return (struct kvl_scorer_params){
		.score = kvl_score_defaults(),
		.weights = kvl_weights_defaults(replication),
		.health = {.timeouts_to_down = 3,
			.probe_interval_ms = 500,
			.passive_fresh_ms = 30000,
			.settle_ms = 1000},
		.report_interval_ms = 2000,
		.low_score = 0.3,
	};
}

struct kvl_scorer *kvl_scorer_new(uint32_t max, const struct kvl_scorer_params *params)
{
	struct kvl_scorer *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->params = *params;
	s->max = max;
	s->confidence = 1;
	kvl_fleet_init(&s->fleet);
	s->nodes = calloc(max, sizeof(*s->nodes));
	s->scratch = calloc(2 * (size_t)max, sizeof(*s->scratch));
	s->reasons = calloc(max, sizeof(*s->reasons));
	s->weighed = calloc(max, sizeof(*s->weighed));
	if (s->nodes == NULL || s->scratch == NULL || s->reasons == NULL || s->weighed == NULL) {
		kvl_scorer_free(s);
		errno = ENOMEM;
		return NULL;
	}
	return s;
}

void kvl_scorer_free(struct kvl_scorer *s)
{
	if (s == NULL)
		return;
	free(s->nodes);
	free(s->scratch);
	free(s->reasons);
	free(s->weighed);
	free(s);
}

void kvl_scorer_configure(struct kvl_scorer *s, const struct kvl_scorer_params *params)
{
	s->params = *params;
	s->dirty = true;
}

void kvl_scorer_join(struct kvl_scorer *s, uint16_t node, uint64_t now_ms)
{
	struct kvl_scored_node *n = &s->nodes[node];

	memset(n, 0, sizeof(*n));
	n->present = n->reachable = true;
	n->network_cost = KVL_UNKNOWN;
	n->capability = KVL_CAPABILITY_UNKNOWN;
	n->gathered_ms = n->latency_ms = now_ms;
	n->facts = kvl_facts_none();
	n->p99_us = KVL_UNKNOWN;
	kvl_health_init(&n->health, now_ms);
	kvl_phi_init(&n->phi, s->params.report_interval_ms);
	s->dirty = true;
}

void kvl_scorer_forget_reports(struct kvl_scorer *s, uint16_t node)
{
	struct kvl_scored_node *n = &s->nodes[node];

	n->report_time_ms = 0;
	for (unsigned int m = 0; m < KVL_METRIC_REPORTED; m++) {
		kvl_window_forget(&n->windows[m]);
		n->windows[m].last_ms = 0;
	}
}

void kvl_scorer_leave(struct kvl_scorer *s, uint16_t node)
{
	s->nodes[node].present = false;
	s->dirty = true;
}

struct kvl_scored_node *kvl_scorer_node(struct kvl_scorer *s, uint16_t node)
{
	return &s->nodes[node];
}

void kvl_scorer_confidence(struct kvl_scorer *s, double confidence)
{
	s->dirty |= confidence != s->confidence;
	s->confidence = confidence;
}

const struct kvl_fleet *kvl_scorer_fleet(const struct kvl_scorer *s)
{
	return &s->fleet.fleet;
}

const struct kvl_self_check *kvl_scorer_self_check(const struct kvl_scorer *s)
{
	return &s->self_check;
}

/* Whoever leaves a state in which it had no traffic is judged by what comes now, not by what sent it
 * there. */
static bool note_change(struct kvl_scorer *s, struct kvl_scored_node *n, bool changed)
{
	if (changed && n->health.state == KVL_HEALTH_HALF_OPEN)
		for (unsigned int m = KVL_METRIC_REPORTED; m < KVL_METRIC_COUNT; m++)
			kvl_window_forget(&n->windows[m]);
	s->dirty |= changed;
	return changed;
}

bool kvl_scorer_passive(
	struct kvl_scorer *s, uint16_t node, const struct kvl_seen *seen, uint64_t now_ms)
{
	struct kvl_scored_node *n = &s->nodes[node];
	const struct kvl_outcomes *o = &seen->outcomes;
	bool changed = kvl_health_passive(&n->health, &s->params.health, o->replies, o->timeouts,
		seen->timeouts_in_a_row, now_ms);

	s->requests += o->replies + o->timeouts;
	n->probe_failing &= o->replies == 0;
	kvl_gather(n, seen, now_ms);
	return note_change(s, n, changed);
}

bool kvl_scorer_probe(struct kvl_scorer *s, uint16_t node, bool ok, uint64_t now_ms)
{
	struct kvl_scored_node *n = &s->nodes[node];

	n->probe_failing = !ok;
	return note_change(s, n, kvl_health_probe(&n->health, &s->params.health, ok, now_ms));
}

int kvl_scorer_report(struct kvl_scorer *s, uint16_t node, const struct kvl_report_figures *report,
	uint64_t now_ms)
{
	struct kvl_scored_node *n = &s->nodes[node];
	int rejected = 0;

	if (report->time_ms <= n->report_time_ms)
		return -ESTALE;
	for (unsigned int m = 0; m < KVL_METRIC_REPORTED; m++)
		if (!isnan(report->value[m]))
			rejected +=
				kvl_window_add(&n->windows[m], m, report->value[m], report->time_ms)
				!= KVL_METRIC_OK;
	n->report_time_ms = report->time_ms;
	n->report_ms = now_ms;
	n->report_flags = report->flags;
	n->capability = report->capability;
	kvl_phi_beat(&n->phi, now_ms);
	return rejected;
}

static void node_tick(struct kvl_scorer *s, struct kvl_scored_node *n, uint64_t now_ms)
{
	const struct kvl_health_params *params = &s->params.health;
	double share = kvl_health_share(&n->health, params, now_ms);
	bool changed = kvl_health_tick(&n->health, params, now_ms);

	changed |= kvl_health_phi(&n->health, params, kvl_phi(&n->phi, now_ms), now_ms);
	note_change(s, n, changed);
	s->dirty |= share != n->share;
	n->share = share;
}

bool kvl_scorer_tick(struct kvl_scorer *s, uint64_t now_ms)
{
	bool dirty;

	for (uint32_t i = 0; i < s->max; i++)
		if (s->nodes[i].present)
			node_tick(s, &s->nodes[i], now_ms);
	if (s->dirty || now_ms >= s->scored_ms + KVL_SCORER_PERIOD_MS)
		kvl_rescore(s, now_ms);
	dirty = s->dirty;
	s->dirty = false;
	return dirty;
}

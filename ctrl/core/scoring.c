/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctrl/core/scoring.h"

#define CHECK_MS 1000 /* a round of the self check */
#define NO_POOL  UINT8_MAX

struct pool {
	char name[KVL_NAME_MAX]; /* "" = this place is free */
	bool used;               /* by the topology that is being followed */
	struct kvl_scorer *scorer;
	struct kvl_scorer_params params;
	struct kvl_self_check check;
	struct kvl_outcomes *checked; /* by node: counts at the last round */
};

struct kvl_scoring {
	uint32_t max;
	struct pool pools[KVL_SERVICES_MAX];
	uint8_t *pool_of;  /* by node number */
	uint16_t *scratch; /* weights of one class */
	double *scores, *success;
	uint64_t checked_ms;
};

struct kvl_scoring *kvl_scoring_new(uint32_t max)
{
	struct kvl_scoring *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->max = max;
	s->pool_of = malloc(max);
	s->scratch = calloc(max, sizeof(*s->scratch));
	s->scores = calloc(max, sizeof(*s->scores));
	s->success = calloc(max, sizeof(*s->success));
	if (s->pool_of == NULL || s->scratch == NULL || s->scores == NULL || s->success == NULL) {
		kvl_scoring_free(s);
		errno = ENOMEM;
		return NULL;
	}
	memset(s->pool_of, NO_POOL, max);
	return s;
}

static void pool_drop(struct kvl_scoring *s, unsigned int which)
{
	struct pool *p = &s->pools[which];

	kvl_scorer_free(p->scorer);
	*p = (struct pool){0};
	for (uint32_t n = 0; n < s->max; n++)
		if (s->pool_of[n] == which)
			s->pool_of[n] = NO_POOL;
}

void kvl_scoring_free(struct kvl_scoring *s)
{
	if (s == NULL)
		return;
	for (unsigned int i = 0; s->pool_of != NULL && i < KVL_SERVICES_MAX; i++)
		pool_drop(s, i);
	free(s->pool_of);
	free(s->scratch);
	free(s->scores);
	free(s->success);
	free(s);
}

static struct pool *pool_find(struct kvl_scoring *s, const char *name)
{
	for (unsigned int i = 0; i < KVL_SERVICES_MAX; i++)
		if (strcmp(s->pools[i].name, name) == 0)
			return &s->pools[i];
	return NULL;
}

static struct kvl_scorer_params params_make(const struct kvl_topology *t,
	const struct kvl_service_config *first, const struct kvl_health_config *health,
	uint32_t report_interval_ms)
{
	const struct kvl_scoring_config *c = &first->scoring;
	struct kvl_scorer_params p = kvl_scorer_defaults(first->placement.replication);

	p.score.model = c->model;
	p.score.weights = c->write_heavy ? kvl_weights_write_heavy : kvl_weights_read_heavy;
	p.score.ceiling_us = 1000.0 * c->ceiling_ms;
	p.score.baseline_us = 1000.0 * c->baseline_ms;
	p.score.cpu_threshold = c->cpu_threshold;
	p.score.io_threshold = c->io_threshold;
	p.score.queue_high = c->queue_high;
	p.score.reject_threshold = c->reject_threshold;
	p.weights.choice = c->choice;
	p.weights.temperature = c->temperature;
	p.weights.min_share = c->min_share;
	p.low_score = c->low_score;
	p.report_interval_ms = report_interval_ms;
	p.health.timeouts_to_down = health->timeouts_to_down;
	p.health.probe_interval_ms = health->probe_interval_ms;
	p.health.passive_fresh_ms = health->passive_fresh_ms;
	p.health.settle_ms = 0;
	for (uint32_t i = 0; i < t->service_count; i++) {
		const struct kvl_service_config *service = &t->services[i].config;

		if (strcmp(service->pool, first->pool) != 0)
			continue;
		/* No reply of a dsr service passes the router. */
		p.health.always_probe |= service->mode == KVL_MODE_DSR;
		if (service->timeout_ms > p.health.settle_ms)
			p.health.settle_ms = service->timeout_ms;
	}
	return p;
}

static int pool_follow(struct kvl_scoring *s, const struct kvl_topology *t,
	const struct kvl_service_config *first, const struct kvl_health_config *health,
	uint32_t report_interval_ms)
{
	struct pool *p = pool_find(s, first->pool);

	if (p == NULL) {
		p = pool_find(s, ""); /* there are as many places as services */
		snprintf(p->name, sizeof(p->name), "%s", first->pool);
	}
	if (p->used)
		return 0; /* an earlier service has spoken for it */
	p->used = true;
	p->params = params_make(t, first, health, report_interval_ms);
	if (p->scorer != NULL) {
		kvl_scorer_configure(p->scorer, &p->params);
		return 0;
	}
	kvl_self_check_clear(&p->check);
	p->scorer = kvl_scorer_new(s->max, &p->params);
	return p->scorer == NULL ? -ENOMEM : 0;
}

int kvl_scoring_follow(struct kvl_scoring *s, const struct kvl_topology *t,
	const struct kvl_health_config *health, uint32_t report_interval_ms)
{
	int rc = 0;

	for (unsigned int i = 0; i < KVL_SERVICES_MAX; i++)
		s->pools[i].used = false;
	/* Places of pools that went are needed before new ones are made. */
	for (unsigned int i = 0; i < KVL_SERVICES_MAX; i++) {
		bool found = false;

		for (uint32_t k = 0; k < t->service_count && !found; k++)
			found = strcmp(t->services[k].config.pool, s->pools[i].name) == 0;
		if (s->pools[i].name[0] != '\0' && !found)
			pool_drop(s, i);
	}
	for (uint32_t i = 0; rc == 0 && i < t->service_count; i++)
		rc = pool_follow(s, t, &t->services[i].config, health, report_interval_ms);
	return rc;
}

bool kvl_scoring_join(struct kvl_scoring *s, uint16_t node, const char *pool, uint64_t now_ms)
{
	struct pool *p = pool_find(s, pool);

	kvl_scoring_leave(s, node);
	if (p == NULL || p->scorer == NULL)
		return false;
	s->pool_of[node] = (uint8_t)(p - s->pools);
	kvl_scorer_join(p->scorer, node, now_ms);
	return true;
}

void kvl_scoring_leave(struct kvl_scoring *s, uint16_t node)
{
	struct kvl_scorer *scorer = kvl_scoring_of(s, node);

	if (scorer != NULL)
		kvl_scorer_leave(scorer, node);
	s->pool_of[node] = NO_POOL;
}

struct kvl_scorer *kvl_scoring_of(const struct kvl_scoring *s, uint16_t node)
{
	return s->pool_of[node] == NO_POOL ? NULL : s->pools[s->pool_of[node]].scorer;
}

const struct kvl_scorer_params *kvl_scoring_params(const struct kvl_scoring *s, uint16_t node)
{
	return s->pool_of[node] == NO_POOL ? NULL : &s->pools[s->pool_of[node]].params;
}

struct kvl_scored_node *kvl_scoring_node(const struct kvl_scoring *s, uint16_t node)
{
	struct kvl_scorer *scorer = kvl_scoring_of(s, node);

	return scorer == NULL ? NULL : kvl_scorer_node(scorer, node);
}

/* Success of each node as its windows have it, against its score. */
static void pool_check(struct kvl_scoring *s, struct pool *p)
{
	for (uint32_t n = 0; n < s->max; n++) {
		const struct kvl_scored_node *node = kvl_scorer_node(p->scorer, (uint16_t)n);

		s->scores[n] = s->success[n] = KVL_UNKNOWN;
		if (!node->present || !kvl_health_eligible(&node->health))
			continue;
		s->scores[n] = node->breakdown[0].score;
		s->success[n] = 1 - node->facts.error_rate - fmax(node->facts.reject_rate, 0);
	}
	kvl_self_check_round(&p->check, s->scores, s->success, s->max);
}

bool kvl_scoring_tick(struct kvl_scoring *s, uint64_t now_ms)
{
	bool check = now_ms >= s->checked_ms + CHECK_MS, dirty = false;

	if (check)
		s->checked_ms = now_ms;
	for (unsigned int i = 0; i < KVL_SERVICES_MAX; i++) {
		if (s->pools[i].scorer == NULL)
			continue;
		dirty |= kvl_scorer_tick(s->pools[i].scorer, now_ms);
		if (check)
			pool_check(s, &s->pools[i]);
	}
	return dirty;
}

void kvl_scoring_weights(struct kvl_scoring *s, uint64_t now_ms, uint16_t *weights, uint32_t count)
{
	memset(weights, 0, (size_t)KVL_CLASSES * count * sizeof(*weights));
	for (unsigned int i = 0; i < KVL_SERVICES_MAX; i++) {
		if (s->pools[i].scorer == NULL)
			continue;
		for (unsigned int c = 0; c < KVL_CLASSES; c++) {
			kvl_scorer_weights(s->pools[i].scorer, c, now_ms, s->scratch, count);
			for (uint32_t n = 0; n < count; n++)
				if (s->pool_of[n] == i)
					weights[(size_t)c * count + n] = s->scratch[n];
		}
	}
}

unsigned int kvl_scoring_alarms(const struct kvl_scoring *s, const char **pool)
{
	unsigned int alarms = 0;

	for (unsigned int i = 0; i < KVL_SERVICES_MAX; i++)
		if (s->pools[i].scorer != NULL && s->pools[i].check.alarm) {
			*pool = s->pools[i].name;
			alarms++;
		}
	return alarms;
}

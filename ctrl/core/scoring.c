/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctrl/core/log.h"
#include "ctrl/core/scoring.h"

#define PROFILE_MS 1000 /* how often the profiles are looked at */
#define NO_POOL    UINT8_MAX

struct pool {
	char name[KVL_NAME_MAX]; /* "" = this place is free */
	bool used;               /* by the topology that is being followed */
	struct kvl_scorer *scorer;
	struct kvl_scorer_params params;
	char service[KVL_NAME_MAX];       /* the one whose `scoring:` counts */
	struct kvl_scoring_config config; /* of it */
	struct kvl_profile_state profile;
	uint64_t reads, writes; /* since the profile was looked at */
};

struct kvl_scoring {
	uint32_t max;
	struct pool pools[KVL_SERVICES_MAX];
	uint8_t *pool_of;  /* by node number */
	uint16_t *scratch; /* weights of one class */
	uint64_t profile_ms;
};

struct kvl_scoring *kvl_scoring_new(uint32_t max)
{
	struct kvl_scoring *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->max = max;
	s->pool_of = malloc(max);
	s->scratch = calloc(max, sizeof(*s->scratch));
	if (s->pool_of == NULL || s->scratch == NULL) {
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
	free(s);
}

static struct pool *pool_find(struct kvl_scoring *s, const char *name)
{
	for (unsigned int i = 0; i < KVL_SERVICES_MAX; i++)
		if (strcmp(s->pools[i].name, name) == 0)
			return &s->pools[i];
	return NULL;
}

/* All services of a pool draw by one weight: its floor is the highest that any asks for. */
static void floor_raise(
	struct kvl_weights_params *weights, const struct kvl_service_config *service)
{
	struct kvl_weights_params own = *weights;

	own.min_share = service->scoring.min_share;
	own.replication = service->placement.replication;
	if (kvl_weights_floor(&own) > kvl_weights_floor(weights))
		*weights = own;
}

static struct kvl_scorer_params params_make(const struct kvl_topology *t,
	const struct kvl_service_config *first, const struct kvl_health_config *health,
	uint32_t report_interval_ms)
{
	const struct kvl_scoring_config *c = &first->scoring;
	struct kvl_scorer_params p = kvl_scorer_defaults(first->placement.replication);

	p.score.model = c->model;
	p.score.capability = c->capability ? &kvl_capability_default : NULL;
	p.score.ceiling_us = 1000.0 * c->ceiling_ms;
	p.score.baseline_us = 1000.0 * c->baseline_ms;
	p.score.cpu_threshold = c->cpu_threshold;
	p.score.io_threshold = c->io_threshold;
	p.score.queue_high = c->queue_high;
	p.score.reject_threshold = c->reject_threshold;
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
		floor_raise(&p.weights, service);
		/* No reply of a dsr service passes the router. */
		p.health.always_probe |= service->mode == KVL_MODE_DSR;
		if (service->timeout_ms > p.health.settle_ms)
			p.health.settle_ms = service->timeout_ms;
	}
	return p;
}

static double or_else(double a, double b)
{
	return isnan(a) ? b : a;
}

/* The profile's weights, but for those that the configuration gives. */
static void weights_apply(struct pool *p)
{
	const struct kvl_score_weights *of = kvl_profile_weights(p->profile.active);
	const struct kvl_scoring_weights *given = &p->config.weights;

	p->params.score.weights = (struct kvl_score_weights){
		.capacity_free = or_else(given->capacity_free, of->capacity_free),
		.load = or_else(given->load, of->load),
		.latency = or_else(given->latency, of->latency),
		.hit = or_else(given->hit, of->hit),
		.network = or_else(given->network, of->network),
	};
}

static void pool_profile_follow(struct pool *p, uint32_t minute_of_day, uint64_t now_ms)
{
	bool changed = kvl_profile_follow(
		&p->profile, &p->config.profile, p->reads, p->writes, minute_of_day, now_ms);

	p->reads = p->writes = 0;
	if (!changed)
		return;
	weights_apply(p);
	kvl_scorer_configure(p->scorer, &p->params);
	kvl_log(KVL_LOG_NOTICE, "pool %s: profile %s now (%s)", p->name,
		kvl_profile_name(p->profile.active), kvl_profile_by_name(p->config.profile.by));
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
	p->config = first->scoring;
	snprintf(p->service, sizeof(p->service), "%s", first->name);
	/* At first at once; a change follows with the next look. */
	if (p->scorer == NULL && p->config.profile.by == KVL_PROFILE_FIXED)
		p->profile.active = p->config.profile.fixed;
	weights_apply(p);
	if (p->scorer != NULL) {
		kvl_scorer_configure(p->scorer, &p->params);
		return 0;
	}
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

void kvl_scoring_count(struct kvl_scoring *s, uint16_t node, uint64_t reads, uint64_t writes)
{
	struct pool *p = s->pool_of[node] == NO_POOL ? NULL : &s->pools[s->pool_of[node]];

	if (p == NULL)
		return;
	p->reads += reads;
	p->writes += writes;
}

void kvl_scoring_confidence(struct kvl_scoring *s, double confidence)
{
	for (unsigned int i = 0; i < KVL_SERVICES_MAX; i++)
		if (s->pools[i].scorer != NULL)
			kvl_scorer_confidence(s->pools[i].scorer, confidence);
}

bool kvl_scoring_tick(struct kvl_scoring *s, uint32_t minute_of_day, uint64_t now_ms)
{
	bool look = now_ms >= s->profile_ms + PROFILE_MS, dirty = false;

	if (look)
		s->profile_ms = now_ms;
	for (unsigned int i = 0; i < KVL_SERVICES_MAX; i++) {
		struct pool *p = &s->pools[i];

		if (p->scorer == NULL)
			continue;
		if (p->profile.since_ms == 0)
			kvl_profile_begin(&p->profile, now_ms);
		if (look)
			pool_profile_follow(p, minute_of_day, now_ms);
		dirty |= kvl_scorer_tick(p->scorer, now_ms);
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
		if (s->pools[i].scorer != NULL
			&& kvl_scorer_self_check(s->pools[i].scorer)->alarm) {
			*pool = s->pools[i].name;
			alarms++;
		}
	return alarms;
}

bool kvl_scoring_pool(
	const struct kvl_scoring *s, unsigned int i, uint64_t now_ms, struct kvl_scoring_pool *pool)
{
	const struct pool *p = &s->pools[i];

	if (p->scorer == NULL)
		return false;
	*pool = (struct kvl_scoring_pool){
		.name = p->name,
		.service = p->service,
		.params = &p->params,
		.choice = p->config.choice,
		.rule = &p->config.profile,
		.profile = p->profile.active,
		.profile_age_ms = p->profile.since_ms == 0 ? 0 : now_ms - p->profile.since_ms,
		.read_share = kvl_profile_auto_share(&p->profile.counted),
		.self_check = kvl_scorer_self_check(p->scorer),
		.fleet = kvl_scorer_fleet(p->scorer),
	};
	return true;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <event2/event.h>

#include "ctrl/core/clock.h"
#include "ctrl/core/health_watch.h"
#include "ctrl/core/log.h"
#include "ctrl/core/probe.h"
#include "ctrl/core/router.h"

struct kvl_health_watch {
	struct kvl_router *router;
	struct kvl_probes *probes;
	struct event *timer;
};

static const char *state_words(const struct kvl_health *h)
{
	static const char *const words[KVL_HEALTH_STATES] = {
		[KVL_HEALTH_HEALTHY] = "healthy",
		[KVL_HEALTH_SUSPECT] = "suspect: two failures in a row",
		[KVL_HEALTH_DOWN] = "down: out of the candidates",
		[KVL_HEALTH_HALF_OPEN] = "answers again: in, on trial",
		[KVL_HEALTH_COOLDOWN] = "cooldown: low scores",
	};

	if (h->state == KVL_HEALTH_SUSPECT && h->failures < KVL_HEALTH_SUSPECT_AFTER)
		return "suspect: its reports have stopped";
	if (h->state == KVL_HEALTH_HEALTHY && h->silence == KVL_SILENCE_SETTLED)
		return "healthy: it answers, though its reports have stopped";
	return words[h->state];
}

/* A node that flaps does not fill the log: its lines are limited, and what is left out is counted. */
static void change_log(const struct kvl_node *node, uint32_t suppressed)
{
	const char *words = state_words(&node->scored->health);

	if (suppressed == 0)
		kvl_log(KVL_LOG_NOTICE, "node %s: %s", node->config.id, words);
	else
		kvl_log(KVL_LOG_NOTICE, "node %s: %s (%u changes before were not logged)",
			node->config.id, words, suppressed);
}

/* A node that goes or comes is published at once, not with the next scores. */
static void state_note(struct kvl_health_watch *watch, uint16_t number)
{
	struct kvl_nodes *nodes = &watch->router->nodes;
	struct kvl_node *node = &nodes->list[number];
	uint32_t suppressed;

	if (node->scored == NULL)
		return;
	if (node->scored->health.state == node->told) {
		/* The last word about it was held back. */
		if (kvl_log_limit_due(&node->log, kvl_now_ms(), &suppressed))
			change_log(node, suppressed);
		return;
	}
	node->told = node->scored->health.state;
	if (kvl_log_limit_pass(&node->log, kvl_now_ms(), &suppressed))
		change_log(node, suppressed);
	else
		nodes->log_suppressed++;
	kvl_publisher_request(watch->router->publisher);
}

/* For the profiles; apart from the above, which is of replies. */
static void asked_since(struct kvl_router *r, uint16_t number, const struct kvl_node_tally *now)
{
	struct kvl_node_tally *before = &r->nodes.list[number].seen;
	uint64_t writes = now->writes - before->writes;

	/* The two are read one after the other, so writes may be ahead. */
	writes = RTE_MIN(writes, now->requests - before->requests);
	kvl_scoring_count(
		r->nodes.scoring, number, now->requests - before->requests - writes, writes);
	before->requests = now->requests;
	before->writes += writes;
}

/* What the workers saw since the last tick; latencies only of a node that answered. */
static void seen_since(struct kvl_router *r, uint16_t number, uint32_t silence_ms,
	struct kvl_seen *seen, struct kvl_histogram *latency)
{
	struct kvl_node *node = &r->nodes.list[number];
	struct kvl_node_tally *before = &node->seen, now;

	kvl_tally_node(r->workers, r->worker_count, number, false, &now);
	asked_since(r, number, &now);
	*seen = (struct kvl_seen){
		.outcomes =
			{
				.replies = now.replies - before->replies,
				.errors = now.errors - before->errors,
				.rejects = now.rejects - before->rejects,
				.timeouts = now.timeouts - before->timeouts,
			},
		/* Those of an id that had the number before are not this node's. */
		.timeouts_in_a_row = RTE_MIN(kvl_tally_timeouts_in_a_row(r->workers,
						     r->worker_count, number, silence_ms),
			now.timeouts - node->base.timeouts),
	};
	now.latency = before->latency;
	if (seen->outcomes.replies != 0) {
		kvl_tally_node(r->workers, r->worker_count, number, true, &now);
		kvl_hist_since(&now.latency, &before->latency, latency);
		seen->latency = latency;
	}
	/* Counts as they were asked for first: what came in between is seen at the next tick. */
	before->replies += seen->outcomes.replies;
	before->errors += seen->outcomes.errors;
	before->rejects += seen->outcomes.rejects;
	before->timeouts += seen->outcomes.timeouts;
	before->latency = now.latency;
}

/* The longest that a request waits for its node, and what a loop may take to notice. */
static uint32_t silence_longest(const struct kvl_topology *t)
{
	uint32_t longest = 0;

	for (uint32_t i = 0; i < t->service_count; i++)
		longest = RTE_MAX(longest, (uint32_t)t->services[i].config.timeout_ms);
	return longest + KVL_HEALTH_TICK_MS;
}

static void node_observe(struct kvl_router *r, uint16_t number, uint32_t silence_ms, uint64_t now)
{
	static struct kvl_histogram latency;
	struct kvl_seen seen;

	seen_since(r, number, silence_ms, &seen, &latency);
	kvl_scorer_passive(kvl_scoring_of(r->nodes.scoring, number), number, &seen, now);
}

static void node_probe(struct kvl_health_watch *watch, uint16_t number, uint64_t now)
{
	struct kvl_nodes *nodes = &watch->router->nodes;
	struct kvl_node *node = &nodes->list[number];
	const struct kvl_scorer_params *params = kvl_scoring_params(nodes->scoring, number);
	int rc;

	if (kvl_health_probe_at(&node->scored->health, &params->health) > now)
		return;
	rc = kvl_probes_start(watch->probes, number, &node->config.address, node->config.port);
	if (rc == 0)
		kvl_health_probe_sent(&node->scored->health, now);
}

/* By the host's time zone: schedules are people's. */
static uint32_t minute_of_day(void)
{
	time_t now = time(NULL);
	struct tm local;

	localtime_r(&now, &local);
	return (uint32_t)(60 * local.tm_hour + local.tm_min);
}

/* What the workers know of a node's lag is not what it has told since. */
static bool lag_changed(const struct kvl_nodes *nodes, uint32_t number)
{
	const struct kvl_node *node = &nodes->list[number];

	return node->present && kvl_node_version_lag(node) != nodes->root_nodes[number].version_lag;
}

/* Silence may be a MAC that is another's now. */
static void hop_doubt(struct kvl_router *r, const struct kvl_node *node)
{
	enum kvl_health_state state = node->scored->health.state;

	if (state == KVL_HEALTH_SUSPECT || state == KVL_HEALTH_DOWN)
		kvl_neighbours_renew(r->neighbours, &node->config.address);
}

static void tick(evutil_socket_t fd, short what, void *arg)
{
	struct kvl_health_watch *watch = arg;
	struct kvl_router *r = watch->router;
	uint32_t silence_ms = silence_longest(r->topology);
	uint64_t now = kvl_now_ms();
	bool changed = false;

	for (uint32_t n = 0; n < r->nodes.count; n++) {
		if (!r->nodes.list[n].present || r->nodes.list[n].scored == NULL)
			continue;
		node_observe(r, n, silence_ms, now);
		node_probe(watch, n, now);
		hop_doubt(r, &r->nodes.list[n]);
	}
	for (uint32_t n = 0; n < r->nodes.count && !changed; n++)
		changed = lag_changed(&r->nodes, n);
	kvl_router_freshen(r, now);
	if (kvl_scoring_tick(r->nodes.scoring, minute_of_day(), now) || changed)
		kvl_publisher_request(r->publisher);
	for (uint32_t n = 0; n < r->nodes.count; n++)
		if (r->nodes.list[n].present)
			state_note(watch, n);
}

static void probe_done(void *ctx, uint16_t number, bool ok, uint32_t rtt_us)
{
	struct kvl_health_watch *watch = ctx;
	struct kvl_nodes *nodes = &watch->router->nodes;
	const struct kvl_node *node = &nodes->list[number];

	if (!node->present || node->scored == NULL)
		return;
	kvl_scorer_probe(kvl_scoring_of(nodes->scoring, number), number, ok, kvl_now_ms());
	state_note(watch, number);
}

void kvl_health_watch_follow(struct kvl_health_watch *watch, uint16_t number)
{
	kvl_probes_cancel(watch->probes, number);
}

void kvl_health_watch_configure(struct kvl_health_watch *watch)
{
	kvl_probes_set_timeout(watch->probes, watch->router->config->health.probe_timeout_ms);
}

struct kvl_health_watch *kvl_health_watch_new(struct kvl_router *router)
{
	const struct timeval period = {.tv_usec = KVL_HEALTH_TICK_MS * 1000};
	struct kvl_health_watch *watch = calloc(1, sizeof(*watch));

	if (watch == NULL)
		return NULL;
	watch->router = router;
	watch->probes = kvl_probes_new(
		router->base, router->config->health.probe_timeout_ms, probe_done, watch);
	watch->timer = event_new(router->base, -1, EV_PERSIST, tick, watch);
	if (watch->probes == NULL || watch->timer == NULL) {
		kvl_health_watch_free(watch);
		errno = ENOMEM;
		return NULL;
	}
	event_add(watch->timer, &period);
	return watch;
}

void kvl_health_watch_free(struct kvl_health_watch *watch)
{
	if (watch == NULL)
		return;
	if (watch->timer != NULL)
		event_free(watch->timer);
	kvl_probes_free(watch->probes);
	free(watch);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

static struct kvl_health_params params_of(const struct kvl_router *r, const struct kvl_node *node)
{
	const struct kvl_health_config *config = &r->config->health;

	return (struct kvl_health_params){
		.timeouts_to_down = config->timeouts_to_down,
		.probe_interval_ms = config->probe_interval_ms,
		.passive_fresh_ms = config->passive_fresh_ms,
		.settle_ms = node->timeout_ms,
		.always_probe = node->serves_dsr,
	};
}

static void change_log(const struct kvl_node *node)
{
	static const char *const words[] = {
		[KVL_HEALTH_HEALTHY] = "healthy",
		[KVL_HEALTH_SUSPECT] = "suspect: two failures in a row",
		[KVL_HEALTH_DOWN] = "down: out of the candidates",
		[KVL_HEALTH_HALF_OPEN] = "answers again: in, on trial",
	};

	kvl_log(KVL_LOG_NOTICE, "node %s: %s", node->config.id, words[node->health.state]);
}

/* What the workers saw since the last tick. Returns true when the node's state changed. */
static bool node_observe(struct kvl_router *r, uint16_t number, uint64_t now)
{
	struct kvl_node *node = &r->nodes.list[number];
	struct kvl_health_params params = params_of(r, node);
	struct kvl_node_tally tally;
	uint64_t in_a_row;
	bool changed;

	kvl_tally_node(r->workers, r->worker_count, number, false, &tally);
	/* Those of an id that had the number before are not this node's. */
	in_a_row = RTE_MIN(tally.timeouts_in_a_row, tally.timeouts - node->base.timeouts);
	changed = kvl_health_passive(&node->health, &params, tally.replies - node->seen.replies,
		tally.timeouts - node->seen.timeouts, in_a_row, now);
	node->seen.replies = tally.replies;
	node->seen.timeouts = tally.timeouts;
	return changed;
}

static void node_probe(struct kvl_health_watch *watch, uint16_t number, uint64_t now)
{
	struct kvl_node *node = &watch->router->nodes.list[number];
	struct kvl_health_params params = params_of(watch->router, node);
	int rc;

	if (kvl_health_probe_at(&node->health, &params) > now)
		return;
	rc = kvl_probes_start(watch->probes, number, &node->config.address, node->config.port);
	if (rc == 0)
		kvl_health_probe_sent(&node->health, now);
}

static void tick(evutil_socket_t fd, short what, void *arg)
{
	struct kvl_health_watch *watch = arg;
	struct kvl_router *r = watch->router;
	uint64_t now = kvl_now_ms();
	bool changed = false;

	for (uint32_t n = 0; n < r->nodes.count; n++) {
		if (!r->nodes.list[n].present)
			continue;
		if (node_observe(r, n, now)) {
			change_log(&r->nodes.list[n]);
			changed = true;
		}
		node_probe(watch, n, now);
	}
	if (changed)
		kvl_router_reconsider(r);
}

static void probe_done(void *ctx, uint16_t number, bool ok, uint32_t rtt_us)
{
	struct kvl_health_watch *watch = ctx;
	struct kvl_node *node = &watch->router->nodes.list[number];
	struct kvl_health_params params = params_of(watch->router, node);

	if (!node->present || !kvl_health_probe(&node->health, &params, ok, kvl_now_ms()))
		return;
	change_log(node);
	kvl_router_reconsider(watch->router);
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

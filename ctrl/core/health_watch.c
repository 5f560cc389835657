/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#include <event2/event.h>

#include "ctrl/core/clock.h"
#include "ctrl/core/health_watch.h"
#include "ctrl/core/log.h"
#include "ctrl/core/router.h"

struct kvl_health_watch {
	struct kvl_router *router;
	struct event *timer;
};

static struct kvl_health_params params_of(const struct kvl_router *r, const struct kvl_node *node)
{
	const struct kvl_health_config *config = &r->config->health;

	return (struct kvl_health_params){
		.timeouts_to_down = config->timeouts_to_down,
		.probe_interval_ms = config->probe_interval_ms,
		.passive_fresh_ms = config->passive_fresh_ms,
		.settle_ms = 1000,
		.always_probe = node->always_probe,
	};
}

static bool node_tick(struct kvl_router *r, uint16_t number, uint64_t now)
{
	struct kvl_node *node = &r->nodes.list[number];
	struct kvl_health_params params = params_of(r, node);
	struct kvl_node_tally tally;
	bool changed;

	kvl_tally_node(r->workers, r->worker_count, number, false, &tally);
	changed = kvl_health_passive(&node->health, &params, tally.replies - node->seen.replies,
		tally.timeouts - node->seen.timeouts, tally.timeouts_in_a_row, now);
	node->seen.replies = tally.replies;
	node->seen.timeouts = tally.timeouts;
	return changed;
}

static void tick(evutil_socket_t fd, short what, void *arg)
{
	struct kvl_health_watch *watch = arg;
	struct kvl_router *r = watch->router;
	uint64_t now = kvl_now_ms();
	bool changed = false;

	for (uint32_t n = 0; n < r->nodes.count; n++)
		if (r->nodes.list[n].present)
			changed |= node_tick(r, n, now);
	if (changed)
		kvl_router_reconsider(r);
}

struct kvl_health_watch *kvl_health_watch_new(struct kvl_router *router)
{
	struct kvl_health_watch *watch = calloc(1, sizeof(*watch));

	if (watch == NULL)
		return NULL;
	watch->router = router;
	watch->timer = event_new(router->base, -1, EV_PERSIST, tick, watch);
	if (watch->timer == NULL) {
		free(watch);
		errno = ENOMEM;
		return NULL;
	}
	event_add(watch->timer, &(struct timeval){.tv_usec = KVL_HEALTH_TICK_MS * 1000});
	return watch;
}

void kvl_health_watch_free(struct kvl_health_watch *watch)
{
	if (watch == NULL)
		return;
	event_free(watch->timer);
	free(watch);
}

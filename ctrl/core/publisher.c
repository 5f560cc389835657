/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <event2/event.h>
#include <rte_malloc.h>

#include "ctrl/core/clock.h"
#include "ctrl/core/log.h"
#include "ctrl/core/publisher.h"

/* One root for each worker, and the topology whose placements they point into. */
struct generation {
	uint64_t number;
	struct kvl_topology *topology;
	struct kvl_root *roots[KVL_WORKERS_MAX];
	uint64_t token;      /* of rte_rcu_qsbr_start(), once retired */
	uint64_t retired_us; /* when its successor was published */
};

struct kvl_publisher {
	struct kvl_publisher_ops ops;
	struct kvl_worker *const *workers;
	uint16_t worker_count;
	uint32_t port_count;
	struct rte_rcu_qsbr *rcu;
	struct event *publish_timer, *retire_timer;
	bool requested;
	struct generation current;
	struct generation retired[KVL_RETIRED_MAX]; /* oldest first */
	unsigned int retired_count;
	struct kvl_publisher_status status;
};

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static void generation_free(struct kvl_publisher *p, struct generation *g)
{
	for (uint16_t i = 0; i < p->worker_count; i++)
		rte_free(g->roots[i]);
	kvl_topology_put(g->topology);
	memset(g, 0, sizeof(*g));
}

static int generation_build(struct kvl_publisher *p, struct generation *g)
{
	int rc = 0;

	memset(g, 0, sizeof(*g));
	g->number = p->status.generation + 1;
	g->topology = kvl_topology_get(p->ops.topology(p->ops.context));
	for (uint16_t i = 0; rc == 0 && i < p->worker_count; i++) {
		struct kvl_root_spec spec = {
			.generation = g->number,
			.rows_known = g->topology == p->current.topology,
		};

		p->ops.describe(p->ops.context, i, &spec);
		g->roots[i] = rte_malloc_socket("kvl_root", kvl_root_size(&spec),
			RTE_CACHE_LINE_SIZE, p->workers[i]->socket);
		rc = g->roots[i] == NULL ? -ENOMEM
					 : kvl_root_init(g->roots[i], &spec, p->port_count);
	}
	if (rc < 0)
		generation_free(p, g);
	return rc;
}

static void retire(struct kvl_publisher *p, const struct generation *old)
{
	struct generation *place = &p->retired[p->retired_count++];

	*place = *old;
	place->token = rte_rcu_qsbr_start(p->rcu);
	place->retired_us = now_us();
	if (!evtimer_pending(p->retire_timer, NULL))
		evtimer_add(p->retire_timer, &(struct timeval){.tv_usec = KVL_RETIRE_POLL_US});
}

int kvl_publisher_now(struct kvl_publisher *p)
{
	struct generation fresh, old = p->current;
	uint64_t began = now_us();
	int rc;

	if (p->retired_count == KVL_RETIRED_MAX)
		return -EAGAIN;
	rc = generation_build(p, &fresh);
	if (rc < 0) {
		p->status.failed++;
		kvl_log(KVL_LOG_ERROR,
			"cannot publish generation %lu (%s): the workers keep the one before",
			(unsigned long)p->status.generation + 1, strerror(-rc));
		/* What it was asked for is still to be told: memory may be there again later. */
		p->requested = true;
		evtimer_add(p->publish_timer, &(struct timeval){.tv_sec = KVL_PUBLISH_RETRY_S});
		return rc;
	}
	for (uint16_t i = 0; i < p->worker_count; i++)
		kvl_worker_publish(p->workers[i], fresh.roots[i]);
	p->ops.published(p->ops.context, fresh.roots[0]);
	p->current = fresh;
	p->status.generation = fresh.number;
	p->status.published_ms = kvl_now_ms();
	p->status.publish_us = now_us() - began;
	p->requested = false;
	if (old.topology != NULL)
		retire(p, &old);
	return 0;
}

static void publish_timeout(evutil_socket_t fd, short what, void *arg)
{
	struct kvl_publisher *p = arg;

	/* With both retired places taken the retire timer publishes as soon as one is free. */
	if (p->requested && p->retired_count < KVL_RETIRED_MAX)
		kvl_publisher_now(p);
}

/* Frees what every worker has left behind, oldest first. */
static void retire_timeout(evutil_socket_t fd, short what, void *arg)
{
	struct kvl_publisher *p = arg;

	while (p->retired_count != 0
		&& rte_rcu_qsbr_check(p->rcu, p->retired[0].token, false) == 1) {
		p->status.settle_us = now_us() - p->retired[0].retired_us;
		generation_free(p, &p->retired[0]);
		p->retired[0] = p->retired[1];
		memset(&p->retired[1], 0, sizeof(p->retired[1]));
		p->retired_count--;
		if (p->retired_count == 0)
			p->ops.settled(p->ops.context, p->current.number);
	}
	publish_timeout(fd, what, arg);
	if (p->retired_count != 0)
		evtimer_add(p->retire_timer, &(struct timeval){.tv_usec = KVL_RETIRE_POLL_US});
}

void kvl_publisher_request(struct kvl_publisher *p)
{
	if (p->requested) {
		p->status.coalesced++;
		return;
	}
	p->requested = true;
	evtimer_add(p->publish_timer, &(struct timeval){.tv_usec = KVL_PUBLISH_DELAY_MS * 1000});
}

struct kvl_publisher *kvl_publisher_new(struct event_base *base, struct kvl_worker *const *workers,
	uint16_t worker_count, uint32_t port_count, struct rte_rcu_qsbr *rcu,
	const struct kvl_publisher_ops *ops)
{
	struct kvl_publisher *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return NULL;
	p->ops = *ops;
	p->workers = workers;
	p->worker_count = worker_count;
	p->port_count = port_count;
	p->rcu = rcu;
	p->publish_timer = evtimer_new(base, publish_timeout, p);
	p->retire_timer = evtimer_new(base, retire_timeout, p);
	if (p->publish_timer == NULL || p->retire_timer == NULL) {
		kvl_publisher_free(p);
		errno = ENOMEM;
		return NULL;
	}
	return p;
}

void kvl_publisher_free(struct kvl_publisher *p)
{
	if (p == NULL)
		return;
	if (p->publish_timer != NULL)
		event_free(p->publish_timer);
	if (p->retire_timer != NULL)
		event_free(p->retire_timer);
	for (unsigned int i = 0; i < p->retired_count; i++)
		generation_free(p, &p->retired[i]);
	generation_free(p, &p->current);
	free(p);
}

const struct kvl_root *kvl_publisher_root(const struct kvl_publisher *p)
{
	return p->current.roots[0];
}

void kvl_publisher_status(const struct kvl_publisher *p, struct kvl_publisher_status *status)
{
	*status = p->status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "ctrl/core/topology.h"
#include "dataplane/worker.h"

/*
 * Swaps the workers' roots without stopping them (docs/architecture.md, "Publishing"). A root is
 * built for each worker on its NUMA node, checked, and its pointer release-stored; the former one
 * is freed when every worker has passed a quiescent state. That is polled from a timer, never
 * waited for. At most KVL_RETIRED_MAX former generations wait; requests to publish beyond that
 * coalesce into one.
 */
#define KVL_RETIRED_MAX      2
#define KVL_RETIRE_POLL_US   1000
#define KVL_PUBLISH_RETRY_S  1 /* after one that failed */
#define KVL_PUBLISH_DELAY_MS 5 /* what changes within it is published as one */

struct event_base;
struct kvl_publisher;

struct kvl_publisher_ops {
	/* Fills the spec for one replica from the present state. Arrays stay the callee's until the
	 * next call. */
	void (*describe)(void *context, uint16_t replica, struct kvl_root_spec *spec);
	/* The topology the spec was made from; the publisher takes a reference. */
	struct kvl_topology *(*topology)(void *context);
	/* The workers' pointers have been stored, the former roots are still there. `root` is worker
	 * 0's, for other readers of the same rcu. */
	void (*published)(void *context, const struct kvl_root *root);
	/* Every worker runs the generation by now, and nothing older is in use. */
	void (*settled)(void *context, uint64_t generation);
	void *context;
};

struct kvl_publisher *kvl_publisher_new(struct event_base *base, struct kvl_worker *const *workers,
	uint16_t worker_count, uint32_t port_count, struct rte_rcu_qsbr *rcu,
	const struct kvl_publisher_ops *ops);

/* The workers must have stopped. */
void kvl_publisher_free(struct kvl_publisher *p);

/* Publishes within KVL_PUBLISH_DELAY_MS, or as soon as a retired place is free. */
void kvl_publisher_request(struct kvl_publisher *p);

/* Publishes now; for the start. Returns 0 or negative errno with the old roots live. */
int kvl_publisher_now(struct kvl_publisher *p);

/* The root that worker 0 was last given: for explanations. Valid until control returns to the loop. */
const struct kvl_root *kvl_publisher_root(const struct kvl_publisher *p);

struct kvl_publisher_status {
	uint64_t generation;
	uint64_t published_ms; /* kvl_now_ms() */
	uint64_t coalesced;    /* requests that found one pending */
	uint64_t failed;
	uint64_t publish_us; /* that the last publication took: roots built, workers told */
	uint64_t settle_us;  /* from the last publication to all workers running it */
};
void kvl_publisher_status(const struct kvl_publisher *p, struct kvl_publisher_status *status);

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "ctrl/core/log_limit.h"
#include "ctrl/core/neighbours.h"
#include "ctrl/core/scoring.h"
#include "ctrl/core/tally.h"
#include "ctrl/core/topology.h"
#include "dataplane/port/port.h"

/*
 * What the control core knows of each node beyond its configuration: the way there, its health,
 * and so whether it may be drawn. Indexed by stable number; control core only.
 */
struct kvl_node {
	bool present;
	struct kvl_node_config config;
	bool serves_nat, serves_link, serves_tunnel; /* by the services of its pool */

	enum kvl_hop_status hop_status;
	struct kvl_hop hop;
	bool has_egress;
	uint16_t egress; /* index of the router's port */

	struct kvl_scored_node *scored; /* the scorer's; NULL: no service uses its pool */
	enum kvl_health_state told;     /* last one that was noted */
	struct kvl_log_limit log;       /* of lines about it */
	const char *unreachable;        /* why there is no way to it; NULL: there is */
	const char *reason;             /* why it is not eligible, for people; NULL: it is */

	uint64_t report_ms; /* its own time of the last report taken; 0 = none */

	struct kvl_node_tally base; /* counters when the number was given: another id's past */
	struct kvl_node_tally seen; /* at the last health tick */
};

struct kvl_nodes {
	struct kvl_node *list; /* by number */
	uint32_t max;
	uint32_t count; /* highest number in use + 1 */
	uint32_t eligible;
	uint64_t log_suppressed; /* lines about nodes that were not logged */
	const struct kvl_port *ports;
	uint16_t port_count;
	struct kvl_scoring *scoring;
	/* what describing a root needs, [max] and [KVL_CLASSES][max] */
	struct kvl_root_node *root_nodes;
	uint16_t *weights;
};

int kvl_nodes_init(
	struct kvl_nodes *nodes, uint32_t max, const struct kvl_port *ports, uint16_t port_count);
void kvl_nodes_free(struct kvl_nodes *nodes);

/*
 * Follows a new topology: nodes that stay keep their health and counters. `changed` is told each
 * number that has become free or another node's.
 */
void kvl_nodes_follow(struct kvl_nodes *nodes, const struct kvl_topology *t,
	struct kvl_worker *const *workers, uint16_t worker_count, uint64_t now_ms,
	void (*changed)(void *ctx, uint16_t number), void *ctx);

/*
 * Works out hop and egress of every node anew, and so whether there is a way to it. Returns true
 * when something that a root holds has changed.
 */
bool kvl_nodes_resolve(struct kvl_nodes *nodes, struct kvl_neighbours *neighbours);

/* Notes which nodes the configuration has by their former definition only: their scores are lowered
 * with the next scoring. */
void kvl_nodes_confirm(struct kvl_nodes *nodes, const struct kvl_config *config);

/* How many versions it lags by its last word; 0 without one, or when that is older than
 * KVL_LAG_TRUSTED_MS: a bound is for those known to lag. */
#define KVL_LAG_TRUSTED_MS 60000
uint32_t kvl_node_version_lag(const struct kvl_node *node);

/*
 * Says of each node whether and why not it is eligible, and counts those that are, as of now: what
 * workers see follows with the next root. Fills weights.
 */
void kvl_nodes_judge(struct kvl_nodes *nodes, uint64_t now_ms);

/* The same, and fills root_nodes. */
void kvl_nodes_describe(struct kvl_nodes *nodes, uint64_t now_ms);

/* The addresses to watch in the kernel's tables: of nodes without a static next hop. Returns the
 * number written to `list`, which has room for nodes->count. */
size_t kvl_nodes_watched(const struct kvl_nodes *nodes, struct kvl_addr *list);

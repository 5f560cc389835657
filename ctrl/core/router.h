/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "ctrl/core/nodes.h"
#include "ctrl/core/overrides.h"
#include "ctrl/core/publisher.h"
#include "ctrl/core/source.h"
#include "ctrl/core/tenants.h"

/*
 * The running router as the control core sees it: configuration, ports, workers, topology, and what
 * follows the world (neighbours, health, publisher). One thread, the event loop on the main lcore.
 */
struct kvl_exceptions;
struct kvl_health_watch;
struct kvl_port_watch;
struct kvl_slow_path;
struct kvl_reports;
struct kvl_http;

struct kvl_router {
	struct event_base *base;
	const char *config_path;
	struct kvl_config *config; /* live, overrides included */
	struct kvl_overrides overrides;
	struct kvl_source source; /* of the configuration */
	bool topology_stale;      /* by it, and scored accordingly: kvl_router_freshen() */
	uint64_t started_ms;

	struct kvl_port ports[KVL_PORTS_MAX];
	uint16_t port_count;
	struct kvl_exceptions *exceptions;
	struct rte_rcu_qsbr *rcu;
	struct kvl_worker *workers[KVL_WORKERS_MAX];
	int sockets[KVL_WORKERS_MAX];
	uint16_t worker_count;
	bool workers_running;

	struct kvl_numbers *node_numbers, *service_numbers;
	struct kvl_topology *topology;
	struct kvl_nodes nodes;
	struct kvl_tenants tenants;
	struct kvl_neighbours *neighbours;
	struct kvl_health_watch *health;
	struct kvl_port_watch *port_watch;
	struct kvl_publisher *publisher;
	struct kvl_slow_path *slow;
	struct kvl_reports *reports; /* NULL: none are taken */
	struct kvl_http *http;       /* the daemon's; NULL: nothing is served */
};

/*
 * Brings the router up from a validated configuration (which it then owns): ports, workers, first
 * publication, steering. DPDK must be initialised. Returns 0, or negative errno with the reason in
 * `error`; kvl_router_stop() cleans up in either case.
 */
int kvl_router_start(struct kvl_router *r, struct event_base *base, const char *config_path,
	struct kvl_config *config, char *error, size_t error_size);
void kvl_router_stop(struct kvl_router *r);

/*
 * Reads the configuration again. Returns 1 when something changed and was switched to, 0 when it
 * is as before, or negative errno with the old state live, and stale in time (source.h). Messages in
 * *diags in any case. A bad node that was in force stays as it was, unconfirmed (config.h).
 */
int kvl_router_reload(struct kvl_router *r, struct kvl_diags *diags);

/* The topology may have become stale, by time alone: then decisions are less sharp (SPEC 5.3). */
void kvl_router_freshen(struct kvl_router *r, uint64_t now_ms);

/*
 * Builds a topology from r->config as it stands now, and switches to it. Returns 0, or negative
 * errno with the old one live and messages in *diags. Ids must be those of before.
 */
int kvl_router_rebuild(struct kvl_router *r, struct kvl_diags *diags);

/* A node's hop or health may have changed: decides again and publishes if so. */
void kvl_router_reconsider(struct kvl_router *r);

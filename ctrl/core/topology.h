/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "dataplane/clients.h"
#include "lib/model/config.h"
#include "lib/model/numbers.h"
#include "lib/model/root.h"

/*
 * One revision of services and nodes, with numbers given and placements built: what changes rarely
 * and is large. Roots are made from it many times, whenever health or a next hop changes.
 * Immutable but for services[].config.scoring, which no placement depends on (tune.h);
 * reference-counted, control core only; workers see the placements through their root.
 */
struct kvl_topology_service {
	struct kvl_service_config config;
	uint16_t number;
	uint32_t nodes;                     /* members of its pool */
	const struct kvl_placement *master; /* the control core's own copy */
	double moved; /* share of the keys whose first node the last revision changed */
};

struct kvl_topology {
	unsigned int references;
	uint64_t revision;
	uint32_t service_count;
	struct kvl_topology_service *services;
	uint32_t node_count;           /* highest number + 1 */
	struct kvl_node_config *nodes; /* by number; id "" = none */
	double *ownership;             /* by number: share of the hash space, 0..1 */
	struct kvl_clients *clients;   /* the services' lists; NULL: none has one */
	uint16_t replica_count;
	/* [replica * service_count + service], on the replica's NUMA node */
	struct kvl_placement **replicas;
};

struct kvl_topology_params {
	uint64_t revision;
	uint64_t now_ms;
	uint16_t replica_count; /* one per worker */
	const int *sockets;     /* NUMA node of each replica */
	uint32_t node_max;      /* numbers are below it */
	struct kvl_numbers *node_numbers, *service_numbers;
	const struct kvl_topology *former; /* shares what is as before; NULL: there is none */
};

/*
 * Takes numbers for new ids (those of ids that went are the caller's to release, once it has
 * switched over) and builds every placement. A node for which no number is left is left out by
 * name. Returns NULL with errno and a KVL_DIAG_ERROR; then numbers newly taken are released again.
 * The result has one reference.
 */
struct kvl_topology *kvl_topology_new(const struct kvl_config *config,
	const struct kvl_topology_params *params, struct kvl_diags *diags);

struct kvl_topology *kvl_topology_get(struct kvl_topology *t);
void kvl_topology_put(struct kvl_topology *t);

/* The share of sample keys that have another first node in `after` than in the topology before. */
double kvl_topology_moved(
	const struct kvl_topology *before, const struct kvl_topology_service *after);

/* Whether two configurations give the same services and nodes. */
bool kvl_topology_same(const struct kvl_config *a, const struct kvl_config *b);

/* The service by name; NULL: the first one; NULL when there is none. */
const struct kvl_topology_service *kvl_topology_service(
	const struct kvl_topology *t, const char *name);

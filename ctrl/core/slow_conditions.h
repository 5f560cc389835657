/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "ctrl/core/slow_path.h"
#include "dataplane/tenant.h"
#include "lib/proto/request.h"

/*
 * What dataplane/constrain.h is to a worker, for the slow path: choosing among a key's nodes where
 * more than the weights counts (SPEC 3.1 to 3.3, 7). It is one worker more: each bound here is a
 * worker's part, of what the slow path itself sends.
 *
 *	lag     the node is passed over and replaced from the walk. When all lag: the first is
 *	        asked all the same, counted (lag_open).
 *	bound   the node has as much in flight as it may: another holder, or shed.
 *	share   the node has had its share of the tenant's rate within this second: another
 *	        holder, or over_quota.
 *
 * Bound and share move a read among the key's holders only, and never a write. Where the nodes have
 * too much of either, it is shed that is told. A request has time for a whole look at its list
 * here, and so the draw is among those that are left: a worker draws again, and finds the same.
 */
struct kvl_slow_terms {
	const struct kvl_root_node *nodes;
	const uint16_t *weights;             /* of the request's class */
	const struct kvl_root_tenant *quota; /* NULL: no tenant */
	uint32_t lag_most;                   /* versions; KVL_LAG_ANY */
	uint32_t in_flight_most;             /* 0: no bound */
	uint32_t second;
	uint8_t holders; /* so many of the list may be asked; 1: the first only */
	uint8_t tenant;
};

/* What the slow path has had of the nodes so far, and where it counts what comes of it. */
struct kvl_slow_load {
	struct kvl_tenant_state *tenants;
	const uint32_t *in_flight; /* by node number */
	struct kvl_slow_counters *counters;
};

/* KVL_REQUEST_OK with *node, by weight among those that are left; else what to answer. `random`: 32
 * uniform bits. */
enum kvl_verdict kvl_slow_draw(const struct kvl_slow_load *load, const struct kvl_slow_terms *t,
	const struct kvl_row *row, uint32_t random, uint16_t *node);

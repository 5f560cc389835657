/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/score/facts.h"
#include "lib/score/health.h"

/*
 * The hard filter (SPEC 3): why a node may not serve, under a fixed name. Its verdict is a weight
 * of 0 where it is the node's own (down, draining...), and a mask on the drawn node where it is the
 * request's (SPEC 3.3: consistency, quota, a host taken).
 */
enum kvl_filter {
	KVL_FILTER_IN,
	/* the node's: for people, in the order in which one would look for the cause */
	KVL_FILTER_UNREACHABLE, /* no way there: next hop, port, address */
	KVL_FILTER_DOWN,
	KVL_FILTER_EJECTED,  /* by an operator */
	KVL_FILTER_DRAINING, /* new work */
	KVL_FILTER_COOLDOWN,
	KVL_FILTER_READ_ONLY,  /* writes */
	KVL_FILTER_RECOVERING, /* writes and strong reads */
	/* the request's */
	KVL_FILTER_LAG, /* its versions lag by more than the request allows */
	KVL_FILTER_HOST_TAKEN,
	KVL_FILTER_ZONE_TAKEN,
	KVL_FILTER_QUOTA, /* its share of the tenant's quota is spent */
	KVL_FILTER_TRIED, /* a retry never goes to the same node twice (SPEC 7) */
	KVL_FILTER_COUNT,
};

struct kvl_filter_node {
	bool reachable;
	bool ejected, draining;
	enum kvl_health_state health;
	uint32_t flags;       /* enum kvl_fact_flag */
	uint64_t version_lag; /* 0 when unknown: the bound is for nodes known to lag */
};

/* The node's own reason for a request class (KVL_CLASS_* bits). */
enum kvl_filter kvl_filter_node(const struct kvl_filter_node *node, unsigned int class);

/* What one request adds. */
struct kvl_filter_request {
	bool strong;  /* a strong read */
	bool placing; /* choosing replicas: hosts and zones must differ */
	bool host_taken, zone_taken, quota_spent, tried;
	uint64_t lag_allowed; /* UINT64_MAX = any */
};

enum kvl_filter kvl_filter_request(const struct kvl_filter_node *node, unsigned int class,
	const struct kvl_filter_request *request);

/*
 * The last usable replica is never ejected (SPEC 6.6). `reasons` of one pool's nodes, `scores` with
 * them; `row` is the number of candidates in a key's row (KVL_ROW_MAX).
 *
 * A row of min(row, count) distinct nodes keeps one as long as fewer nodes than that are out. So as
 * many nodes in cooldown as needed are let in again (the reason becomes KVL_FILTER_IN), best scores
 * first; and never more than a third of the pool is in cooldown, since a score that condemns more
 * is wrong, and what is left would not carry the load. Nodes that are out for another reason count
 * against the bound and stay out: a request to them is lost for certain. When with that nobody is
 * left, the pool fails open: nodes that are down come in, all of them, since then it is more likely
 * the router that is cut off. Returns how many were let in.
 */
size_t kvl_filter_spare(enum kvl_filter *reasons, const double *scores, size_t count, size_t row);

const char *kvl_filter_name(enum kvl_filter reason); /* "cooldown", "read_only"... */

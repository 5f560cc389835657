/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lib/model/root.h"
#include "lib/score/bucket.h"

/*
 * Tenants' quotas (SPEC 3.2), each worker's own part of them: a token bucket a tenant, and how much
 * of the rate each node has had within the running second. Numbers are below KVL_TENANTS_MAX.
 */
struct kvl_tenant_counters {
	uint64_t requests; /* within the quota */
	uint64_t over_rate;
	uint64_t over_share; /* every holder had its share */
};

/* What one node has had of a tenant's rate. */
struct kvl_tenant_share {
	uint32_t second;
	uint32_t used;
};

struct kvl_tenant_state {
	struct kvl_bucket buckets[KVL_TENANTS_MAX];
	struct kvl_tenant_share *shares; /* [tenant][node_max] */
	uint32_t node_max;
	/* dataplane: wo. control: ro. */
	struct kvl_tenant_counters counters[KVL_TENANTS_MAX];
};

/* Takes one request off the tenant's rate; false: over quota. */
static inline bool kvl_tenant_take(struct kvl_tenant_state *t, uint8_t tenant,
	const struct kvl_root_tenant *quota, uint64_t now_ms)
{
	struct kvl_bucket *b = &t->buckets[tenant];

	/* New, or configured anew: begins full. */
	if (__builtin_expect(b->rate != quota->rate || b->burst != quota->burst, 0))
		kvl_bucket_init(b, quota->rate, quota->burst, now_ms);
	return kvl_bucket_take(b, now_ms);
}

static inline struct kvl_tenant_share *kvl_tenant_share_of(
	const struct kvl_tenant_state *t, uint8_t tenant, uint16_t node)
{
	return &t->shares[(size_t)tenant * t->node_max + node];
}

/* Has the node had its share within this second? */
static inline bool kvl_tenant_share_spent(const struct kvl_tenant_state *t, uint8_t tenant,
	uint16_t node, const struct kvl_root_tenant *quota, uint32_t second)
{
	const struct kvl_tenant_share *s = kvl_tenant_share_of(t, tenant, node);

	return s->second == second && s->used >= quota->node_most;
}

static inline void kvl_tenant_share_add(
	struct kvl_tenant_state *t, uint8_t tenant, uint16_t node, uint32_t second)
{
	struct kvl_tenant_share *s = kvl_tenant_share_of(t, tenant, node);

	if (s->second != second)
		*s = (struct kvl_tenant_share){.second = second};
	s->used++;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "ctrl/core/topology.h"
#include "lib/model/scoring_fields.h"

/* Field by field: what stands between them (padding, line numbers) is no difference; nor is whether
 * a node is confirmed, which moves no key. */

static bool node_same(const struct kvl_node_config *a, const struct kvl_node_config *b)
{
	return strcmp(a->id, b->id) == 0 && kvl_addr_eq(&a->address, &b->address)
	       && a->port == b->port && strcmp(a->host, b->host) == 0
	       && strcmp(a->zone, b->zone) == 0 && strcmp(a->pool, b->pool) == 0
	       && strcmp(a->ketama_name, b->ketama_name) == 0 && a->weight == b->weight
	       && a->has_nexthop == b->has_nexthop
	       && (!a->has_nexthop
		       || (memcmp(a->nexthop_mac, b->nexthop_mac, sizeof(a->nexthop_mac)) == 0
			       && strcmp(a->nexthop_port, b->nexthop_port) == 0));
}

static bool service_same(const struct kvl_service_config *a, const struct kvl_service_config *b)
{
	return strcmp(a->name, b->name) == 0 && kvl_addr_eq(&a->address, &b->address)
	       && a->port == b->port && a->mode == b->mode && a->encapsulation == b->encapsulation
	       && a->gue_port == b->gue_port && strcmp(a->pool, b->pool) == 0
	       && a->placement.kind == b->placement.kind
	       && a->placement.replication == b->placement.replication
	       && a->placement.vnodes == b->placement.vnodes
	       && a->placement.seed == b->placement.seed && a->timeout_ms == b->timeout_ms
	       && kvl_scoring_same(&a->scoring, &b->scoring) && a->keyless == b->keyless
	       && a->retries == b->retries && a->partial == b->partial
	       && memcmp(&a->hash_rule, &b->hash_rule, sizeof(a->hash_rule)) == 0
	       && kvl_policy_same(&a->policy, &b->policy);
}

bool kvl_topology_same(const struct kvl_config *a, const struct kvl_config *b)
{
	if (a->node_count != b->node_count || a->service_count != b->service_count
		|| a->tenant_count != b->tenant_count)
		return false;
	for (size_t i = 0; i < a->tenant_count; i++)
		if (!kvl_tenant_same(&a->tenants[i], &b->tenants[i]))
			return false;
	for (size_t i = 0; i < a->node_count; i++)
		if (!node_same(&a->nodes[i], &b->nodes[i]))
			return false;
	for (size_t i = 0; i < a->service_count; i++)
		if (!service_same(&a->services[i], &b->services[i]))
			return false;
	return true;
}

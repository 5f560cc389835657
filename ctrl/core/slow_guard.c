/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/core/slow_guard.h"

#include <rte_random.h>

#include "ctrl/core/clock.h"
#include "dataplane/clients.h"

void kvl_slow_guard_init(struct kvl_slow_guard *g)
{
	kvl_client_table_init(&g->clients, g->places, KVL_SLOW_CLIENTS, rte_rand());
	g->tenants.shares = g->shares;
	g->tenants.node_max = KVL_NODES_MAX;
}

static struct kvl_client *client_find(struct kvl_slow_guard *g, const struct kvl_addr *client,
	uint16_t service, const struct kvl_client_terms *terms)
{
	bool evicted;

	return kvl_client_find(
		&g->clients, client, service, terms, (uint32_t)kvl_now_ms(), &evicted);
}

enum kvl_drop kvl_slow_guard_request(struct kvl_slow_guard *g, const struct kvl_root *root,
	const struct kvl_root_service *service, const struct kvl_addr *client, size_t len,
	struct kvl_client_terms *terms)
{
	const struct kvl_root_policy *policy;

	*terms = (struct kvl_client_terms){0};
	if (!(service->policy & KVL_POLICY_GUARD))
		return KVL_DROP_COUNT;
	policy = kvl_root_policy(root, service);
	if (policy->clients_listed
		&& !(kvl_clients_services(root->clients, client) >> policy->client_bit & 1))
		return KVL_DROP_CLIENT_DENIED;
	*terms = (struct kvl_client_terms){policy->client_rate, policy->amplification};
	if (terms->rate.requests == 0 && terms->amplification.factor == 0)
		return KVL_DROP_COUNT;
	return kvl_client_request(
		       client_find(g, client, service->number, terms), terms, (uint32_t)len)
		       ? KVL_DROP_COUNT
		       : KVL_DROP_CLIENT_RATE;
}

bool kvl_slow_guard_bytes(struct kvl_slow_guard *g, const struct kvl_addr *client, uint16_t service,
	const struct kvl_client_terms *terms, size_t len)
{
	return terms->amplification.factor == 0
	       || kvl_client_reply(client_find(g, client, service, terms), len);
}

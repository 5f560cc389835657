/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/model/policy.h"

#include <string.h>

const char *kvl_consistency_name(enum kvl_consistency consistency)
{
	return consistency == KVL_STRONG ? "strong" : "eventual";
}

/* Field by field: what stands between them (padding, line numbers) is no difference. */
static bool rule_same(const struct kvl_rule_config *a, const struct kvl_rule_config *b)
{
	return strcmp(a->prefix, b->prefix) == 0 && strcmp(a->tenant, b->tenant) == 0
	       && a->has_consistency == b->has_consistency && a->has_timeout == b->has_timeout
	       && a->has_retries == b->has_retries && a->has_choice == b->has_choice
	       && a->has_hash == b->has_hash && a->consistency == b->consistency
	       && a->timeout_ms == b->timeout_ms && a->retries == b->retries
	       && a->choice == b->choice
	       && memcmp(&a->hash_rule, &b->hash_rule, sizeof(a->hash_rule)) == 0;
}

static bool clients_same(const struct kvl_policy_config *a, const struct kvl_policy_config *b)
{
	if (a->client_count != b->client_count)
		return false;
	for (size_t i = 0; i < a->client_count; i++)
		if (!kvl_prefix_eq(&a->clients[i], &b->clients[i]))
			return false;
	return true;
}

bool kvl_policy_same(const struct kvl_policy_config *a, const struct kvl_policy_config *b)
{
	if (!clients_same(a, b) || a->client_rate.requests != b->client_rate.requests
		|| a->client_rate.burst != b->client_rate.burst
		|| a->amplification.factor != b->amplification.factor
		|| a->amplification.burst_bytes != b->amplification.burst_bytes
		|| a->consistency != b->consistency || a->has_version_lag != b->has_version_lag
		|| a->max_version_lag != b->max_version_lag || a->max_in_flight != b->max_in_flight
		|| a->rule_count != b->rule_count)
		return false;
	for (size_t i = 0; i < a->rule_count; i++)
		if (!rule_same(&a->rules[i], &b->rules[i]))
			return false;
	return true;
}

bool kvl_tenant_same(const struct kvl_tenant_config *a, const struct kvl_tenant_config *b)
{
	return strcmp(a->name, b->name) == 0 && a->rate == b->rate && a->burst == b->burst
	       && a->node_share == b->node_share;
}

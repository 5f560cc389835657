/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/api/route_terms.h"

#include <string.h>

#include "ctrl/api/format.h"

/* The longest prefix wins; for one key a search through all is good enough. */
static const struct kvl_rule_config *rule_find(
	const struct kvl_policy_config *policy, const uint8_t *key, size_t len)
{
	const struct kvl_rule_config *best = NULL;

	for (size_t i = 0; i < policy->rule_count; i++) {
		const struct kvl_rule_config *rule = &policy->rules[i];
		size_t n = strlen(rule->prefix);

		if (n <= len && memcmp(rule->prefix, key, n) == 0
			&& (best == NULL || n > strlen(best->prefix)))
			best = rule;
	}
	return best;
}

struct route_terms route_terms_of(const struct kvl_router *r,
	const struct kvl_topology_service *service, const uint8_t *key, size_t len)
{
	const struct kvl_service_config *c = &service->config;
	const struct kvl_rule_config *rule = rule_find(&c->policy, key, len);
	struct route_terms t = {
		.rule = rule,
		.hash_rule = &c->hash_rule,
		.strong = c->policy.consistency == KVL_STRONG,
		.lag_most = c->policy.has_version_lag ? c->policy.max_version_lag : KVL_LAG_ANY,
		.timeout_ms = c->timeout_ms,
		.choice = c->scoring.choice,
		.tenant = KVL_TENANT_NONE,
	};

	if (rule == NULL)
		return t;
	if (rule->has_hash)
		t.hash_rule = &rule->hash_rule;
	if (rule->has_consistency)
		t.strong = rule->consistency == KVL_STRONG;
	if (rule->has_timeout)
		t.timeout_ms = rule->timeout_ms;
	if (rule->has_choice)
		t.choice = rule->choice;
	if (rule->tenant[0] != '\0')
		t.tenant = kvl_tenants_find(&r->tenants, rule->tenant);
	return t;
}

/* Has some worker given the node all of the tenant's rate that it may have this second? */
static bool share_spent(const struct kvl_router *r, uint8_t tenant, uint16_t number)
{
	struct kvl_root_tenant quotas[KVL_TENANTS_MAX];

	kvl_tenants_describe(&r->tenants, r->worker_count, quotas);
	for (uint16_t i = 0; i < r->worker_count; i++) {
		const struct kvl_worker *w = r->workers[i];
		uint32_t second = __atomic_load_n(&w->tick, __ATOMIC_RELAXED) / 1000;

		if (kvl_tenant_share_spent(&w->tenants, tenant, number, &quotas[tenant], second))
			return true;
	}
	return false;
}

enum kvl_filter route_terms_filter(
	const struct kvl_router *r, const struct route_terms *t, uint16_t number)
{
	const struct kvl_node *node = &r->nodes.list[number];
	const struct kvl_filter_node seen = {
		.reachable = true, /* what is the node's own has a weight of 0 */
		.health = KVL_HEALTH_HEALTHY,
		.flags = node->scored == NULL ? 0 : node->scored->report_flags,
		.version_lag = kvl_node_version_lag(node),
	};
	const struct kvl_filter_request request = {
		.strong = t->strong,
		.lag_allowed = t->lag_most,
		.quota_spent = t->tenant != KVL_TENANT_NONE && share_spent(r, t->tenant, number),
	};

	return kvl_filter_request(&seen, t->strong ? KVL_CLASS_WRITE : 0, &request);
}

const char *route_filter_text(enum kvl_filter filter)
{
	switch (filter) {
	case KVL_FILTER_IN:
		return NULL;
	case KVL_FILTER_READ_ONLY:
		return "read-only: takes no writes, and strong reads go where those go";
	case KVL_FILTER_RECOVERING:
		return "recovering: takes no writes and no strong reads";
	case KVL_FILTER_LAG:
		return "lags by more versions than allowed";
	case KVL_FILTER_QUOTA:
		return "tenant's share of this node is spent";
	default:
		return kvl_filter_name(filter);
	}
}

json_t *route_terms_object(const struct kvl_router *r, const struct route_terms *t)
{
	return json_pack("{s:o, s:o, s:s, s:i}", "rule",
		kvl_json_text(t->rule == NULL ? NULL : t->rule->prefix), "tenant",
		kvl_json_text(t->tenant == KVL_TENANT_NONE
				      ? NULL
				      : r->tenants.list[t->tenant].config.name),
		"consistency", kvl_consistency_name(t->strong ? KVL_STRONG : KVL_EVENTUAL),
		"timeout_ms", (int)t->timeout_ms);
}

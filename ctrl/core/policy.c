/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "ctrl/core/policy.h"

static struct kvl_root_policy policies[KVL_POLICY_SERVICES];
static struct kvl_root_rule rules[KVL_SERVICES_MAX * KVL_RULES_MAX];
static struct kvl_root_tenant quotas[KVL_TENANTS_MAX];

static bool is_guarded(const struct kvl_policy_config *p)
{
	return p->client_count != 0 || p->client_rate.requests != 0 || p->amplification.factor != 0;
}

/* Whether a read's draw is bound by more than the weights. */
static bool is_choosy(const struct kvl_root_policy *p)
{
	return p->strong || p->tenant != KVL_TENANT_NONE || p->lag_most != KVL_LAG_ANY
	       || p->in_flight_most != 0;
}

static struct kvl_root_policy policy_of(
	const struct kvl_policy_config *p, unsigned int bit, uint16_t workers)
{
	return (struct kvl_root_policy){
		.clients_listed = p->client_count != 0,
		.client_bit = (uint8_t)bit,
		.strong = p->consistency == KVL_STRONG,
		.tenant = KVL_TENANT_NONE,
		.lag_most = p->has_version_lag ? p->max_version_lag : KVL_LAG_ANY,
		.in_flight_most =
			p->max_in_flight == 0 ? 0 : kvl_policy_part(p->max_in_flight, workers),
		.client_rate = p->client_rate,
		.amplification = p->amplification,
		.rule = KVL_RULE_NONE,
	};
}

/* With one holder another node would only miss; dsr replies do not come this way. */
static bool can_retry(const struct kvl_root_service *s)
{
	return s->replication > 1 && s->mode == KVL_MODE_NAT;
}

/* The service that a rule's keys are served by. */
static struct kvl_root_service rule_service(
	const struct kvl_root_service *of, const struct kvl_rule_config *rule)
{
	struct kvl_root_service s = *of;

	s.members = NULL; /* commands without a key have no rule */
	s.member_count = 0;
	if (rule->has_timeout)
		s.timeout_ms = rule->timeout_ms;
	if (rule->has_retries)
		s.retries = can_retry(of) ? (uint8_t)rule->retries : 0;
	if (rule->has_choice)
		s.choice = rule->choice;
	if (rule->has_hash)
		s.hash_rule = rule->hash_rule;
	return s;
}

static struct kvl_root_policy rule_policy(const struct kvl_root_policy *of,
	const struct kvl_rule_config *rule, const struct kvl_tenants *tenants)
{
	struct kvl_root_policy p = *of;

	if (rule->has_consistency)
		p.strong = rule->consistency == KVL_STRONG;
	if (rule->tenant[0] != '\0')
		p.tenant = kvl_tenants_find(tenants, rule->tenant);
	return p;
}

static struct kvl_root_rule rule_describe(uint16_t service, const char *prefix, uint32_t target)
{
	struct kvl_root_rule r = {
		.service = service,
		.rule = {.len = (uint8_t)strlen(prefix), .target = (uint16_t)target},
	};

	memcpy(r.rule.prefix, prefix, r.rule.len);
	return r;
}

static void rules_describe(const struct kvl_policy_config *config, uint16_t service,
	const struct kvl_tenants *tenants, struct kvl_root_service *services,
	struct kvl_root_spec *spec)
{
	for (size_t i = 0; i < config->rule_count; i++) {
		const struct kvl_rule_config *rule = &config->rules[i];
		uint32_t at = spec->service_count + spec->variant_count++;

		services[at] = rule_service(&services[service], rule);
		policies[at] = rule_policy(&policies[service], rule, tenants);
		policies[at].rule = (uint16_t)i;
		services[at].policy = (services[service].policy & KVL_POLICY_GUARD)
				      | (is_choosy(&policies[at]) ? KVL_POLICY_CHOICE : 0);
		rules[spec->rule_count++] = rule_describe(service, rule->prefix, at);
	}
}

void kvl_policy_describe(const struct kvl_topology *t, const struct kvl_tenants *tenants,
	uint16_t workers, struct kvl_root_service *services, struct kvl_root_spec *spec)
{
	spec->variant_count = spec->rule_count = 0;
	for (uint32_t i = 0; i < t->service_count; i++) {
		const struct kvl_policy_config *config = &t->services[i].config.policy;

		policies[i] = policy_of(config, i, workers);
		services[i].policy = (is_guarded(config) ? KVL_POLICY_GUARD : 0)
				     | (config->rule_count != 0 ? KVL_POLICY_RULES : 0)
				     | (is_choosy(&policies[i]) ? KVL_POLICY_CHOICE : 0);
	}
	for (uint32_t i = 0; i < t->service_count; i++)
		rules_describe(&t->services[i].config.policy, (uint16_t)i, tenants, services, spec);
	spec->policies = policies;
	spec->rules = rules;
	spec->tenants = quotas;
	spec->tenant_count = kvl_tenants_describe(tenants, workers, quotas);
	spec->clients = t->clients;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/model/draft.h"

#include <stdio.h>
#include <string.h>

/* Policies against the service's mode and replication, and against the tenants there are. */

static bool tenant_known(const struct draft *d, const char *name)
{
	for (size_t i = 0; i < d->tenant_count; i++)
		if (strcmp(d->tenants[i].name, name) == 0)
			return true;
	return false;
}

static void tenants_check(const struct draft *d, struct walk *w, const struct service_draft *s)
{
	const struct kvl_policy_config *p = &s->config.policy;
	char path[64];

	for (size_t i = 0; i < p->rule_count; i++) {
		const struct kvl_rule_config *rule = &p->rules[i];

		if (rule->tenant[0] == '\0' || tenant_known(d, rule->tenant))
			continue;
		snprintf(path, sizeof(path), "%s.rules[%zu].tenant", s->path, i);
		walk_fault(w, (struct pos){rule->tenant_line, rule->tenant_column}, path,
			rule->tenant, "is none of the tenants");
	}
}

/* What a service cannot have when its replies pass the router by. */
static void dsr_check(struct walk *w, const struct service_draft *s)
{
	if (s->config.mode != KVL_MODE_DSR)
		return;
	if (s->config.policy.max_in_flight != 0)
		walk_fault(w, s->at[SERVICE_MAX_IN_FLIGHT], s->path, NULL,
			"max_in_flight needs mode nat: replies of dsr do not pass the router");
	if (s->config.policy.amplification.factor != 0)
		walk_fault(w, s->at[SERVICE_AMPLIFICATION], s->path, NULL,
			"amplification needs mode nat: replies of dsr do not pass the router");
}

/* Reached from the Internet as likely as not: everything but what RFC 1918, 3927, 4193, 4291, 5737,
 * 6598 and 3849 set aside, and loopback. */
static bool address_is_public(const struct kvl_addr *a)
{
	static const char *const set_aside[] = {"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16",
		"127.0.0.0/8", "169.254.0.0/16", "100.64.0.0/10", "192.0.2.0/24", "198.51.100.0/24",
		"203.0.113.0/24", "fc00::/7", "fe80::/10", "::1/128", "2001:db8::/32"};
	const struct kvl_prefix whole = {*a, 128};
	struct kvl_prefix p;

	for (size_t i = 0; i < sizeof(set_aside) / sizeof(*set_aside); i++)
		if (kvl_prefix_parse(set_aside[i], &p) == 0 && kvl_prefix_covers(&p, &whole))
			return false;
	return true;
}

/* A memcached that anyone can ask is the best reflector there is. */
static void amplification_default(struct service_draft *s)
{
	struct kvl_policy_config *p = &s->config.policy;

	if (p->amplification.factor == 0 && p->client_count == 0 && s->config.mode == KVL_MODE_NAT
		&& address_is_public(&s->config.address))
		p->amplification = (struct kvl_amplification){
			KVL_AMPLIFICATION_FACTOR, KVL_AMPLIFICATION_BURST};
}

void policies_check(struct draft *d, struct walk *w)
{
	for (size_t i = 0; i < d->service_count; i++) {
		struct service_draft *s = &d->services[i];

		if (s->faulty)
			continue;
		tenants_check(d, w, s);
		dsr_check(w, s);
		if (s->config.policy.has_version_lag && s->config.placement.replication == 1)
			walk_fault(w, s->at[SERVICE_MAX_VERSION_LAG], s->path, NULL,
				"max_version_lag needs replication above 1: nobody else has a "
				"copy");
		amplification_default(s);
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "ctrl/core/policy.h"
#include "ctrl/core/tenants.h"

static struct kvl_tenant_counters counters_sum(
	uint8_t number, struct kvl_worker *const *workers, uint16_t worker_count)
{
	struct kvl_tenant_counters sum = {0};

	for (uint16_t i = 0; i < worker_count; i++) {
		const struct kvl_tenant_counters *c = &workers[i]->tenants.counters[number];

		sum.requests += kvl_counter_read(&c->requests);
		sum.over_rate += kvl_counter_read(&c->over_rate);
		sum.over_share += kvl_counter_read(&c->over_share);
	}
	return sum;
}

static bool is_configured(const struct kvl_tenant_config *config, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(config[i].name, name) == 0)
			return true;
	return false;
}

uint8_t kvl_tenants_find(const struct kvl_tenants *tenants, const char *name)
{
	for (uint8_t i = 0; i < KVL_TENANTS_MAX; i++)
		if (strcmp(tenants->list[i].config.name, name) == 0)
			return i;
	return KVL_TENANT_NONE;
}

void kvl_tenants_follow(struct kvl_tenants *tenants, const struct kvl_tenant_config *config,
	size_t count, struct kvl_worker *const *workers, uint16_t worker_count)
{
	/* Those that go first: there are as many numbers as there may be tenants. */
	for (unsigned int i = 0; i < KVL_TENANTS_MAX; i++)
		if (!is_configured(config, count, tenants->list[i].config.name))
			tenants->list[i].config = (struct kvl_tenant_config){0};
	for (size_t i = 0; i < count; i++) {
		uint8_t number = kvl_tenants_find(tenants, config[i].name);

		if (number == KVL_TENANT_NONE) {
			number = kvl_tenants_find(tenants, "");
			tenants->list[number].base = counters_sum(number, workers, worker_count);
		}
		tenants->list[number].config = config[i];
	}
}

uint32_t kvl_tenants_describe(const struct kvl_tenants *tenants, uint16_t workers,
	struct kvl_root_tenant quotas[KVL_TENANTS_MAX])
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < KVL_TENANTS_MAX; i++) {
		const struct kvl_tenant_config *c = &tenants->list[i].config;

		quotas[i] = (struct kvl_root_tenant){0};
		if (c->name[0] == '\0')
			continue;
		quotas[i].rate = kvl_policy_part(c->rate, workers);
		quotas[i].burst = kvl_policy_part(c->burst, workers);
		quotas[i].node_most = (uint32_t)ceil(c->node_share * quotas[i].rate);
		count = i + 1;
	}
	return count;
}

struct kvl_tenant_counters kvl_tenants_counters(const struct kvl_tenants *tenants, uint8_t number,
	struct kvl_worker *const *workers, uint16_t worker_count)
{
	struct kvl_tenant_counters c = counters_sum(number, workers, worker_count);
	const struct kvl_tenant_counters *base = &tenants->list[number].base;

	c.requests -= base->requests;
	c.over_rate -= base->over_rate;
	c.over_share -= base->over_share;
	return c;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/api/commands.h"
#include "ctrl/core/router.h"

/* Each tenant's quota and what it did with it, all workers together. */

static json_t *tenant_object(const struct kvl_router *r, uint8_t number)
{
	const struct kvl_tenant_config *c = &r->tenants.list[number].config;
	struct kvl_tenant_counters n =
		kvl_tenants_counters(&r->tenants, number, r->workers, r->worker_count);

	return json_pack("{s:s, s:I, s:I, s:f, s:I, s:I, s:I}", "name", c->name, "rate",
		(json_int_t)c->rate, "burst", (json_int_t)c->burst, "node_share", c->node_share,
		"requests", (json_int_t)n.requests, "over_rate", (json_int_t)n.over_rate,
		"over_share", (json_int_t)n.over_share);
}

json_t *kvl_command_tenants(void *ctx, const json_t *params, struct kvl_message_error *error)
{
	const struct kvl_router *r = ctx;
	json_t *list = json_array();

	for (uint8_t i = 0; i < KVL_TENANTS_MAX; i++)
		if (r->tenants.list[i].config.name[0] != '\0')
			json_array_append_new(list, tenant_object(r, i));
	return json_pack("{s:o}", "tenants", list);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/api/commands.h"
#include "ctrl/api/format.h"
#include "ctrl/core/router.h"

static json_t *service_object(const struct kvl_topology_service *s)
{
	const struct kvl_service_config *c = &s->config;

	return json_pack(
		"{s:s, s:i, s:o, s:s, s:s, s:i, s:i, s:I, s:s, s:i, s:s, s:s, s:i, s:i, s:o, s:f}",
		"name", c->name, "number", (int)s->number, "address",
		kvl_json_endpoint(&c->address, c->port), "mode",
		c->mode == KVL_MODE_NAT ? "nat" : "dsr", "placement",
		kvl_placement_name(c->placement.kind), "replication", (int)c->placement.replication,
		"vnodes", (int)c->placement.vnodes, "seed", (json_int_t)c->placement.seed, "pool",
		c->pool, "timeout_ms", (int)c->timeout_ms, "keyless",
		c->keyless == KVL_KEYLESS_LOCAL ? "local" : "round_robin", "partial",
		c->partial == KVL_PARTIAL_MISS ? "miss" : "error", "nodes", (int)s->nodes, "tokens",
		(int)kvl_placement_tokens(s->master), "digest",
		kvl_json_hex(kvl_placement_digest(s->master)), "moved", s->moved);
}

json_t *kvl_command_services(void *ctx, const json_t *params, struct kvl_message_error *error)
{
	const struct kvl_router *r = ctx;
	json_t *list = json_array();

	for (uint32_t i = 0; i < r->topology->service_count; i++)
		json_array_append_new(list, service_object(&r->topology->services[i]));
	return json_pack(
		"{s:I, s:o}", "revision", (json_int_t)r->topology->revision, "services", list);
}

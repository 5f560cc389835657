/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/api/commands.h"
#include "ctrl/core/router.h"

static json_t *texts(const struct kvl_diags *diags)
{
	json_t *list = json_array();

	for (size_t i = 0; i < diags->count; i++)
		json_array_append_new(list, json_string(diags->list[i].text));
	if (diags->dropped != 0)
		json_array_append_new(list, json_sprintf("and %zu more", diags->dropped));
	return list;
}

json_t *kvl_command_reload(void *ctx, const json_t *params, struct kvl_message_error *error)
{
	static struct kvl_diags diags; /* large */
	struct kvl_router *r = ctx;
	int rc;

	diags = (struct kvl_diags){0};
	rc = kvl_router_reload(r, &diags);
	if (rc < 0) {
		error->details = texts(&diags);
		return kvl_message_fail(error, KVL_CODE_CONFIG,
			"the configuration is refused; revision %llu stays in force",
			(unsigned long long)r->topology->revision);
	}
	return json_pack("{s:I, s:b, s:I, s:I, s:o}", "revision", (json_int_t)r->topology->revision,
		"changed", rc, "nodes", (json_int_t)r->config->node_count, "services",
		(json_int_t)r->config->service_count, "diagnostics", texts(&diags));
}

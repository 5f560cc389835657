/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "ctrl/api/pages.h"
#include "ctrl/core/clock.h"
#include "ctrl/core/router.h"

/*
 * GET /healthz: 200 when every service has a node to send to, else 503 with the services that have
 * none. For what stands in front of several routers: nodes that are only in because all are out
 * (fail-open, lib/score/filter.h) do not count, another router may do better.
 */

static uint32_t healthy_count(const struct kvl_router *r, const char *pool)
{
	uint32_t count = 0;

	for (uint32_t n = 0; n < r->nodes.count; n++) {
		const struct kvl_node *node = &r->nodes.list[n];

		count += node->present && node->reason == NULL
			 && kvl_health_eligible(&node->scored->health)
			 && strcmp(node->config.pool, pool) == 0;
	}
	return count;
}

static json_t *reasons_list(const struct kvl_router *r)
{
	json_t *list = json_array();

	if (!r->workers_running)
		json_array_append_new(list, json_string("the workers are not running"));
	if (r->topology->service_count == 0)
		json_array_append_new(list, json_string("no service is configured"));
	for (uint32_t i = 0; i < r->topology->service_count; i++) {
		const struct kvl_service_config *s = &r->topology->services[i].config;

		if (healthy_count(r, s->pool) == 0)
			json_array_append_new(
				list, json_sprintf("service %s: no node of pool %s is healthy",
					      s->name, s->pool));
	}
	return list;
}

void kvl_page_healthz(
	void *ctx, const struct kvl_http_request *request, struct kvl_http_answer *answer)
{
	struct kvl_router *r = ctx;
	json_t *reasons;
	bool ok;

	kvl_nodes_judge(&r->nodes, kvl_now_ms());
	reasons = reasons_list(r);
	ok = json_array_size(reasons) == 0;
	kvl_http_json(answer, ok ? 200 : 503,
		json_pack("{s:s, s:I, s:I, s:o}", "status", ok ? "ok" : "unavailable", "revision",
			(json_int_t)r->topology->revision, "eligible",
			(json_int_t)r->nodes.eligible, "reasons", reasons));
}

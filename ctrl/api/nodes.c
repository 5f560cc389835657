/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/api/commands.h"
#include "ctrl/api/format.h"
#include "ctrl/core/clock.h"
#include "ctrl/core/router.h"

struct row {
	const struct kvl_router *router;
	const struct kvl_node *node;
	uint16_t number;
	double all_requests; /* of every node, for the share */
};

static json_t *identity(const struct row *row)
{
	const struct kvl_node_config *config = &row->node->config;

	return json_pack("{s:s, s:i, s:o, s:s, s:s, s:s, s:s, s:i, s:b}", "id", config->id,
		"number", (int)row->number, "address",
		kvl_json_endpoint(&config->address, config->port), "host", config->host, "zone",
		config->zone, "pool", config->pool, "ketama_name", config->ketama_name, "weight",
		(int)config->weight, "unconfirmed", config->unconfirmed);
}

static json_t *condition(const struct row *row)
{
	const struct kvl_node *node = row->node;
	bool resolved = node->hop_status == KVL_HOP_OK && node->has_egress;

	return json_pack("{s:s, s:b, s:o, s:o, s:o, s:f, s:f}", "state",
		node->scored == NULL ? "unused" : kvl_health_name(node->scored->health.state),
		"eligible", node->reason == NULL, "reason", kvl_json_text(node->reason), "mac",
		resolved ? kvl_json_mac(node->hop.mac) : json_null(), "port",
		kvl_json_text(resolved ? row->router->ports[node->egress].config.name : NULL),
		"ownership", row->router->topology->ownership[row->number], "score",
		node->scored == NULL ? 0.0 : node->scored->breakdown[0].score);
}

static json_t *traffic(const struct row *row, const struct kvl_node_tally *t)
{
	double share = row->all_requests > 0 ? (double)t->requests / row->all_requests : 0;

	return json_pack(
		"{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f}",
		"requests", (json_int_t)t->requests, "replies", (json_int_t)t->replies, "bytes_out",
		(json_int_t)t->bytes_out, "bytes_in", (json_int_t)t->bytes_in, "hits",
		(json_int_t)t->hits, "misses", (json_int_t)t->misses, "errors",
		(json_int_t)t->errors, "rejects", (json_int_t)t->rejects, "timeouts",
		(json_int_t)t->timeouts, "refused", (json_int_t)t->refused, "late",
		(json_int_t)t->late, "in_flight", (json_int_t)t->in_flight, "share", share,
		"p50_us", kvl_hist_quantile(&t->latency, 0.50), "p95_us",
		kvl_hist_quantile(&t->latency, 0.95), "p99_us",
		kvl_hist_quantile(&t->latency, 0.99));
}

static void tally_read(const struct row *row, bool latency, struct kvl_node_tally *since)
{
	struct kvl_node_tally now;

	if (!latency)
		now.latency = row->node->base.latency;
	kvl_tally_node(row->router->workers, row->router->worker_count, row->number, latency, &now);
	kvl_tally_since(&now, &row->node->base, since);
}

static double requests_sum(const struct kvl_router *r)
{
	double sum = 0;

	for (uint32_t n = 0; n < r->nodes.count; n++) {
		struct row row = {.router = r, .node = &r->nodes.list[n], .number = n};
		struct kvl_node_tally since;

		if (!row.node->present)
			continue;
		tally_read(&row, false, &since);
		sum += (double)since.requests;
	}
	return sum;
}

static json_t *node_object(const struct row *row)
{
	struct kvl_node_tally since;
	json_t *object = identity(row);

	tally_read(row, true, &since);
	json_object_update_new(object, condition(row));
	json_object_update_new(object, traffic(row, &since));
	return object;
}

json_t *kvl_command_nodes(void *ctx, const json_t *params, struct kvl_message_error *error)
{
	struct kvl_router *r = ctx;
	json_t *list = json_array();
	double all = requests_sum(r);

	kvl_nodes_judge(&r->nodes, kvl_now_ms());
	for (uint32_t n = 0; n < r->nodes.count; n++) {
		struct row row = {r, &r->nodes.list[n], n, all};

		if (row.node->present)
			json_array_append_new(list, node_object(&row));
	}
	return json_pack(
		"{s:I, s:o}", "revision", (json_int_t)r->topology->revision, "nodes", list);
}

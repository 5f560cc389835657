/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "ctrl/cli/ask.h"
#include "ctrl/cli/commands.h"
#include "ctrl/cli/table.h"
#include "ctrl/cli/value.h"
#include "lib/model/config.h"

struct checked {
	const struct cli_call *call;
	struct kvl_config *config; /* NULL = refused */
	struct kvl_diags diags;
};

static const char *severity_name(enum kvl_severity severity)
{
	switch (severity) {
	case KVL_DIAG_WARNING:
		return "warning";
	case KVL_DIAG_NODE:
		return "node left out";
	case KVL_DIAG_ERROR:
		return "error";
	}
	return "unknown";
}

/* Nodes and tokens that a service finds in its pool. */
static size_t count_nodes(
	const struct kvl_config *config, const struct kvl_service_config *s, uint64_t *tokens)
{
	size_t count = 0;

	*tokens = 0;
	for (size_t i = 0; i < config->node_count; i++) {
		if (strcmp(config->nodes[i].pool, s->pool) != 0)
			continue;
		count++;
		*tokens += kvl_placement_tokens_for(&s->placement, config->nodes[i].weight);
	}
	return count;
}

/* ---- for people ---- */

static void print_services(const struct checked *c)
{
	static const char *const columns[] = {
		"SERVICE", "PLACEMENT", ">N", "POOL", ">NODES", ">TOKENS"};
	struct table *t = table_new(columns, TABLE_COLUMNS(columns));

	for (size_t i = 0; i < c->config->service_count; i++) {
		const struct kvl_service_config *s = &c->config->services[i];
		uint64_t tokens;
		size_t nodes = count_nodes(c->config, s, &tokens);

		table_cell(t, "%s", s->name);
		table_cell(t, "%s", kvl_placement_name(s->placement.kind));
		table_cell(t, "%u", s->placement.replication);
		table_cell(t, "%s", s->pool);
		table_cell(t, "%zu", nodes);
		table_cell(t, "%llu", (unsigned long long)tokens);
	}
	table_print(t, c->call->out, NULL);
}

static void print_text(const struct checked *c)
{
	FILE *out = c->call->out;

	for (size_t i = 0; i < c->diags.count; i++)
		fprintf(out, "%s: %s\n", severity_name(c->diags.list[i].severity),
			c->diags.list[i].text);
	if (c->diags.dropped > 0)
		fprintf(out, "and %zu more\n", c->diags.dropped);
	if (c->config == NULL) {
		fprintf(out, "%s: refused, errors: %zu\n", c->call->arg, c->diags.errors);
		return;
	}
	fprintf(out, "%s: good, services: %zu, nodes: %zu, left out: %zu\n", c->call->arg,
		c->config->service_count, c->config->node_count, c->config->nodes_rejected);
	print_services(c);
}

/* ---- for programs ---- */

static json_t *services_value(const struct kvl_config *config)
{
	json_t *list = json_array();

	for (size_t i = 0; config != NULL && i < config->service_count; i++) {
		const struct kvl_service_config *s = &config->services[i];
		uint64_t tokens;
		size_t nodes = count_nodes(config, s, &tokens);

		json_array_append_new(list,
			json_pack("{s:s, s:s, s:I, s:s, s:I, s:I}", "name", s->name, "placement",
				kvl_placement_name(s->placement.kind), "replication",
				(json_int_t)s->placement.replication, "pool", s->pool, "nodes",
				(json_int_t)nodes, "tokens", (json_int_t)tokens));
	}
	return list;
}

static json_t *diagnostics_value(const struct kvl_diags *diags)
{
	json_t *list = json_array();

	for (size_t i = 0; i < diags->count; i++) {
		/* A text may quote bytes of the file that are not UTF-8: then it is left out. */
		json_array_append_new(list,
			json_pack("{s:s, s:s*}", "severity", severity_name(diags->list[i].severity),
				"text", diags->list[i].text));
	}
	return list;
}

static void print_json(const struct checked *c)
{
	const struct kvl_config *config = c->config;
	json_t *object = json_pack("{s:b, s:s*, s:I, s:I, s:o, s:o, s:I}", "ok", config != NULL,
		"file", c->call->arg, "nodes",
		(json_int_t)(config != NULL ? config->node_count : 0), "nodes_left_out",
		(json_int_t)(config != NULL ? config->nodes_rejected : 0), "services",
		services_value(config), "diagnostics", diagnostics_value(&c->diags),
		"diagnostics_dropped", (json_int_t)c->diags.dropped);

	ask_print_json(c->call, object, false);
	json_decref(object);
}

static enum cli_exit run(const struct cli_call *call)
{
	struct checked c = {.call = call};
	enum cli_exit rc;

	c.config = kvl_config_load(call->arg, &c.diags);
	if (call->json)
		print_json(&c);
	else
		print_text(&c);
	rc = c.config != NULL ? CLI_OK : CLI_WRONG;
	kvl_config_free(c.config);
	return rc;
}

const struct cli_command cli_command_check = {
	.name = "check",
	.arg = "FILE",
	.summary = "what kvlaned would say to a configuration, without it",
	.help = "Prints every error, warning and left-out node with file, line and column, then "
		"what "
		"each service would get. Errors refuse the whole (exit status 2); a bad node is "
		"left "
		"out and the rest stays (exit status 0).",
	.offline = true,
	.run = run,
};

/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "ctrl/cli/ask.h"
#include "ctrl/cli/commands.h"
#include "ctrl/cli/fleet.h"
#include "ctrl/cli/table.h"
#include "ctrl/cli/value.h"

/*
 * What loading a file would move, before it is loaded: the running placement of each service is
 * built again from the router's answers, the new one from the file, and both are asked for a
 * sample of keys.
 */
struct diff {
	const char *service;
	size_t nodes_before, nodes_after;
	struct fleet_change keys; /* `between` is the placement's own fault */
	const char *note;
};

static struct kvl_placement_params running_params(const json_t *service)
{
	struct kvl_placement_params params = {
		.replication = (uint32_t)value_int(service, "replication"),
		.vnodes = (uint32_t)value_int(service, "vnodes"),
		.seed = (uint64_t)value_int(service, "seed"),
	};

	if (kvl_placement_parse(value_text(service, "placement"), &params.kind) < 0)
		params.replication = 0; /* is refused when built: a newer kvlaned's */
	return params;
}

static struct diff service_diff(const json_t *service, const json_t *nodes,
	const struct kvl_config *config, const struct kvl_service_config *next)
{
	struct kvl_placement_params params = running_params(service);
	struct fleet before = fleet_of_answer(nodes, value_text(service, "pool"));
	struct fleet after = fleet_of_config(config, next->pool);
	struct kvl_placement *a = fleet_place(&before, &params);
	struct kvl_placement *b = fleet_place(&after, &next->placement);
	struct diff d = {
		.service = next->name, .nodes_before = before.count, .nodes_after = after.count};

	if (a == NULL || b == NULL)
		d.note = "cannot be compared";
	else
		d.keys = fleet_compare(&(struct fleet_side){&before, a, params.seed},
			&(struct fleet_side){&after, b, next->placement.seed});
	free(a);
	free(b);
	fleet_free(&before);
	fleet_free(&after);
	return d;
}

static const json_t *service_find(const json_t *services, const char *name)
{
	const json_t *s;
	size_t i;

	json_array_foreach(services, i, s)
	{
		if (strcmp(value_text(s, "name"), name) == 0)
			return s;
	}
	return NULL;
}

static json_t *diff_value(const struct diff *d)
{
	return json_pack("{s:s, s:I, s:I, s:f, s:f, s:s?}", "service", d->service, "nodes_before",
		(json_int_t)d->nodes_before, "nodes_after", (json_int_t)d->nodes_after, "moved",
		d->keys.moved, "moved_between_staying", d->keys.between, "note", d->note);
}

static json_t *diffs(const json_t *services, const json_t *nodes, const struct kvl_config *config)
{
	json_t *list = json_array();

	for (size_t i = 0; i < config->service_count; i++) {
		const struct kvl_service_config *next = &config->services[i];
		const json_t *service = service_find(services, next->name);
		struct diff d = {.service = next->name, .note = "new"};

		if (service != NULL)
			d = service_diff(service, nodes, config, next);
		json_array_append_new(list, diff_value(&d));
	}
	return list;
}

static void print_text(const struct cli_call *call, const json_t *list)
{
	static const char *const columns[] = {
		"SERVICE", ">NODES", ">THEN", ">KEYS MOVED", ">BETWEEN NODES THAT STAY", "NOTE"};
	struct table *t = table_new(columns, TABLE_COLUMNS(columns));
	char buf[VALUE_BUF];
	const json_t *d;
	size_t i;

	json_array_foreach(list, i, d)
	{
		table_cell(t, "%s", value_text(d, "service"));
		table_cell(t, "%lld", value_int(d, "nodes_before"));
		table_cell(t, "%lld", value_int(d, "nodes_after"));
		table_cell(t, "%s", value_percent(value_number(d, "moved"), buf));
		table_cell(t, "%s", value_percent(value_number(d, "moved_between_staying"), buf));
		table_cell(t, "%s",
			json_is_null(json_object_get(d, "note")) ? "" : value_text(d, "note"));
	}
	table_print(t, call->out, "no services in the file");
}

static enum cli_exit run(const struct cli_call *call)
{
	static struct kvl_diags diagnostics;
	struct kvl_config *config = kvl_config_load(call->arg, &diagnostics);
	json_t *services, *nodes, *list;
	enum cli_exit rc;

	if (config == NULL) {
		fprintf(call->err, "kvlanectl: %s is refused: `kvlanectl check %s` tells why\n",
			call->arg, call->arg);
		return CLI_WRONG;
	}
	services = ask_result(call, "services", NULL, &rc);
	nodes = services != NULL ? ask_result(call, "nodes", NULL, &rc) : NULL;
	if (nodes != NULL) {
		list = diffs(value_list(services, "services"), value_list(nodes, "nodes"), config);
		if (call->json)
			ask_print_json(call, list, false);
		else
			print_text(call, list);
		json_decref(list);
	}
	kvl_config_free(config);
	json_decref(services);
	json_decref(nodes);
	return rc;
}

const struct cli_command cli_command_ring_diff = {
	.name = "ring diff",
	.arg = "FILE",
	.summary = "which share of the keys a configuration would move, before it is loaded",
	.help = "Compares FILE with what the router runs, service by service, by where each of "
		"100,000 sample keys belongs. A placement worth its name moves keys only to nodes "
		"that come and from nodes that go; BETWEEN NODES THAT STAY is what it moves "
		"besides.",
	.run = run,
};

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
	double moved;   /* share of the keys */
	double between; /* moved though both nodes stay: the placement's own fault */
	const char *note;
};

static bool fleet_has(const struct fleet *f, const char *id)
{
	for (size_t i = 0; i < f->count; i++)
		if (strcmp(f->members[i].id, id) == 0)
			return true;
	return false;
}

static void keys_compare(struct diff *d, const struct fleet *before, const struct kvl_placement *a,
	uint64_t seed_before, const struct fleet *after, const struct kvl_placement *b,
	uint64_t seed_after)
{
	for (unsigned int i = 0; i < FLEET_KEYS; i++) {
		const char *from = fleet_owner(before, a, seed_before, i);
		const char *to = fleet_owner(after, b, seed_after, i);

		if (from == NULL || to == NULL || strcmp(from, to) == 0) {
			d->moved += (from == NULL) != (to == NULL) ? 1.0 / FLEET_KEYS : 0;
			continue;
		}
		d->moved += 1.0 / FLEET_KEYS;
		if (fleet_has(after, from) && fleet_has(before, to))
			d->between += 1.0 / FLEET_KEYS;
	}
}

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
		keys_compare(&d, &before, a, params.seed, &after, b, next->placement.seed);
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
		d->moved, "moved_between_staying", d->between, "note", d->note);
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

/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "ctrl/cli/ask.h"
#include "ctrl/cli/commands.h"
#include "ctrl/cli/table.h"
#include "ctrl/cli/value.h"

/* The same node in the last result of a --watch. */
static const json_t *find_before(const struct answer *a, const char *id)
{
	const json_t *node;
	size_t i;

	json_array_foreach(value_list(a->before, "nodes"), i, node)
	{
		if (strcmp(value_text(node, "id"), id) == 0)
			return node;
	}
	return NULL;
}

/* Per second since the last result; a router that was restarted counts from 0 again. */
static void add_rate(struct table *t, const struct answer *a, const json_t *node)
{
	const json_t *before = find_before(a, value_text(node, "id"));
	double gain = value_number(node, "requests") - value_number(before, "requests");

	if (before == NULL || gain < 0 || a->seconds <= 0)
		table_cell(t, "-");
	else
		table_cell(t, "%.0f", gain / a->seconds);
}

static void add_numbers(struct table *t, const json_t *node, const char *const *names)
{
	for (; *names != NULL; names++)
		table_cell(t, "%lld", value_int(node, *names));
}

static void add_latency(struct table *t, const json_t *node, const char *name)
{
	char buf[VALUE_BUF];

	table_cell(t, "%s", value_latency(value_number(node, name), buf));
}

static void add_share(struct table *t, const json_t *node, const char *name)
{
	char buf[VALUE_BUF];

	table_cell(t, "%s", value_percent(value_number(node, name), buf));
}

static void print_nodes(const struct answer *a)
{
	static const char *const columns[] = {"NODE", "ADDRESS", "ZONE", ">WEIGHT", "STATE", "IN",
		">REQ/S", ">REQUESTS", ">TIMEOUTS", ">REJECTS", ">ERRORS", ">IN FLIGHT", ">P50",
		">P99", ">SHARE", ">OWNS", "REASON"};
	static const char *const counters[] = {
		"requests", "timeouts", "rejects", "errors", "in_flight", NULL};
	struct table *t = table_new(columns, TABLE_COLUMNS(columns));
	char state[VALUE_STATE];
	const json_t *node;
	size_t i;

	json_array_foreach(value_list(a->result, "nodes"), i, node)
	{
		table_cell(t, "%s", value_text(node, "id"));
		table_cell(t, "%s", value_text(node, "address"));
		table_cell(t, "%s", value_text(node, "zone"));
		table_cell(t, "%lld", value_int(node, "weight"));
		table_cell(t, "%s", value_state(node, state));
		table_cell(t, "%s", value_yes(node, "eligible"));
		add_rate(t, a, node);
		add_numbers(t, node, counters);
		add_latency(t, node, "p50_us");
		add_latency(t, node, "p99_us");
		add_share(t, node, "share");
		add_share(t, node, "ownership");
		table_cell(t, "%s",
			json_is_null(json_object_get(node, "reason")) ? ""
								      : value_text(node, "reason"));
	}
	table_print(t, a->out, "no nodes");
}

static void print_wide(const struct answer *a)
{
	static const char *const columns[] = {"NODE", ">NUMBER", "HOST", "POOL", "MAC", "PORT",
		">REPLIES", ">HITS", ">MISSES", ">REFUSED", ">LATE", ">P50", ">P95", ">P99"};
	static const char *const counters[] = {
		"replies", "hits", "misses", "refused", "late", NULL};
	static const char *const texts[] = {"host", "pool", "mac", "port", NULL};
	struct table *t = table_new(columns, TABLE_COLUMNS(columns));
	const json_t *node;
	size_t i;

	print_nodes(a);
	fputc('\n', a->out);
	json_array_foreach(value_list(a->result, "nodes"), i, node)
	{
		table_cell(t, "%s", value_text(node, "id"));
		table_cell(t, "%lld", value_int(node, "number"));
		for (const char *const *name = texts; *name != NULL; name++)
			table_cell(t, "%s", value_text(node, *name));
		add_numbers(t, node, counters);
		add_latency(t, node, "p50_us");
		add_latency(t, node, "p95_us");
		add_latency(t, node, "p99_us");
	}
	table_print(t, a->out, NULL);
}

static enum cli_exit run(const struct cli_call *call)
{
	return ask_and_print(
		call, "nodes", NULL, cli_value(call, "wide") != NULL ? print_wide : print_nodes);
}

static const struct cli_option options[] = {
	ASK_WATCH_OPTIONS,
	{"wide", NULL,
		"a second table: number, host, pool, next hop, hits, ICMP errors, late replies"},
	{NULL},
};

const struct cli_command cli_command_nodes = {
	.name = "nodes",
	.summary = "each node: state, traffic, latency, share",
	.help = "IN tells whether requests may go there; REASON why not. An unconfirmed node is "
		"there by its former definition, for the configuration's is bad. TIMEOUTS, REJECTS "
		"(SERVER_ERROR) and ERRORS are counted since the start. P50 and P99 are measured "
		"from request to reply. SHARE is the node's part of all requests, OWNS its part of "
		"the keys by topology: a hot key shows where they differ.",
	.options = options,
	.run = run,
};

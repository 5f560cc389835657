/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/cli/ask.h"
#include "ctrl/cli/commands.h"
#include "ctrl/cli/table.h"
#include "ctrl/cli/value.h"

static void print_workers(FILE *out, const json_t *list)
{
	static const char *const columns[] = {
		">WORKER", ">LCORE", ">REVISION", ">BUSY", ">RECEIVED", ">SENT"};
	struct table *t = table_new(columns, TABLE_COLUMNS(columns));
	char buf[VALUE_BUF];
	const json_t *w;
	size_t i;

	json_array_foreach(list, i, w)
	{
		table_cell(t, "%lld", value_int(w, "id"));
		table_cell(t, "%lld", value_int(w, "lcore"));
		table_cell(t, "%lld", value_int(w, "revision"));
		table_cell(t, "%s", value_percent(value_number(w, "busy_pct") / 100, buf));
		table_cell(t, "%lld", value_int(w, "rx"));
		table_cell(t, "%lld", value_int(w, "tx"));
	}
	table_print(t, out, "no workers");
}

static void print_ports(FILE *out, const json_t *list)
{
	static const char *const columns[] = {"PORT", "LINK", "INTERFACE", "MAC", "SNAT", ">MTU",
		">QUEUES", "STEERING", "DEVICE"};
	struct table *t = table_new(columns, TABLE_COLUMNS(columns));
	const json_t *p;
	size_t i;

	json_array_foreach(list, i, p)
	{
		table_cell(t, "%s", value_text(p, "name"));
		table_cell(t, "%s", value_flag(p, "link") ? "up" : "down");
		table_cell(t, "%s", value_text(p, "interface"));
		table_cell(t, "%s", value_text(p, "mac"));
		table_cell(t, "%s", value_text(p, "snat"));
		table_cell(t, "%lld", value_int(p, "mtu"));
		table_cell(t, "%lld", value_int(p, "queues"));
		table_cell(t, "%s", value_text(p, "steering"));
		table_cell(t, "%s", value_text(p, "device"));
	}
	table_print(t, out, "no ports");
}

/* What was set since the start lies over the file, and is gone with this process. */
static void print_overrides(FILE *out, const json_t *list)
{
	static const char *const columns[] = {"SET OF", "NAME", "VALUE", "IN THE FILE"};
	struct table *t = table_new(columns, TABLE_COLUMNS(columns));
	const json_t *o;
	size_t i;

	json_array_foreach(list, i, o)
	{
		bool node = json_object_get(o, "node") != NULL;

		table_cell(t, "%s %s", node ? "node" : "service",
			value_text(o, node ? "node" : "service"));
		table_cell(t, "%s", value_text(o, "name"));
		table_cell(t, "%s", value_text(o, "value"));
		table_cell(t, "%s", value_text(o, "file"));
	}
	table_print(t, out, NULL);
}

static void print_status(const struct answer *a)
{
	const json_t *nodes = value_list(a->result, "nodes"), *alarm;
	char buf[VALUE_BUF];
	size_t i;

	fprintf(a->out, "kvlaned %s, process %lld, up %s\n", value_text(a->result, "version"),
		value_int(a->result, "pid"), value_duration(value_int(a->result, "uptime_s"), buf));
	fprintf(a->out, "revision %lld, published %s\n", value_int(a->result, "revision"),
		value_text(a->result, "published_at"));
	fprintf(a->out, "nodes: %lld, eligible %lld\n", value_int(nodes, "total"),
		value_int(nodes, "eligible"));
	json_array_foreach(value_list(a->result, "alarms"), i, alarm)
		fprintf(a->out, "ALARM: %s\n", json_string_value(alarm));
	fputc('\n', a->out);
	print_workers(a->out, value_list(a->result, "workers"));
	fputc('\n', a->out);
	print_ports(a->out, value_list(a->result, "ports"));
	if (json_array_size(value_list(a->result, "overrides")) == 0)
		return;
	fputc('\n', a->out);
	print_overrides(a->out, value_list(a->result, "overrides"));
}

static enum cli_exit run(const struct cli_call *call)
{
	return ask_and_print(call, "status", NULL, print_status);
}

const struct cli_command cli_command_status = {
	.name = "status",
	.summary = "how the router itself is: revision, workers, ports, alarms",
	.help = "REVISION is the topology a worker runs; workers that lag behind the router's own "
		"show a lower one. BUSY is the share of a worker's cycles spent on packets. SET OF "
		"lists what `kvlanectl set` has changed: it stays over a reload, not over a "
		"restart.",
	.run = run,
};

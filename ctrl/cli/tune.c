/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "ctrl/cli/ask.h"
#include "ctrl/cli/commands.h"
#include "ctrl/cli/table.h"
#include "ctrl/cli/value.h"

/* get, set, unset: three commands of one shape. */

static void print_moved(const struct answer *a)
{
	const json_t *m;
	char buf[VALUE_BUF];
	size_t i;

	json_array_foreach(value_list(a->result, "moved"), i, m)
		fprintf(a->out, "service %s: the placement changed, %s of the keys have moved\n",
			value_text(m, "service"), value_percent(value_number(m, "moved"), buf));
}

static void print_fields(const struct answer *a)
{
	static const char *const columns[] = {"NAME", "VALUE", "IN THE FILE", "SET"};
	const char *scored_by = json_string_value(json_object_get(a->result, "scored_by"));
	struct table *t = table_new(columns, TABLE_COLUMNS(columns));
	const json_t *f;
	size_t i;

	json_array_foreach(value_list(a->result, "fields"), i, f)
	{
		table_cell(t, "%s", value_text(f, "name"));
		table_cell(t, "%s", value_text(f, "value"));
		table_cell(t, "%s", value_text(f, "file"));
		table_cell(t, "%s", value_flag(f, "set") ? "yes" : "");
	}
	table_print(t, a->out, "nothing was set");
	print_moved(a);
	if (scored_by != NULL && strcmp(scored_by, value_text(a->result, "service")) != 0)
		fprintf(a->out,
			"note: pool %s is scored as its first service, %s, says: of this one only "
			"choice and min_share count\n",
			value_text(a->result, "pool"), scored_by);
}

/* The words after the command: the service's name unless --node is given, then the others. */
struct words {
	const char *service, *node;
	const char *list[CLI_MORE_MAX + 1];
	size_t count;
};

static int words_read(const struct cli_call *call, struct words *w)
{
	*w = (struct words){.node = cli_value(call, "node")};
	if (w->node == NULL)
		w->service = call->arg;
	else if (call->arg != NULL)
		w->list[w->count++] = call->arg;
	for (size_t i = 0; i < call->more_count; i++)
		w->list[w->count++] = call->more[i];
	if (w->node != NULL || w->service != NULL)
		return 0;
	fprintf(call->err, "kvlanectl: %s needs SERVICE, or --node ID\n", call->command->name);
	return -1;
}

static json_t *params_new(const struct words *w)
{
	return json_pack("{s:s*, s:s*}", "service", w->service, "node", w->node);
}

static enum cli_exit run_get(const struct cli_call *call)
{
	struct words w;

	if (words_read(call, &w) < 0)
		return CLI_WRONG;
	if (w.count > 0) {
		fprintf(call->err, "kvlanectl: get takes no names: it prints all\n");
		return CLI_WRONG;
	}
	return ask_and_print(call, "get", params_new(&w), print_fields);
}

static enum cli_exit run_set(const struct cli_call *call)
{
	json_t *params, *values;
	struct words w;

	if (words_read(call, &w) < 0)
		return CLI_WRONG;
	values = json_object();
	for (size_t i = 0; i < w.count; i++) {
		const char *eq = strchr(w.list[i], '=');

		json_t *name =
			eq == NULL ? NULL : json_stringn(w.list[i], (size_t)(eq - w.list[i]));

		if (name != NULL)
			json_object_set_new(values, json_string_value(name), json_string(eq + 1));
		json_decref(name);
	}
	if (w.count == 0 || json_object_size(values) != w.count) {
		fprintf(call->err,
			"kvlanectl: set needs NAME=VALUE, each name once: `kvlanectl get` lists "
			"them\n");
		json_decref(values);
		return CLI_WRONG;
	}
	params = params_new(&w);
	json_object_set_new(params, "values", values);
	return ask_and_print(call, "set", params, print_fields);
}

static enum cli_exit run_unset(const struct cli_call *call)
{
	json_t *params, *names = json_array();
	struct words w;

	if (words_read(call, &w) < 0) {
		json_decref(names);
		return CLI_WRONG;
	}
	for (size_t i = 0; i < w.count; i++)
		json_array_append_new(names, json_string(w.list[i]));
	params = params_new(&w);
	if (w.count > 0)
		json_object_set(params, "names", names);
	json_decref(names);
	return ask_and_print(call, "unset", params, print_fields);
}

static const struct cli_option options[] = {
	{"node", "ID", "in place of SERVICE: a node, whose weight it is about"}, {NULL}};

const struct cli_command cli_command_get = {
	.name = "get",
	.arg = "[SERVICE]",
	.arg_optional = true,
	.more = "",
	.summary = "settings of a service's scoring, or a node's weight, as they are now",
	.help = "IN THE FILE is what a restart would bring back; SET says that it was changed "
		"since.",
	.options = options,
	.run = run_get,
};

const struct cli_command cli_command_set = {
	.name = "set",
	.arg = "[SERVICE]",
	.arg_optional = true,
	.more = "NAME=VALUE...",
	.summary = "change settings of a service's scoring, or a node's weight, at once",
	.help = "Names and values are those of the configuration file, scoring.cpu_threshold=0.85, "
		"scoring.weights.load=profile, scoring.profile=08:00=read-heavy,20:00=write-heavy, "
		"or with --node weight=50. Several are taken all, or none. A node's weight changes "
		"the placement: the answer says which share of the keys has moved. What was set "
		"stays over a reload, until it is unset, its service or node is gone, or kvlaned "
		"ends; `status` lists it. Needs the admin role.",
	.options = options,
	.run = run_set,
};

const struct cli_command cli_command_unset = {
	.name = "unset",
	.arg = "[SERVICE]",
	.arg_optional = true,
	.more = "[NAME...]",
	.summary = "go back to what the configuration file says",
	.help = "Without NAME: all of the service's, or the node's weight. Needs the admin role.",
	.options = options,
	.run = run_unset,
};

/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/cli/ask.h"
#include "ctrl/cli/commands.h"
#include "ctrl/cli/table.h"
#include "ctrl/cli/value.h"

static void print_services(const struct answer *a)
{
	static const char *const columns[] = {"SERVICE", "ADDRESS", "MODE", "PLACEMENT", ">N",
		">VNODES", "POOL", ">NODES", ">TOKENS", ">TIMEOUT", ">SEED", "DIGEST"};
	struct table *t = table_new(columns, TABLE_COLUMNS(columns));
	const json_t *s;
	size_t i;

	json_array_foreach(value_list(a->result, "services"), i, s)
	{
		table_cell(t, "%s", value_text(s, "name"));
		table_cell(t, "%s", value_text(s, "address"));
		table_cell(t, "%s", value_text(s, "mode"));
		table_cell(t, "%s", value_text(s, "placement"));
		table_cell(t, "%lld", value_int(s, "replication"));
		table_cell(t, "%lld", value_int(s, "vnodes"));
		table_cell(t, "%s", value_text(s, "pool"));
		table_cell(t, "%lld", value_int(s, "nodes"));
		table_cell(t, "%lld", value_int(s, "tokens"));
		table_cell(t, "%lldms", value_int(s, "timeout_ms"));
		table_cell(t, "%llu",
			(unsigned long long)json_integer_value(json_object_get(s, "seed")));
		table_cell(t, "%s", value_text(s, "digest"));
	}
	table_print(t, a->out, "no services");
}

static enum cli_exit run(const struct cli_call *call)
{
	return ask_and_print(call, "services", NULL, print_services);
}

const struct cli_command cli_command_services = {
	.name = "services",
	.summary = "each service: address, mode, placement and its digest",
	.help = "N is the length of the preference list. Two routers whose DIGEST is equal send "
		"every key to the same nodes.",
	.run = run,
};

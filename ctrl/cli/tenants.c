/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/cli/ask.h"
#include "ctrl/cli/commands.h"
#include "ctrl/cli/table.h"
#include "ctrl/cli/value.h"

static void print_tenants(const struct answer *a)
{
	static const char *const columns[] = {"TENANT", ">RATE", ">BURST", ">NODE SHARE",
		">REQUESTS", ">OVER RATE", ">OVER SHARE"};
	struct table *t = table_new(columns, TABLE_COLUMNS(columns));
	char buf[VALUE_BUF];
	const json_t *tenant;
	size_t i;

	json_array_foreach(value_list(a->result, "tenants"), i, tenant)
	{
		table_cell(t, "%s", value_text(tenant, "name"));
		table_cell(t, "%lld", value_int(tenant, "rate"));
		table_cell(t, "%lld", value_int(tenant, "burst"));
		table_cell(t, "%s", value_percent(value_number(tenant, "node_share"), buf));
		table_cell(t, "%lld", value_int(tenant, "requests"));
		table_cell(t, "%lld", value_int(tenant, "over_rate"));
		table_cell(t, "%lld", value_int(tenant, "over_share"));
	}
	table_print(t, a->out, "no tenants");
}

static enum cli_exit run(const struct cli_call *call)
{
	return ask_and_print(call, "tenants", NULL, print_tenants);
}

static const struct cli_option options[] = {
	ASK_WATCH_OPTIONS,
	{NULL},
};

const struct cli_command cli_command_tenants = {
	.name = "tenants",
	.summary = "each tenant's quota, and what came of it",
	.help = "REQUESTS are those within the quota. OVER RATE: beyond the requests a second that "
		"the tenant may ask. OVER SHARE: within them, but each node that could have "
		"answered "
		"had had its share of them in that second.",
	.options = options,
	.run = run,
};

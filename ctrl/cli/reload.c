/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/cli/ask.h"
#include "ctrl/cli/commands.h"
#include "ctrl/cli/value.h"

static void print_reload(const struct answer *a)
{
	const json_t *text;
	size_t i;

	json_array_foreach(value_list(a->result, "diagnostics"), i, text)
		fprintf(a->out, "%s\n", json_string_value(text));
	fprintf(a->out, "%s: revision %lld, services %lld, nodes %lld\n",
		value_flag(a->result, "changed") ? "reloaded" : "nothing has changed",
		value_int(a->result, "revision"), value_int(a->result, "services"),
		value_int(a->result, "nodes"));
}

static enum cli_exit run(const struct cli_call *call)
{
	return ask_and_print(call, "reload", NULL, print_reload);
}

const struct cli_command cli_command_reload = {
	.name = "reload",
	.summary = "have the configuration read again",
	.help = "A configuration that is refused changes nothing: what is wrong is printed, the "
		"exit "
		"status is 2, and what was in force stays, though it is stale in time: see status. "
		"A bad node keeps its former definition when it has one, and is left out "
		"otherwise; the rest is taken. Needs the admin role: root, or the daemon's own "
		"user or group.",
	.run = run,
};

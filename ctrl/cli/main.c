/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "ctrl/cli/args.h"
#include "ctrl/cli/help.h"

static enum cli_exit run_call(const struct cli_call *call)
{
	if (call->version) {
		fprintf(call->out, "kvlanectl " KVL_VERSION "\n");
		return CLI_OK;
	}
	if (call->help && call->command != NULL)
		help_command(call->out, call->command);
	else if (call->help)
		help_program(call->out);
	else
		return call->command->run(call);
	return CLI_OK;
}

int main(int argc, char **argv)
{
	struct cli_call call = {.out = stdout, .err = stderr};
	enum cli_exit rc;
	char why[256];

	if (args_parse(argc, argv, &call, why, sizeof(why)) < 0) {
		fprintf(stderr, "kvlanectl: %s; see kvlanectl %s%s--help\n", why,
			call.command != NULL ? call.command->name : "",
			call.command != NULL ? " " : "");
		return CLI_WRONG;
	}
	rc = run_call(&call);
	if (fflush(stdout) != 0 && rc == CLI_OK) {
		perror("kvlanectl: cannot write");
		rc = CLI_FAILED;
	}
	return rc;
}

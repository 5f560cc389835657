/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "ctrl/cli/commands.h"
#include "ctrl/cli/help.h"

/* The man page, roff (man(7)), from the command table; built into docs/kvlanectl.1. */

/* Text as roff shows it: '-' is a hyphen there, and a line must not begin with '.' or '\''. */
static void put_text(FILE *out, const char *text)
{
	if (*text == '.' || *text == '\'')
		fputs("\\&", out);
	for (; *text != '\0'; text++) {
		if (*text == '-')
			fputs("\\-", out);
		else if (*text == '\\')
			fputs("\\e", out);
		else
			fputc(*text, out);
	}
}

static void put_options(FILE *out, const struct cli_option *options)
{
	for (; options != NULL && options->name != NULL; options++) {
		fputs(".TP\n\\fB\\-\\-", out);
		put_text(out, options->name);
		fputs("\\fR", out);
		if (options->value != NULL)
			fprintf(out, " \\fI%s\\fR", options->value);
		fputc('\n', out);
		put_text(out, options->help);
		fputs(".\n", out);
	}
}

static void put_command(FILE *out, const struct cli_command *command)
{
	fprintf(out, ".SS %s%s%s%s%s\n", command->name, command->arg != NULL ? " " : "",
		command->arg != NULL ? command->arg : "",
		command->more != NULL && command->more[0] != '\0' ? " " : "",
		command->more != NULL ? command->more : "");
	put_text(out, command->summary);
	fputs(".\n.PP\n", out);
	put_text(out, command->help);
	fputc('\n', out);
	put_options(out, command->options);
}

static enum cli_exit run(const struct cli_call *call)
{
	FILE *out = call->out;

	fprintf(out, ".TH KVLANECTL 1 \"\" \"kvlane " KVL_VERSION "\" \"kvlane\"\n"
		     ".SH NAME\nkvlanectl \\- " HELP_SUMMARY "\n"
		     ".SH SYNOPSIS\n.B kvlanectl\n"
		     "[\\fIOPTION\\fR...] \\fICOMMAND\\fR [\\fIARGUMENT\\fR] [\\fIOPTION\\fR...]\n"
		     ".SH COMMANDS\n");
	for (size_t i = 0; cli_commands[i] != NULL; i++) {
		if (!cli_commands[i]->hidden)
			put_command(out, cli_commands[i]);
	}
	fputs(".SH OPTIONS\n", out);
	put_options(out, cli_global_options);
	fputs(".SH EXIT STATUS\n"
	      ".TP\n0\nThe command was carried out.\n"
	      ".TP\n1\nkvlaned replied with an error, or did not reply.\n"
	      ".TP\n2\nThe command line is wrong, or a configuration was refused.\n"
	      ".SH ENVIRONMENT\n.TP\n.B " CLI_SOCKET_ENV "\n"
	      "The control socket, when \\fB\\-\\-socket\\fR is not given.\n"
	      ".SH FILES\n.TP\n.I " CLI_SOCKET_DEFAULT "\nThe control socket by default.\n"
	      ".SH SEE ALSO\n.BR kvlaned (8)\n",
		out);
	return CLI_OK;
}

const struct cli_command cli_command_docs = {
	.name = "docs",
	.summary = "print this program's man page",
	.help = "The page is in roff; `kvlanectl docs | man -l -` shows it.",
	.hidden = true,
	.offline = true,
	.run = run,
};

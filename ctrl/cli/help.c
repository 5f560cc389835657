/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/cli/help.h"

#include <string.h>

#include "ctrl/cli/table.h"

#define WIDTH 80

static void print_options(FILE *out, const struct cli_option *options)
{
	static const char *const columns[] = {"", "", ""};
	struct table *t = table_new(columns, TABLE_COLUMNS(columns));

	for (; options != NULL && options->name != NULL; options++) {
		table_cell(t, "%s", "");
		table_cell(t, "--%s%s%s", options->name, options->value != NULL ? " " : "",
			options->value != NULL ? options->value : "");
		table_cell(t, "%s", options->help);
	}
	table_print(t, out, NULL);
}

/* Breaks at spaces. */
static void print_paragraph(FILE *out, const char *text)
{
	size_t column = 0, len;

	for (; *text != '\0'; text += len + (text[len] == ' ')) {
		len = strcspn(text, " ");
		if (column > 0 && column + 1 + len > WIDTH) {
			fputc('\n', out);
			column = 0;
		}
		column += (size_t)fprintf(out, "%s%.*s", column > 0 ? " " : "", (int)len, text);
	}
	fputc('\n', out);
}

void help_synopsis(FILE *out, const struct cli_command *command)
{
	fprintf(out, "%s", command->name);
	for (const struct cli_option *o = command->options; o != NULL && o->name != NULL; o++)
		fprintf(out, " [--%s%s%s]", o->name, o->value != NULL ? " " : "",
			o->value != NULL ? o->value : "");
	if (command->arg != NULL)
		fprintf(out, " %s", command->arg);
	if (command->more != NULL && command->more[0] != '\0')
		fprintf(out, " %s", command->more);
}

void help_program(FILE *out)
{
	static const char *const columns[] = {"", "", ""};
	struct table *t = table_new(columns, TABLE_COLUMNS(columns));

	fprintf(out, "usage: kvlanectl [OPTION...] COMMAND [ARGUMENT] [OPTION...]\n\n"
		     "kvlanectl: " HELP_SUMMARY "\n\ncommands:\n");
	for (size_t i = 0; cli_commands[i] != NULL; i++) {
		if (cli_commands[i]->hidden)
			continue;
		table_cell(t, "%s", "");
		table_cell(t, "%s%s%s", cli_commands[i]->name,
			cli_commands[i]->arg != NULL ? " " : "",
			cli_commands[i]->arg != NULL ? cli_commands[i]->arg : "");
		table_cell(t, "%s", cli_commands[i]->summary);
	}
	table_print(t, out, NULL);
	fprintf(out, "\noptions:\n");
	print_options(out, cli_global_options);
	fprintf(out, "\nexit status: 0 good, 1 an error in reply or no reply, 2 bad usage or a "
		     "refused configuration\n"
		     "`kvlanectl COMMAND --help` tells more of a command\n");
}

void help_command(FILE *out, const struct cli_command *command)
{
	fprintf(out, "usage: kvlanectl ");
	help_synopsis(out, command);
	fprintf(out, "\n\n%s: %s\n\n", command->name, command->summary);
	print_paragraph(out, command->help);
	if (command->options != NULL)
		fprintf(out, "\noptions:\n");
	print_options(out, command->options);
	fprintf(out, "\noptions of every command:\n");
	print_options(out, cli_global_options);
}

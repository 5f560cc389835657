/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/cli/args.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const struct cli_option cli_global_options[] = {
	{"socket", "PATH",
		"control socket of kvlaned (also -s; default: $" CLI_SOCKET_ENV
		" or " CLI_SOCKET_DEFAULT ")"},
	{"json", NULL, "print the result as JSON, for programs"},
	{"help", NULL, "print this help, or that of the command (also -h)"},
	{"version", NULL, "print the version"},
	{NULL},
};

/* What is being read, and where to. */
struct reader {
	int argc, at;
	char **argv;
	struct cli_call *call;
	char *why;
	size_t why_len;
};

__attribute__((format(printf, 2, 3))) static int complain(
	const struct reader *r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(r->why, r->why_len, format, args);
	va_end(args);
	return -EINVAL;
}

static int find_option(const struct cli_option *options, const char *name, size_t len)
{
	for (int i = 0; options != NULL && options[i].name != NULL; i++) {
		if (strlen(options[i].name) == len && strncmp(options[i].name, name, len) == 0)
			return i;
	}
	return -1;
}

const char *cli_value(const struct cli_call *call, const char *name)
{
	int i = find_option(call->command->options, name, strlen(name));

	return i < 0 ? NULL : call->values[i];
}

static void set_global(struct cli_call *call, const char *name, const char *value)
{
	if (strcmp(name, "socket") == 0)
		call->socket = value;
	else if (strcmp(name, "json") == 0)
		call->json = true;
	else if (strcmp(name, "help") == 0)
		call->help = true;
	else
		call->version = true;
}

/* The option's value: what follows '=', or the next argument. */
static int take_value(
	struct reader *r, const struct cli_option *option, const char *eq, const char **value)
{
	*value = "";
	if (option->value == NULL)
		return eq == NULL ? 0 : complain(r, "--%s takes no value", option->name);
	if (eq != NULL)
		*value = eq + 1;
	else if (r->at < r->argc)
		*value = r->argv[r->at++];
	else
		return complain(r, "--%s needs a value: --%s %s", option->name, option->name,
			option->value);
	return **value != '\0' ? 0 : complain(r, "--%s: empty value", option->name);
}

static const struct cli_option *command_options(const struct reader *r)
{
	return r->call->command != NULL ? r->call->command->options : NULL;
}

static int read_long(struct reader *r, const char *name)
{
	const char *eq = strchr(name, '='), *value;
	size_t len = eq != NULL ? (size_t)(eq - name) : strlen(name);
	int own = find_option(command_options(r), name, len);
	int global = find_option(cli_global_options, name, len);

	if (own < 0 && global < 0)
		return complain(r,
			r->call->command == NULL ? "--%.*s: no such option before a command"
						 : "--%.*s: no such option",
			(int)len, name);
	if (own >= 0) {
		if (take_value(r, &command_options(r)[own], eq, &value) < 0)
			return -EINVAL;
		r->call->values[own] = value;
		return 0;
	}
	if (take_value(r, &cli_global_options[global], eq, &value) < 0)
		return -EINVAL;
	set_global(r->call, cli_global_options[global].name, value);
	return 0;
}

static int read_short(struct reader *r, const char *text)
{
	if (strcmp(text, "h") == 0)
		return read_long(r, "help");
	if (text[0] != 's')
		return complain(r, "-%s: no such option", text);
	if (text[1] == '\0')
		return read_long(r, "socket");
	r->call->socket = text + 1;
	return 0;
}

/* A name may be of two words, "ring diff": then the next argument is the second. */
static bool command_is(struct reader *r, const struct cli_command *command, const char *word)
{
	size_t len = strlen(word);

	if (strcmp(command->name, word) == 0)
		return true;
	if (strncmp(command->name, word, len) != 0 || command->name[len] != ' ' || r->at == r->argc
		|| strcmp(command->name + len + 1, r->argv[r->at]) != 0)
		return false;
	r->at++;
	return true;
}

static int read_word(struct reader *r, const char *word)
{
	struct cli_call *call = r->call;

	if (call->command != NULL) {
		if (call->command->more != NULL && call->arg != NULL
			&& call->more_count < CLI_MORE_MAX) {
			call->more[call->more_count++] = word;
			return 0;
		}
		if (call->command->arg == NULL || call->arg != NULL)
			return complain(r, "\"%s\" is one argument too many for %s", word,
				call->command->name);
		call->arg = word;
		return 0;
	}
	for (size_t i = 0; cli_commands[i] != NULL && call->command == NULL; i++) {
		if (command_is(r, cli_commands[i], word))
			call->command = cli_commands[i];
	}
	return call->command != NULL ? 0 : complain(r, "there is no command \"%s\"", word);
}

static int read_all(struct reader *r)
{
	bool options = true;
	int rc = 0;

	while (rc == 0 && r->at < r->argc) {
		const char *word = r->argv[r->at++];

		if (options && strcmp(word, "--") == 0)
			options = false;
		else if (options && strncmp(word, "--", 2) == 0)
			rc = read_long(r, word + 2);
		else if (options && word[0] == '-' && word[1] != '\0')
			rc = read_short(r, word + 1);
		else
			rc = read_word(r, word);
	}
	return rc;
}

int args_parse(int argc, char **argv, struct cli_call *call, char *why, size_t why_len)
{
	struct reader r = {
		.argc = argc, .at = 1, .argv = argv, .call = call, .why = why, .why_len = why_len};

	*call = (struct cli_call){.out = call->out, .err = call->err};
	if (read_all(&r) < 0)
		return -EINVAL;
	if (call->socket == NULL)
		call->socket = getenv(CLI_SOCKET_ENV);
	if (call->socket == NULL || call->socket[0] == '\0')
		call->socket = CLI_SOCKET_DEFAULT;
	if (call->help || call->version)
		return 0;
	if (call->command == NULL)
		return complain(&r, "no command");
	if (call->command->arg != NULL && !call->command->arg_optional && call->arg == NULL)
		return complain(&r, "%s needs its argument: %s %s", call->command->name,
			call->command->name, call->command->arg);
	return 0;
}

int args_number(const char *name, const char *text, double min, double max, double *value,
	char *why, size_t why_len)
{
	size_t digits = strspn(text, "0123456789"), len = digits, decimals = 0;

	if (text[digits] == '.') {
		decimals = strspn(text + digits + 1, "0123456789");
		len = decimals > 0 ? digits + 1 + decimals : digits;
	}
	*value = strtod(text, NULL);
	if (digits > 0 && decimals <= 3 && text[len] == '\0' && *value >= min && *value <= max)
		return 0;
	snprintf(why, why_len, "--%s: \"%s\" is not a number from %g to %g", name, text, min, max);
	return -EINVAL;
}

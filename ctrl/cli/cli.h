/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * kvlanectl: each command is one struct cli_command in a file of its own, listed in commands.c.
 * Arguments, help and the man page all come from it.
 */
#define CLI_OPTIONS_MAX 4
#define CLI_MORE_MAX    32

#define CLI_SOCKET_DEFAULT "/run/kvlane/kvlane.sock"
#define CLI_SOCKET_ENV     "KVLANE_SOCKET"

enum cli_exit {
	CLI_OK = 0,
	CLI_FAILED = 1, /* an error in reply, or no reply */
	CLI_WRONG = 2,  /* bad usage, or a configuration that is refused */
};

struct cli_option {
	const char *name;  /* long: "watch" for --watch; NULL ends the list */
	const char *value; /* its name in help: "SECONDS"; NULL = a flag */
	const char *help;
};

struct cli_call;

struct cli_command {
	const char *name;
	const char *arg;     /* the argument's name in help; NULL = none */
	bool arg_optional;   /* else it must be given */
	const char *more;    /* further arguments' name in help; NULL = none are taken */
	const char *summary; /* one line, no full stop */
	const char *help;    /* what it prints and what the columns mean; sentences */
	const struct cli_option *options;
	bool hidden;  /* not in help */
	bool offline; /* asks nobody: no socket option */
	enum cli_exit (*run)(const struct cli_call *call);
};

/* A command line, understood. Strings are argv's. */
struct cli_call {
	const struct cli_command *command; /* NULL with help or version: all of it */
	const char *arg;
	const char *more[CLI_MORE_MAX];
	size_t more_count;
	const char *values[CLI_OPTIONS_MAX]; /* in the order of command->options; "" = flag given */
	const char *socket;
	bool json, help, version;
	FILE *out, *err;
};

/* Ends with NULL. */
extern const struct cli_command *const cli_commands[];

/* Options before or after the command, taken by every one. */
extern const struct cli_option cli_global_options[];

/* The option's value, "" for a flag that was given, NULL when it was not. */
const char *cli_value(const struct cli_call *call, const char *name);

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <jansson.h>

#include "ctrl/cli/cli.h"

/* What a printer gets; `before` is the last result of a --watch, NULL at first and without. */
struct answer {
	const struct cli_call *call;
	const json_t *result, *before;
	double seconds; /* since `before` */
	FILE *out;
};

typedef void (*answer_printer)(const struct answer *answer);

/*
 * Asks kvlaned and prints the result as JSON or with `print`. Takes `params` (NULL: none). Errors
 * go to call->err, and with --json as {"error":...} to call->out too.
 * Commands that have them repeat by their --watch and --count.
 */
enum cli_exit ask_and_print(
	const struct cli_call *call, const char *method, json_t *params, answer_printer print);

/* The same of one request: its result, the caller's, or NULL with what to exit with. `params` is
 * borrowed. */
json_t *ask_result(
	const struct cli_call *call, const char *method, json_t *params, enum cli_exit *rc);

void ask_print_json(const struct cli_call *call, json_t *value, bool one_line);

/* The options of commands that repeat: put into their lists. */
#define ASK_WATCH_OPTIONS                                                                 \
	{"watch", "SECONDS",                                                              \
		"again every so many seconds (0.1 to 86400), with rates since the last"}, \
	{                                                                                 \
		"count", "N", "with --watch: end after so many times"                     \
	}

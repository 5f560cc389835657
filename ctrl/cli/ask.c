/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/cli/ask.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ctrl/cli/args.h"
#include "ctrl/cli/client.h"

#define HOME_AND_CLEAR "\033[H\033[J"

void ask_print_json(const struct cli_call *call, json_t *value, bool one_line)
{
	/* 15 digits: 0.1 stays 0.1 on its way through a double. */
	json_dumpf(value, call->out,
		JSON_REAL_PRECISION(15) | (one_line ? JSON_COMPACT : JSON_INDENT(2)));
	fputc('\n', call->out);
}

static enum cli_exit report_error(
	const struct cli_call *call, const char *method, const struct kvl_message_error *error)
{
	json_t *detail, *object;
	size_t i;

	fprintf(call->err, "kvlanectl: %s: %s (%s)\n", method, error->text, error->code);
	json_array_foreach(error->details, i, detail)
		fprintf(call->err, "  %s\n", json_string_value(detail));
	if (call->json) {
		object = json_pack("{s:{s:s, s:s, s:O*}}", "error", "code", error->code, "text",
			error->text, "details", error->details);
		ask_print_json(call, object, false);
		json_decref(object);
	}
	return strcmp(error->code, KVL_CODE_CONFIG) == 0 ? CLI_WRONG : CLI_FAILED;
}

json_t *ask_result(
	const struct cli_call *call, const char *method, json_t *params, enum cli_exit *rc)
{
	struct kvl_message_reply reply;
	char why[512];
	json_t *result;

	if (client_ask(call->socket, method, params, &reply, why, sizeof(why)) < 0) {
		fprintf(call->err, "kvlanectl: %s\n", why);
		*rc = CLI_FAILED;
		return NULL;
	}
	*rc = CLI_OK;
	if (reply.result == NULL)
		*rc = report_error(call, method, &reply.error);
	result = json_incref(reply.result);
	kvl_message_reply_clear(&reply);
	return result;
}

/* ---- repeating ---- */

struct watch {
	double seconds; /* 0 = once */
	double count;   /* 0 = for ever */
};

static int read_watch(const struct cli_call *call, struct watch *watch)
{
	const char *seconds = cli_value(call, "watch"), *count = cli_value(call, "count");
	char why[128];

	*watch = (struct watch){0};
	if (count != NULL && seconds == NULL)
		snprintf(why, sizeof(why), "--count goes with --watch");
	else if ((seconds == NULL
			 || args_number(
				    "watch", seconds, 0.1, 86400, &watch->seconds, why, sizeof(why))
				    == 0)
		 && (count == NULL
			 || args_number("count", count, 1, 1e9, &watch->count, why, sizeof(why))
				    == 0))
		return 0;
	fprintf(call->err, "kvlanectl: %s: %s\n", call->command->name, why);
	return -EINVAL;
}

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* To a terminal: over the last one. To a file: after it. */
static void separate(const struct cli_call *call, bool first)
{
	if (isatty(fileno(call->out)))
		fputs(HOME_AND_CLEAR, call->out);
	else if (!first)
		fputc('\n', call->out);
}

static void sleep_until(double then)
{
	double left = then - now_s();
	struct timespec ts;

	if (left <= 0)
		return;
	ts.tv_sec = (time_t)left;
	ts.tv_nsec = (long)((left - (double)ts.tv_sec) * 1e9);
	nanosleep(&ts, NULL);
}

static void print_answer(const struct answer *a, const struct watch *watch, answer_printer print)
{
	if (a->call->json) {
		ask_print_json(a->call, (json_t *)a->result, watch->seconds > 0);
	} else {
		if (watch->seconds > 0)
			separate(a->call, a->before == NULL);
		print(a);
	}
	fflush(a->out);
}

static enum cli_exit repeat(const struct cli_call *call, const char *method, json_t *params,
	answer_printer print, const struct watch *watch)
{
	struct answer a = {.call = call, .out = call->out};
	json_t *before = NULL, *result;
	double next = now_s(), asked = 0, last;
	enum cli_exit rc;

	for (double n = 0; watch->count == 0 || n < watch->count; n++) {
		sleep_until(next);
		last = asked;
		asked = now_s();
		next = asked + watch->seconds;
		result = ask_result(call, method, params, &rc);
		if (result == NULL)
			break;
		a.result = result;
		a.before = before;
		a.seconds = asked - last;
		print_answer(&a, watch, print);
		json_decref(before);
		before = result;
		if (watch->seconds <= 0 || ferror(call->out))
			break;
	}
	json_decref(before);
	return rc;
}

enum cli_exit ask_and_print(
	const struct cli_call *call, const char *method, json_t *params, answer_printer print)
{
	struct watch watch;
	enum cli_exit rc = CLI_WRONG;

	if (read_watch(call, &watch) == 0)
		rc = repeat(call, method, params, print, &watch);
	json_decref(params);
	return rc;
}

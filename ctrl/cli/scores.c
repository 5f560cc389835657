/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "ctrl/cli/ask.h"
#include "ctrl/cli/commands.h"
#include "ctrl/cli/table.h"
#include "ctrl/cli/value.h"

#define TERMS_TEXT 256

/* "base +100.0, p99 -3.7": what added up to the score. */
static const char *terms_text(const json_t *class, char text[TERMS_TEXT])
{
	const char *name;
	json_t *points;
	size_t at = 0;

	text[0] = '\0';
	json_object_foreach(json_object_get(class, "terms"), name, points)
	{
		int n = snprintf(text + at, TERMS_TEXT - at, "%s%s %+.1f", at > 0 ? ", " : "", name,
			json_number_value(points));

		if (n < 0 || (size_t)n >= TERMS_TEXT - at)
			break;
		at += (size_t)n;
	}
	return text;
}

static void class_rows(struct table *t, const json_t *n, const char *class)
{
	const json_t *c = json_object_get(n, class);
	const json_t *facts = json_object_get(n, "facts");
	char text[TERMS_TEXT], share[VALUE_BUF], p99[VALUE_BUF];

	table_cell(t, "%s", value_text(n, "id"));
	table_cell(t, "%s", class);
	table_cell(t, "%s", value_text(n, "state"));
	table_cell(t, "%.1f", 100 * value_number(c, "score"));
	table_cell(t, "%lld", value_int(c, "weight"));
	table_cell(t, "%s", value_percent(value_number(n, "share"), share));
	table_cell(t, "%s", value_latency(value_number(facts, "p99_us"), p99));
	table_cell(t, "%s", value_flag(facts, "stale") ? "stale" : "");
	table_cell(t, "%s", terms_text(c, text));
	table_cell(
		t, "%s", json_is_null(json_object_get(n, "reason")) ? "" : value_text(n, "reason"));
}

static void print_scores(const struct answer *a)
{
	static const char *const columns[] = {"NODE", "CLASS", "STATE", ">SCORE", ">WEIGHT",
		">SHARE", ">P99", "REPORT", "TERMS", "REASON"};
	struct table *t = table_new(columns, TABLE_COLUMNS(columns));
	const json_t *n;
	size_t i;

	json_array_foreach(value_list(a->result, "nodes"), i, n)
	{
		class_rows(t, n, "read");
		/* Mostly the same: only shown where it differs. */
		if (!json_equal(json_object_get(n, "read"), json_object_get(n, "write")))
			class_rows(t, n, "write");
	}
	table_print(t, a->out, "no nodes");
}

static enum cli_exit run(const struct cli_call *call)
{
	return ask_and_print(call, "scores", NULL, print_scores);
}

static const struct cli_option options[] = {ASK_WATCH_OPTIONS, {NULL}};

const struct cli_command cli_command_scores = {
	.name = "scores",
	.summary = "each node's score, where it came from, and the weight it gives",
	.help = "TERMS add up to SCORE, in points of 100. WEIGHT is what reads of a replicated "
		"service are chosen by, 0 = out; SHARE is the part of it that a node on trial or "
		"ramping up gets. Writes are shown where they differ.",
	.options = options,
	.run = run,
};

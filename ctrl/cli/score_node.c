/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/cli/score_node.h"

#include <string.h>

#include "ctrl/cli/table.h"
#include "ctrl/cli/value.h"

/* Milliseconds as "1.3s ago"; "never" for null. */
static const char *ago(const json_t *object, const char *name, char buf[VALUE_BUF])
{
	if (!json_is_number(json_object_get(object, name)))
		return "never";
	snprintf(buf, VALUE_BUF, "%.1fs ago", value_number(object, name) / 1000);
	return buf;
}

static const char *silence_words(const json_t *h)
{
	const char *silence = value_text(h, "silence");

	if (strcmp(silence, "doubted") == 0)
		return " (they have stopped: it is being probed)";
	return strcmp(silence, "settled") == 0 ? " (they have stopped, and it answers)" : "";
}

static void print_health(FILE *out, const json_t *n)
{
	const json_t *h = json_object_get(n, "health");
	char a[VALUE_BUF], b[VALUE_BUF], c[VALUE_BUF], d[VALUE_BUF];

	fprintf(out,
		"\nstate %s since %s: %lld failures in a row, %lld successes on trial, %lld low "
		"scores, %lld falls\n",
		value_text(h, "state"), ago(h, "state_age_ms", a), value_int(h, "failures"),
		value_int(h, "successes"), value_int(h, "low_scores"), value_int(h, "falls"));
	if (json_is_number(json_object_get(h, "cooldown_left_ms")))
		fprintf(out, "cooldown for another %.1fs\n",
			value_number(h, "cooldown_left_ms") / 1000);
	fprintf(out, "last traffic %s, last sign of life %s, last probe %s%s%s, last report %s%s\n",
		ago(h, "passive_age_ms", a), ago(h, "alive_age_ms", b), ago(h, "probe_age_ms", c),
		value_flag(h, "probe_failing") ? " (failed)" : "",
		value_flag(h, "probing") ? ", more to come" : "", ago(n, "report_age_ms", d),
		silence_words(h));
}

static void print_classes(FILE *out, const json_t *n)
{
	static const char *const columns[] = {"CLASS", ">SCORE", ">WEIGHT", "FILTER", "TERMS"};
	struct table *t = table_new(columns, TABLE_COLUMNS(columns));
	char text[VALUE_TERMS];
	const char *name;
	json_t *c;

	json_object_foreach(json_object_get(n, "classes"), name, c)
	{
		table_cell(t, "%s", name);
		table_cell(t, "%.1f", 100 * value_number(c, "score"));
		table_cell(t, "%lld", value_int(c, "weight"));
		table_cell(t, "%s", value_text(c, "filter"));
		table_cell(t, "%s", value_terms(json_object_get(c, "terms"), text));
	}
	table_print(t, out, NULL);
}

static void print_windows(FILE *out, const json_t *n)
{
	static const char *const columns[] = {"WINDOW", ">VALUE", ">NEWEST", ">SAMPLES"};
	struct table *t = table_new(columns, TABLE_COLUMNS(columns));
	const char *name;
	json_t *w;

	json_object_foreach(json_object_get(n, "windows"), name, w)
	{
		table_cell(t, "%s", name);
		table_cell(t, "%.6g", value_number(w, "value"));
		table_cell(t, "%.6g", value_number(w, "newest"));
		table_cell(t, "%lld", value_int(w, "samples"));
	}
	table_print(t, out, "no window has a sample");
}

static void print_history(FILE *out, const json_t *n)
{
	const json_t *h = json_object_get(n, "history");
	char average[VALUE_BUF], p99[VALUE_BUF];

	fprintf(out,
		"last 5 minutes: %lld replies, %lld errors, %lld rejects, %lld timeouts, average "
		"%s, "
		"p99 %s\n",
		value_int(h, "replies"), value_int(h, "errors"), value_int(h, "rejects"),
		value_int(h, "timeouts"), value_latency(value_number(h, "average_us"), average),
		value_latency(value_number(h, "p99_us"), p99));
}

void score_node_print(FILE *out, const json_t *n)
{
	print_health(out, n);
	print_history(out, n);
	fputc('\n', out);
	print_classes(out, n);
	fputc('\n', out);
	print_windows(out, n);
}

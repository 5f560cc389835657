/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "ctrl/cli/ask.h"
#include "ctrl/cli/commands.h"
#include "ctrl/cli/score_node.h"
#include "ctrl/cli/table.h"
#include "ctrl/cli/value.h"

/* "pool default (service cache): penalty, least; profile read-heavy (fixed) for 00:00:12, ..." */
static void print_pool(FILE *out, const json_t *p)
{
	const json_t *profile = value_list(p, "profile"), *check = value_list(p, "self_check");
	const json_t *correlation = json_object_get(check, "correlation");
	char age[VALUE_BUF], share[VALUE_BUF];

	fprintf(out, "pool %s (service %s): %s, %s\n  profile %s (%s) for %s",
		value_text(p, "name"), value_text(p, "service"), value_text(p, "model"),
		value_text(p, "choice"), value_text(profile, "active"), value_text(profile, "by"),
		value_duration(value_int(profile, "age_ms") / 1000, age));
	if (json_is_number(json_object_get(profile, "read_share")))
		fprintf(out, "; reads are %s of the last 5 minutes",
			value_percent(value_number(profile, "read_share"), share));
	fprintf(out, "\n  self check: %s",
		value_flag(check, "alarm") ? "ALARM, the scores do not follow what is observed"
					   : "ok");
	if (json_is_number(correlation))
		fprintf(out, ", correlation %.2f", json_number_value(correlation));
	fprintf(out, "\n");
}

static void class_rows(struct table *t, const json_t *n, const char *class)
{
	const json_t *c = json_object_get(n, class);
	const json_t *facts = json_object_get(n, "facts");
	char text[VALUE_TERMS], share[VALUE_BUF], p99[VALUE_BUF], state[VALUE_STATE];

	table_cell(t, "%s", value_text(n, "id"));
	table_cell(t, "%s", class);
	table_cell(t, "%s", value_state(n, state));
	table_cell(t, "%.1f", 100 * value_number(c, "score"));
	table_cell(t, "%lld", value_int(c, "weight"));
	table_cell(t, "%s", value_percent(value_number(n, "share"), share));
	table_cell(t, "%s", value_latency(value_number(facts, "p99_us"), p99));
	table_cell(t, "%s", value_flag(facts, "stale") ? "stale" : "");
	table_cell(t, "%.1f", value_number(json_object_get(n, "health"), "phi"));
	table_cell(t, "%s", value_terms(json_object_get(c, "terms"), text));
	table_cell(
		t, "%s", json_is_null(json_object_get(n, "reason")) ? "" : value_text(n, "reason"));
}

static void print_scores(const struct answer *a)
{
	static const char *const columns[] = {"NODE", "CLASS", "STATE", ">SCORE", ">WEIGHT",
		">SHARE", ">P99", "REPORT", ">PHI", "TERMS", "REASON"};
	const json_t *pools = value_list(a->result, "pools"), *nodes, *n;
	struct table *t;
	size_t i;

	json_array_foreach(pools, i, n) print_pool(a->out, n);
	if (json_array_size(pools) > 0)
		fputc('\n', a->out);
	t = table_new(columns, TABLE_COLUMNS(columns));
	nodes = value_list(a->result, "nodes");
	json_array_foreach(nodes, i, n)
	{
		class_rows(t, n, "read");
		/* Mostly the same: only shown where it differs. */
		if (!json_equal(json_object_get(n, "read"), json_object_get(n, "write")))
			class_rows(t, n, "write");
	}
	table_print(t, a->out, "no nodes");
	if (cli_value(a->call, "node") != NULL && json_array_size(nodes) == 1)
		score_node_print(a->out, json_array_get(nodes, 0));
}

static enum cli_exit run(const struct cli_call *call)
{
	const char *node = cli_value(call, "node");

	return ask_and_print(call, "scores", node == NULL ? NULL : json_pack("{s:s}", "node", node),
		print_scores);
}

static const struct cli_option options[] = {
	{"node", "ID", "one node only, with its windows, its state machine and every class"},
	ASK_WATCH_OPTIONS, {NULL}};

const struct cli_command cli_command_scores = {
	.name = "scores",
	.summary = "each node's score, where it came from, and the weight it gives",
	.help = "TERMS add up to SCORE, in points of 100. WEIGHT is what reads of a replicated "
		"service are chosen by, 0 = out; SHARE is the part of it that a node on trial or "
		"ramping up gets. Writes are shown where they differ. PHI is how unlikely the "
		"silence of its reports is: 8 is one false alarm in 10^8. Above, for each pool, "
		"the "
		"profile that applies and why, and whether its scores still follow what is "
		"observed.",
	.options = options,
	.run = run,
};

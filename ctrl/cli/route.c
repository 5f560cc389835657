/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/cli/ask.h"
#include "ctrl/cli/commands.h"
#include "ctrl/cli/table.h"
#include "ctrl/cli/value.h"

/* A node may serve reads and take no writes. */
static const char *no_writes(const json_t *c, char buf[VALUE_STATE])
{
	if (!json_is_string(json_object_get(c, "write_reason")))
		return "";
	snprintf(buf, VALUE_STATE, "no writes: %s", value_text(c, "write_reason"));
	return buf;
}

static void print_candidates(FILE *out, const json_t *list)
{
	static const char *const columns[] = {"CANDIDATE", "HOST", "ZONE", "PREFERRED", "IN",
		"STATE", ">SCORE", ">WEIGHT", ">IN FLIGHT", ">LATENCY", ">PROBABILITY", "REPORT",
		"TERMS", "REASON"};
	struct table *t = table_new(columns, TABLE_COLUMNS(columns));
	char buf[VALUE_BUF], terms[VALUE_TERMS], state[VALUE_STATE], reason[VALUE_STATE];
	const json_t *c;
	size_t i;

	json_array_foreach(list, i, c)
	{
		table_cell(t, "%s", value_text(c, "id"));
		table_cell(t, "%s", value_text(c, "host"));
		table_cell(t, "%s", value_text(c, "zone"));
		table_cell(t, "%s", value_yes(c, "preferred"));
		table_cell(t, "%s", value_yes(c, "eligible"));
		table_cell(t, "%s", value_state(c, state));
		table_cell(t, "%.1f", 100 * value_number(c, "score"));
		table_cell(t, "%lld", value_int(c, "weight"));
		table_cell(t, "%lld", value_int(c, "in_flight"));
		table_cell(t, "%s", value_latency(value_number(c, "latency_us"), buf));
		table_cell(t, "%s", value_percent(value_number(c, "probability"), buf));
		table_cell(t, "%s", value_flag(c, "stale") ? "stale" : "");
		table_cell(t, "%s", value_terms(json_object_get(c, "terms"), terms));
		table_cell(t, "%s%s",
			json_is_string(json_object_get(c, "reason")) ? value_text(c, "reason") : "",
			no_writes(c, reason));
	}
	table_print(t, out, "no candidates: the service's pool has no nodes");
}

static void print_terms(FILE *out, const json_t *r)
{
	if (json_is_string(json_object_get(r, "rule")))
		fprintf(out, "rule of prefix %s\n", value_text(r, "rule"));
	if (json_is_string(json_object_get(r, "tenant")))
		fprintf(out, "tenant %s\n", value_text(r, "tenant"));
	if (json_is_string(json_object_get(r, "consistency")))
		fprintf(out, "%s reads, within %lld ms\n", value_text(r, "consistency"),
			value_int(r, "timeout_ms"));
	fputc('\n', out);
}

/* A command without a key. */
static void print_turns(const struct answer *a)
{
	static const char *const columns[] = {
		"NODE", "HOST", "ZONE", "IN", ">PROBABILITY", "REASON"};
	struct table *t = table_new(columns, TABLE_COLUMNS(columns));
	char buf[VALUE_BUF];
	const json_t *c;
	size_t i;

	json_array_foreach(value_list(a->result, "candidates"), i, c)
	{
		table_cell(t, "%s", value_text(c, "id"));
		table_cell(t, "%s", value_text(c, "host"));
		table_cell(t, "%s", value_text(c, "zone"));
		table_cell(t, "%s%s", value_yes(c, "eligible"),
			value_flag(c, "unconfirmed") ? ", unconfirmed" : "");
		table_cell(t, "%s", value_percent(value_number(c, "probability"), buf));
		table_cell(t, "%s",
			json_is_null(json_object_get(c, "reason")) ? "" : value_text(c, "reason"));
	}
	table_print(t, a->out, "no candidates: the service's pool has no nodes");
	fprintf(a->out, "\nchoice: the nodes that are in, in turn\n");
}

/* Behind the revision that the decision was made by. */
static const char *stale_word(const json_t *r)
{
	return value_flag(r, "topology_stale") ? " (stale)" : "";
}

static void print_command(const struct answer *a)
{
	const json_t *r = a->result;

	fprintf(a->out, "service %s, revision %lld%s\ncommand %s has no key, policy %s\n\n",
		value_text(r, "service"), value_int(r, "revision"), stale_word(r),
		value_text(r, "command"), value_text(r, "keyless"));
	if (value_flag(r, "used_local_fallback"))
		fprintf(a->out, "choice: none, the router answers it itself\n");
	else
		print_turns(a);
}

static void print_route(const struct answer *a)
{
	const json_t *r = a->result, *token = value_list(r, "token");

	if (json_object_get(r, "command") != NULL) {
		print_command(a);
		return;
	}
	fprintf(a->out, "service %s, revision %lld%s, N = %lld\n", value_text(r, "service"),
		value_int(r, "revision"), stale_word(r), value_int(r, "replication"));
	fprintf(a->out, "key hash %s, token %lld at %s\n", value_text(r, "key_hash"),
		value_int(token, "index"), value_text(token, "value"));
	print_terms(a->out, r);
	print_candidates(a->out, value_list(r, "candidates"));
	if (!json_is_string(json_object_get(r, "choice")))
		fprintf(a->out, "\nchoice: none, no candidate is in\n");
	else
		fprintf(a->out, "\nchoice: %s%s\n", value_text(r, "choice"),
			value_flag(r, "used_fallback")
				? ", in place of a preferred node that is out"
				: "");
	fprintf(a->out, "reads: %s, writes: %s", value_text(r, "reads"), value_text(r, "writes"));
	if (json_is_string(json_object_get(r, "write_choice")))
		fprintf(a->out, " (%s)", value_text(r, "write_choice"));
	fputc('\n', a->out);
}

static enum cli_exit run(const struct cli_call *call)
{
	const char *service = cli_value(call, "service"), *command = cli_value(call, "command");
	bool base64 = cli_value(call, "base64") != NULL;
	json_t *params;

	if ((call->arg == NULL) == (command == NULL) || (command != NULL && base64)) {
		fprintf(call->err, "kvlanectl: route needs either KEY or --command NAME\n");
		return CLI_WRONG;
	}
	if (command != NULL)
		params = json_pack("{s:s, s:s*}", "command", command, "service", service);
	else
		params = json_pack("{s:s, s:s, s:s*}", "key", call->arg, "key_encoding",
			base64 ? "base64" : "text", "service", service);
	if (params == NULL) {
		fprintf(call->err,
			"kvlanectl: route: KEY or SERVICE is not UTF-8 text; give such a "
			"key in base64, with --base64\n");
		return CLI_WRONG;
	}
	return ask_and_print(call, "route", params, print_route);
}

static const struct cli_option options[] = {
	{"service", "NAME", "the service; not needed when there is one only"},
	{"base64", NULL, "KEY is base64, for keys that are no text"},
	{"command", "NAME", "in place of KEY: a command that has none, like version or mn"},
	{NULL},
};

const struct cli_command cli_command_route = {
	.name = "route",
	.arg = "[KEY]",
	.arg_optional = true,
	.summary = "where a key goes, and why",
	.help = "Prints the key's hash, its token and the candidates in order: first the "
		"preference "
		"list, then the nodes that stand in for those that are out (IN: no), with the "
		"reason. PROBABILITY is that of a read's draw now, as the workers would draw it by "
		"the weights and by "
		"what they know themselves: their requests IN FLIGHT, and the average LATENCY of "
		"their last answers. A revision is stale when the newest reload failed: see "
		"status. "
		"A command without a key is answered "
		"by the "
		"router, or goes to the nodes in turn, as the service's `keyless` says. The key is "
		"sent to kvlaned over the "
		"control socket only, and is not logged.",
	.options = options,
	.run = run,
};

/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ctrl/cli/ask.h"
#include "ctrl/cli/commands.h"
#include "ctrl/cli/fleet.h"
#include "ctrl/cli/table.h"
#include "ctrl/cli/value.h"

/* Every kind of placement on the nodes of a file: shares, movement, size, building time. */
struct result {
	enum kvl_placement_kind kind;
	uint32_t tokens;
	size_t bytes;
	double build_ms;
	double worst;   /* how far a node's share is off its weight's, relative, at worst */
	double removed; /* share of keys that move when the last node leaves */
	double added;   /* when one more comes */
};

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double worst_share(const struct fleet *f, const struct kvl_placement *p)
{
	double total = 0, worst = 0;

	for (size_t i = 0; i < f->count; i++)
		total += f->members[i].weight;
	for (size_t i = 0; i < f->count; i++) {
		double want = f->members[i].weight / total;
		double off = kvl_placement_share(p, (uint16_t)i) / want - 1;

		off = off < 0 ? -off : off;
		worst = off > worst ? off : worst;
	}
	return worst;
}

/* The fleet with `count` of its nodes, or one more that sorts last. */
static double change_measure(const struct fleet *f, const struct kvl_placement *p,
	const struct kvl_placement_params *params, bool add)
{
	struct fleet other = {.count = add ? f->count + 1 : f->count - 1};
	struct kvl_placement *q;
	double moved = 0;

	if (other.count == 0)
		return 1;
	other.members = calloc(other.count, sizeof(*other.members));
	if (other.members == NULL)
		abort();
	memcpy(other.members, f->members, (add ? f->count : other.count) * sizeof(*f->members));
	if (add)
		other.members[f->count] = (struct kvl_member){.id = "~new",
			.host = "",
			.zone = "",
			.weight = 100,
			.number = (uint16_t)f->count,
			.server = "~new"};
	q = fleet_place(&other, params);
	if (q != NULL)
		moved = fleet_compare(&(struct fleet_side){f, p, params->seed},
			&(struct fleet_side){&other, q, params->seed})
				.moved;
	free(q);
	fleet_free(&other);
	return moved;
}

static int kind_measure(const struct fleet *f, struct kvl_placement_params params, struct result *r)
{
	double start = now_ms();
	struct kvl_placement *p;

	params.kind = r->kind;
	p = fleet_place(f, &params);
	if (p == NULL)
		return -errno;
	r->build_ms = now_ms() - start;
	r->tokens = kvl_placement_tokens(p);
	r->bytes = kvl_placement_size(p);
	r->worst = worst_share(f, p);
	r->removed = change_measure(f, p, &params, false);
	r->added = change_measure(f, p, &params, true);
	free(p);
	return 0;
}

static json_t *result_value(const struct result *r)
{
	return json_pack("{s:s, s:I, s:I, s:f, s:f, s:f, s:f}", "placement",
		kvl_placement_name(r->kind), "tokens", (json_int_t)r->tokens, "bytes",
		(json_int_t)r->bytes, "build_ms", r->build_ms, "worst_share_off", r->worst,
		"moved_by_removal", r->removed, "moved_by_addition", r->added);
}

static void print_text(const struct cli_call *call, const json_t *list)
{
	static const char *const columns[] = {"PLACEMENT", ">TOKENS", ">KB", ">BUILT IN",
		">SHARE OFF AT WORST", ">MOVED: LAST LEAVES", ">MOVED: ONE MORE"};
	struct table *t = table_new(columns, TABLE_COLUMNS(columns));
	char buf[VALUE_BUF];
	const json_t *r;
	size_t i;

	json_array_foreach(list, i, r)
	{
		table_cell(t, "%s", value_text(r, "placement"));
		table_cell(t, "%lld", value_int(r, "tokens"));
		table_cell(t, "%lld", value_int(r, "bytes") / 1024);
		table_cell(t, "%.1fms", value_number(r, "build_ms"));
		table_cell(t, "%s", value_percent(value_number(r, "worst_share_off"), buf));
		table_cell(t, "%s", value_percent(value_number(r, "moved_by_removal"), buf));
		table_cell(t, "%s", value_percent(value_number(r, "moved_by_addition"), buf));
	}
	table_print(t, call->out, NULL);
}

static json_t *compare(const struct kvl_config *config)
{
	const struct kvl_service_config *service = &config->services[0];
	struct fleet f = fleet_of_config(config, service->pool);
	json_t *list = json_array();

	for (int kind = 0; f.count != 0 && kind < KVL_PLACE_KINDS; kind++) {
		struct result r = {.kind = (enum kvl_placement_kind)kind};

		if (kind_measure(&f, service->placement, &r) == 0)
			json_array_append_new(list, result_value(&r));
	}
	fleet_free(&f);
	return list;
}

static enum cli_exit run(const struct cli_call *call)
{
	static struct kvl_diags diagnostics;
	struct kvl_config *config = kvl_config_load(call->arg, &diagnostics);
	json_t *list;

	if (config == NULL || config->service_count == 0) {
		fprintf(call->err,
			"kvlanectl: %s is refused, or has no service: `kvlanectl check "
			"%s` tells\n",
			call->arg, call->arg);
		kvl_config_free(config);
		return CLI_WRONG;
	}
	list = compare(config);
	if (call->json)
		ask_print_json(call, list, false);
	else
		print_text(call, list);
	json_decref(list);
	kvl_config_free(config);
	return CLI_OK;
}

const struct cli_command cli_command_ring_compare = {
	.name = "ring compare",
	.arg = "FILE",
	.summary = "every kind of placement on the nodes of a configuration: shares and movement",
	.help = "Takes the pool of FILE's first service. SHARE OFF AT WORST is how far a node's "
		"part "
		"of the keys is off what its weight asks for; the last columns are which part of "
		"100,000 sample keys moves when the last node leaves, and when one more comes.",
	.offline = true,
	.run = run,
};

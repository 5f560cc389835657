/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "ctrl/cli/ask.h"
#include "ctrl/cli/commands.h"
#include "ctrl/cli/table.h"
#include "ctrl/cli/value.h"

/*
 * Prints whatever counters kvlaned sends, in its order: plain numbers, then the groups. A counter
 * that is added there needs nothing here.
 */
#define WORKERS_SHOWN 32

struct sheet {
	const struct answer *answer;
	struct table *table;
	const json_t *workers;
	const char *group; /* NULL = the plain numbers */
	bool all;          /* zeros too */
};

static double read_counter(const struct sheet *s, const json_t *object, const char *name)
{
	return value_number(s->group != NULL ? json_object_get(object, s->group) : object, name);
}

static void add_row(const struct sheet *s, const char *name)
{
	const struct answer *a = s->answer;
	double value = read_counter(s, a->result, name);
	double gain = value - read_counter(s, a->before, name);
	const json_t *worker;
	size_t i;

	if (value == 0 && !s->all)
		return;
	if (s->group != NULL)
		table_cell(s->table, "%s.%s", s->group, name);
	else
		table_cell(s->table, "%s", name);
	table_cell(s->table, "%.0f", value);
	/* Restarted in between, or what is held now rather than counted: no rate. */
	if (a->before == NULL || gain < 0 || a->seconds <= 0)
		table_cell(s->table, "-");
	else
		table_cell(s->table, "%.0f", gain / a->seconds);
	json_array_foreach(s->workers, i, worker)
		table_cell(s->table, "%.0f", read_counter(s, worker, name));
}

static void add_group(struct sheet *s, const json_t *object, const char *group)
{
	const char *name;
	json_t *value;

	s->group = group;
	json_object_foreach((json_t *)object, name, value)
	{
		if (json_is_number(value))
			add_row(s, name);
	}
}

static void print_stats(const struct answer *a)
{
	const char *columns[3 + WORKERS_SHOWN] = {"COUNTER", ">TOTAL", ">PER SECOND"};
	char heads[WORKERS_SHOWN][32];
	struct sheet s = {
		.answer = a,
		.workers = value_list(a->result, "workers"),
		.all = cli_value(a->call, "all") != NULL,
	};
	size_t workers = json_array_size(s.workers);
	const char *name;
	json_t *value;

	if (workers < 2 || workers > WORKERS_SHOWN)
		s.workers = NULL; /* one is the total; more than KVL_WORKERS_MAX there cannot be */
	for (size_t w = 0; w < json_array_size(s.workers); w++) {
		snprintf(heads[w], sizeof(heads[w]), ">WORKER %zu", w);
		columns[3 + w] = heads[w];
	}
	s.table = table_new(columns, 3 + json_array_size(s.workers));
	add_group(&s, a->result, NULL);
	json_object_foreach((json_t *)a->result, name, value)
	{
		if (json_is_object(value))
			add_group(&s, value, name);
	}
	table_print(s.table, a->out, "all counters are zero");
}

static enum cli_exit run(const struct cli_call *call)
{
	return ask_and_print(call, "stats", NULL, print_stats);
}

static const struct cli_option options[] = {
	ASK_WATCH_OPTIONS,
	{"all", NULL, "counters that are zero as well"},
	{NULL},
};

const struct cli_command cli_command_stats = {
	.name = "stats",
	.summary = "counters: packets in and out, drops by reason, answers",
	.help = "Every packet is accounted for: in + exception_in + created = out + exception_out "
		"+ "
		"absorbed + dropped + held, and dropped is the sum of drops.*. exception_* are "
		"frames from and to the kernel by the tap of a port that the kernel does not see. "
		"A datagram of several keys or commands is absorbed "
		"and its parts are created, and so are the replies to them. answered.* are "
		"requests that the router itself answered, by reason.",
	.options = options,
	.run = run,
};

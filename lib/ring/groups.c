/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/ring/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct named {
	const char *name;
	uint32_t member;
};

struct paired {
	uint64_t pair;
	uint32_t member;
};

static int named_compare(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

static int paired_compare(const void *a, const void *b)
{
	const struct paired *x = a, *y = b;

	return (x->pair > y->pair) - (x->pair < y->pair);
}

/* Equal names get equal numbers, counted from 0; with `lone`, an empty name equals no other. */
static uint32_t names_number(struct named *names, size_t count, bool lone, uint32_t *number)
{
	uint32_t n = 0;

	qsort(names, count, sizeof(*names), named_compare);
	for (size_t i = 0; i < count; i++) {
		bool same = i > 0 && strcmp(names[i].name, names[i - 1].name) == 0
			    && !(lone && names[i].name[0] == '\0');

		if (!same)
			n++;
		number[names[i].member] = n - 1;
	}
	return n;
}

static uint32_t pairs_number(struct paired *pairs, size_t count, uint32_t *number)
{
	uint32_t n = 0;

	qsort(pairs, count, sizeof(*pairs), paired_compare);
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || pairs[i].pair != pairs[i - 1].pair)
			n++;
		number[pairs[i].member] = n - 1;
	}
	return n;
}

static void groups_number(struct groups *g, const struct kvl_member *members, size_t count,
	struct named *names, struct paired *pairs)
{
	for (size_t i = 0; i < count; i++)
		names[i] = (struct named){.name = members[i].host, .member = (uint32_t)i};
	g->hosts = names_number(names, count, true, g->host);

	for (size_t i = 0; i < count; i++)
		names[i] = (struct named){.name = members[i].zone, .member = (uint32_t)i};
	g->zones = names_number(names, count, false, g->zone);

	for (size_t i = 0; i < count; i++)
		pairs[i] = (struct paired){
			.pair = (uint64_t)g->zone[i] << 32 | g->host[i],
			.member = (uint32_t)i,
		};
	g->cells = pairs_number(pairs, count, g->cell);
}

int groups_init(struct groups *g, const struct kvl_member *members, size_t count)
{
	struct named *names = calloc(count, sizeof(*names));
	struct paired *pairs = calloc(count, sizeof(*pairs));
	int ret = -ENOMEM;

	*g = (struct groups){
		.host = calloc(count, sizeof(*g->host)),
		.zone = calloc(count, sizeof(*g->zone)),
		.cell = calloc(count, sizeof(*g->cell)),
	};
	if (names == NULL || pairs == NULL || g->host == NULL || g->zone == NULL || g->cell == NULL)
		goto out;
	groups_number(g, members, count, names, pairs);
	ret = 0;
out:
	free(names);
	free(pairs);
	if (ret < 0)
		groups_fini(g);
	return ret;
}

void groups_fini(struct groups *g)
{
	free(g->host);
	free(g->zone);
	free(g->cell);
	*g = (struct groups){0};
}

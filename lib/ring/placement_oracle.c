/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/ring/placement_oracle.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

static bool token_before(const struct oracle_token *a, const struct oracle_token *b)
{
	if (a->value != b->value)
		return a->value < b->value;
	return strcmp(a->member->id, b->member->id) < 0;
}

static uint64_t oracle_value(const char *id, uint32_t index, uint64_t seed)
{
	uint8_t bytes[512];
	size_t n = strlen(id);

	memcpy(bytes, id, n);
	bytes[n++] = 0;
	bytes[n++] = index & 0xff;
	bytes[n++] = index >> 8 & 0xff;
	bytes[n++] = index >> 16 & 0xff;
	bytes[n++] = index >> 24 & 0xff;
	return XXH3_64bits_withSeed(bytes, n, seed);
}

struct oracle oracle_new(
	const struct kvl_placement_params *params, const struct kvl_member *members, size_t count)
{
	struct oracle o = {.replication = params->replication};

	for (size_t m = 0; m < count; m++) {
		uint32_t tokens = params->vnodes * members[m].weight / 100;

		if (tokens == 0)
			tokens = 1;
		o.tokens = realloc(o.tokens, (o.count + tokens) * sizeof(*o.tokens));
		for (uint32_t i = 0; i < tokens; i++)
			o.tokens[o.count++] = (struct oracle_token){
				oracle_value(members[m].id, i, params->seed), &members[m]};
	}
	return o;
}

void oracle_free(struct oracle *o)
{
	free(o->tokens);
}

const struct oracle_token *oracle_find(const struct oracle *o, uint64_t hash)
{
	const struct oracle_token *at = NULL, *lowest = NULL;

	for (size_t i = 0; i < o->count; i++) {
		const struct oracle_token *t = &o->tokens[i];

		if (lowest == NULL || token_before(t, lowest))
			lowest = t;
		if (t->value >= hash && (at == NULL || token_before(t, at)))
			at = t;
	}
	return at != NULL ? at : lowest;
}

/* The walk's members, each where it is met first. */
static size_t walk_members(const struct oracle *o, const struct oracle_token *from,
	const struct kvl_member **walk, size_t max)
{
	const struct oracle_token *at = from;
	size_t n = 0;

	for (size_t steps = 0; steps < o->count && n < max; steps++) {
		const struct oracle_token *next = NULL, *lowest = NULL;
		bool met = false;

		for (size_t i = 0; i < n; i++)
			met |= walk[i] == at->member;
		if (!met)
			walk[n++] = at->member;
		for (size_t i = 0; i < o->count; i++) {
			const struct oracle_token *t = &o->tokens[i];

			if (lowest == NULL || token_before(t, lowest))
				lowest = t;
			if (token_before(at, t) && (next == NULL || token_before(t, next)))
				next = t;
		}
		at = next != NULL ? next : lowest;
	}
	return n;
}

struct list {
	const struct kvl_member *m[256];
	size_t n;
};

static bool host_in(const struct list *l, const struct kvl_member *m)
{
	for (size_t i = 0; i < l->n; i++)
		if (m->host[0] != '\0' && strcmp(l->m[i]->host, m->host) == 0)
			return true;
	return false;
}

static bool zone_in(const struct list *l, const struct kvl_member *m)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->m[i]->zone, m->zone) == 0)
			return true;
	return false;
}

static bool node_in(const struct list *l, const struct kvl_member *m)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->m[i] == m)
			return true;
	return false;
}

uint32_t oracle_row(const struct oracle *o, const struct oracle_token *from, struct kvl_row *row)
{
	struct list walk, list = {.n = 0}, skipped = {.n = 0};
	uint32_t preferred;

	/* SPEC 2.4, sentence by sentence. */
	walk.n = walk_members(o, from, walk.m, 256);
	for (size_t i = 0; i < walk.n && list.n < o->replication; i++) {
		if (host_in(&list, walk.m[i]))
			continue;
		if (zone_in(&list, walk.m[i]))
			skipped.m[skipped.n++] = walk.m[i];
		else
			list.m[list.n++] = walk.m[i];
	}
	for (size_t i = 0; i < skipped.n && list.n < o->replication; i++)
		if (!host_in(&list, skipped.m[i]))
			list.m[list.n++] = skipped.m[i];
	preferred = (uint32_t)list.n;

	/* Extended: new hosts, then anyone. */
	for (size_t i = 0; i < walk.n; i++)
		if (!node_in(&list, walk.m[i]) && !host_in(&list, walk.m[i]))
			list.m[list.n++] = walk.m[i];
	for (size_t i = 0; i < walk.n; i++)
		if (!node_in(&list, walk.m[i]))
			list.m[list.n++] = walk.m[i];

	for (size_t i = 0; i < KVL_ROW_MAX; i++)
		row->node[i] = i < list.n ? list.m[i]->number : KVL_NODE_NONE;
	return preferred;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/cli/fleet.h"

#include <stdlib.h>
#include <string.h>

#include "ctrl/cli/value.h"
#include "lib/ring/lookup.h"

static struct kvl_member *fleet_add(struct fleet *f)
{
	f->members = realloc(f->members, (f->count + 1) * sizeof(*f->members));
	if (f->members == NULL)
		abort();
	f->members[f->count] = (struct kvl_member){.number = (uint16_t)f->count};
	return &f->members[f->count++];
}

struct fleet fleet_of_config(const struct kvl_config *config, const char *pool)
{
	struct fleet f = {0};

	for (size_t i = 0; i < config->node_count; i++) {
		const struct kvl_node_config *n = &config->nodes[i];
		struct kvl_member *m;

		if (strcmp(n->pool, pool) != 0)
			continue;
		m = fleet_add(&f);
		m->id = n->id;
		m->host = n->host;
		m->zone = n->zone;
		m->weight = n->weight;
		m->server = n->ketama_name;
	}
	return f;
}

struct fleet fleet_of_answer(const json_t *nodes, const char *pool)
{
	struct fleet f = {0};
	const json_t *n;
	size_t i;

	json_array_foreach(nodes, i, n)
	{
		struct kvl_member *m;

		if (strcmp(value_text(n, "pool"), pool) != 0)
			continue;
		m = fleet_add(&f);
		m->id = value_text(n, "id");
		m->host = value_text(n, "host");
		m->zone = value_text(n, "zone");
		m->weight = (uint32_t)value_int(n, "weight");
		m->server = value_text(n, "ketama_name");
	}
	return f;
}

void fleet_free(struct fleet *f)
{
	free(f->members);
	*f = (struct fleet){0};
}

struct kvl_placement *fleet_place(const struct fleet *f, const struct kvl_placement_params *params)
{
	return kvl_placement_build(params, f->members, f->count);
}

/* Id of the node that has the sample's i-th key; NULL when there is no node. */
static const char *owner(const struct fleet_side *side, unsigned int i)
{
	char key[256]; /* longer than XXH3 reads at once, or gcc suspects it */
	size_t len = (size_t)snprintf(key, sizeof(key), "sample:%u", i);
	const struct kvl_placement *p = side->placement;
	uint64_t hash = kvl_placement_key_hash(p, key, len, side->seed);
	uint16_t n = kvl_placement_row(p, kvl_placement_find(p, hash))->node[0];

	return n == KVL_NODE_NONE ? NULL : side->fleet->members[n].id;
}

static bool fleet_has(const struct fleet *f, const char *id)
{
	for (size_t i = 0; i < f->count; i++)
		if (strcmp(f->members[i].id, id) == 0)
			return true;
	return false;
}

struct fleet_change fleet_compare(const struct fleet_side *before, const struct fleet_side *after)
{
	unsigned int moved = 0, between = 0;

	for (unsigned int i = 0; i < FLEET_KEYS; i++) {
		const char *from = owner(before, i), *to = owner(after, i);

		if (from == NULL || to == NULL) {
			moved += from != to;
		} else if (strcmp(from, to) != 0) {
			moved++;
			between += fleet_has(after->fleet, from) && fleet_has(before->fleet, to);
		}
	}
	return (struct fleet_change){
		.moved = (double)moved / FLEET_KEYS, .between = (double)between / FLEET_KEYS};
}

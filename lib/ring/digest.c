/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/ring/internal.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ring/hash.h"
#include "lib/ring/lookup.h"

/*
 * Covers what went in and what came out: two routers whose programs place differently must not
 * have one digest. Encoding: placement.h.
 */
static void put_u32(XXH3_state_t *state, uint32_t v)
{
	v = htole32(v);
	XXH3_64bits_update(state, &v, sizeof(v));
}

static void put_u64(XXH3_state_t *state, uint64_t v)
{
	v = htole64(v);
	XXH3_64bits_update(state, &v, sizeof(v));
}

static void put_string(XXH3_state_t *state, const char *s)
{
	XXH3_64bits_update(state, s, strlen(s) + 1);
}

static void put_members(XXH3_state_t *state, const struct kvl_member *members, size_t count)
{
	put_u32(state, (uint32_t)count);
	for (size_t i = 0; i < count; i++) {
		put_string(state, members[i].id);
		put_string(state, members[i].host);
		put_string(state, members[i].zone);
		put_u32(state, members[i].weight);
	}
}

/* Rows by rank in id order: numbers are each router's own. */
static void put_row(XXH3_state_t *state, const struct kvl_row *row, const uint16_t *rank)
{
	uint16_t le[KVL_ROW_MAX];

	for (size_t i = 0; i < KVL_ROW_MAX; i++)
		le[i] = htole16(rank[row->node[i]]);
	XXH3_64bits_update(state, le, sizeof(le));
}

int placement_digest(const struct kvl_placement *p, const struct kvl_member *members, size_t count,
	uint64_t *digest)
{
	uint16_t *rank = malloc((UINT16_MAX + 1) * sizeof(*rank));
	XXH3_state_t state;

	if (rank == NULL)
		return -ENOMEM;
	memset(rank, 0xff, (UINT16_MAX + 1) * sizeof(*rank)); /* KVL_NODE_NONE stays itself */
	for (size_t i = 0; i < count; i++)
		rank[members[i].number] = (uint16_t)i;

	XXH3_INITSTATE(&state);
	XXH3_64bits_reset(&state);
	put_u32(&state, (uint32_t)p->params.kind);
	put_u32(&state, p->params.replication);
	put_u32(&state, p->params.vnodes);
	put_u64(&state, p->params.seed);
	put_members(&state, members, count);
	put_u32(&state, p->token_count);
	for (uint32_t t = 0; t < p->token_count; t++) {
		put_u64(&state, kvl_placement_values(p)[t]);
		put_row(&state, kvl_placement_row(p, t), rank);
	}
	*digest = XXH3_64bits_digest(&state);
	free(rank);
	return 0;
}

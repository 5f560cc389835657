/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/ring/internal.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ring/hash.h"

static uint64_t ring_share(const struct kvl_placement_params *params, const struct kvl_member *m)
{
	uint64_t share = (uint64_t)params->vnodes * m->weight / 100;

	return share > 0 ? share : 1;
}

int token_compare(const void *a, const void *b)
{
	const struct token *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	/* A collision: the lower id first, so that every router breaks the tie alike. */
	return (x->owner > y->owner) - (x->owner < y->owner);
}

/* The hash of (id bytes, 0x00, LE32 index). The zero keeps "n1" + index apart from "n11" + ...:
 * no id contains it. */
static uint64_t token_value(XXH3_state_t *state, const char *id, uint32_t index, uint64_t seed)
{
	uint32_t le = htole32(index);

	XXH3_64bits_reset_withSeed(state, seed);
	XXH3_64bits_update(state, id, strlen(id) + 1);
	XXH3_64bits_update(state, &le, sizeof(le));
	return XXH3_64bits_digest(state);
}

static int ring_place(const struct kvl_placement_params *params, const struct kvl_member *members,
	size_t count, struct token *tokens)
{
	XXH3_state_t state;
	size_t n = 0;

	XXH3_INITSTATE(&state);
	for (size_t m = 0; m < count; m++) {
		uint64_t share = ring_share(params, &members[m]);

		for (uint32_t i = 0; i < share; i++)
			tokens[n++] = (struct token){
				.value = token_value(&state, members[m].id, i, params->seed),
				.owner = (uint32_t)m,
			};
	}
	qsort(tokens, n, sizeof(*tokens), token_compare);
	return 0;
}

const struct placement_ops ring_ops = {
	.name = "ring",
	.alias = "consistent_hashing",
	.share = ring_share,
	.place = ring_place,
};

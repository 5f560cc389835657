/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/ring/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ring/hash.h"

/*
 * Maglev hashing (Eisenbud et al., NSDI'16, 3.4): each member has its own permutation of a prime
 * number of slots, and they take turns in claiming their next free one. A member with less than
 * the largest weight sits out its share of the turns.
 *
 *	offset = h1 % M, skip = h2 % (M - 1) + 1; h1 and h2 are XXH3-64 of the id with the service's
 *	seed and with the seed's complement; turns in id order
 */
struct claimant {
	uint32_t next, skip;
	uint64_t credit; /* of a turn, in weight */
};

static void claimant_begin(
	struct claimant *c, const struct kvl_placement_params *params, const struct kvl_member *m)
{
	size_t len = strlen(m->id);

	c->next = kvl_key_hash(m->id, len, params->seed) % MAGLEV_SLOTS;
	c->skip = kvl_key_hash(m->id, len, ~params->seed) % (MAGLEV_SLOTS - 1) + 1;
	c->credit = 0;
}

static void slot_claim(struct claimant *c, uint32_t owner, struct token *tokens)
{
	while (tokens[c->next].owner != UINT32_MAX)
		c->next = (c->next + c->skip) % MAGLEV_SLOTS;
	tokens[c->next].owner = owner;
}

static int maglev_fill(const struct kvl_placement_params *params, const struct kvl_member *members,
	size_t count, struct token *tokens)
{
	struct claimant *claimants = calloc(count + 1, sizeof(*claimants));
	uint32_t left = MAGLEV_SLOTS, largest = 0;

	if (claimants == NULL)
		return -ENOMEM;
	for (size_t m = 0; m < count; m++) {
		claimant_begin(&claimants[m], params, &members[m]);
		if (members[m].weight > largest)
			largest = members[m].weight;
	}
	for (size_t m = 0; left != 0; m = (m + 1) % count) {
		claimants[m].credit += members[m].weight;
		if (claimants[m].credit < largest)
			continue;
		claimants[m].credit -= largest;
		slot_claim(&claimants[m], (uint32_t)m, tokens);
		left--;
	}
	free(claimants);
	return 0;
}

static int maglev_place(const struct kvl_placement_params *params, const struct kvl_member *members,
	size_t count, struct token *tokens)
{
	for (uint32_t slot = 0; slot < MAGLEV_SLOTS; slot++)
		tokens[slot] = (struct token){.value = slot, .owner = UINT32_MAX};
	return maglev_fill(params, members, count, tokens);
}

const struct placement_ops maglev_ops = {
	.name = "maglev",
	.alias = "maglev",
	.table = MAGLEV_SLOTS,
	.place = maglev_place,
};

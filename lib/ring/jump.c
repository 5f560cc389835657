/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/ring/internal.h"

#include <endian.h>

#include "lib/ring/hash.h"

/*
 * Jump consistent hash (Lamping and Veach, 2014) of a slot to one of n buckets, the buckets being
 * the members in id order, each as often as its weight has whole shares. A new last bucket takes
 * an even part of all others; taking one out of the middle renames those behind it, so name nodes
 * in the order in which they come.
 */
static uint32_t jump(uint64_t key, uint32_t buckets)
{
	int64_t b = -1, j = 0;

	while (j < buckets) {
		b = j;
		key = key * 2862933555777941757ull + 1;
		j = (int64_t)((double)(b + 1) * (0x1p31 / (double)((key >> 33) + 1)));
	}
	return (uint32_t)b;
}

static uint32_t bucket_owner(const struct kvl_placement_params *params,
	const struct kvl_member *members, uint32_t bucket)
{
	uint32_t m = 0;

	for (; bucket >= modulo_ops.share(params, &members[m]); m++)
		bucket -= (uint32_t)modulo_ops.share(params, &members[m]);
	return m;
}

static int jump_place(const struct kvl_placement_params *params, const struct kvl_member *members,
	size_t count, struct token *tokens)
{
	uint32_t buckets = 0;

	for (size_t m = 0; m < count; m++)
		buckets += (uint32_t)modulo_ops.share(params, &members[m]);
	for (uint32_t slot = 0; slot < SLOTS; slot++) {
		uint32_t le = htole32(slot);
		uint64_t key = kvl_key_hash(&le, sizeof(le), params->seed);

		tokens[slot] = (struct token){
			.value = slot,
			.owner = bucket_owner(params, members, jump(key, buckets)),
		};
	}
	return 0;
}

const struct placement_ops jump_ops = {
	.name = "jump",
	.alias = "jump",
	.table = SLOTS,
	.place = jump_place,
};

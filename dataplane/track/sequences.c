/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "dataplane/track/sequences.h"

void kvl_sequence_pool_init(struct kvl_sequence_pool *pool)
{
	for (uint16_t i = 0; i < KVL_SEQUENCES_BITMAPS; i++)
		pool->free[i] = KVL_SEQUENCES_BITMAPS - 1 - i;
	pool->free_count = KVL_SEQUENCES_BITMAPS;
}

static void reply_begin(struct kvl_sequences *s, struct kvl_sequence_pool *pool, uint16_t total)
{
	s->bits = 0;
	s->total = total;
	s->left = total;
	s->bitmap = KVL_BITMAP_NONE;
	if (total > KVL_SEQUENCES_INLINE && pool->free_count != 0) {
		s->bitmap = pool->free[--pool->free_count];
		memset(pool->bits[s->bitmap], 0, sizeof(pool->bits[s->bitmap]));
	}
}

enum kvl_sequence_verdict kvl_sequences_add_many(
	struct kvl_sequences *s, struct kvl_sequence_pool *pool, uint16_t sequence, uint16_t total)
{
	uint64_t *word = &s->bits;
	uint64_t bit = 1ull << (sequence % 64);

	if (total > KVL_SEQUENCES_MAX || (s->total != 0 && total != s->total))
		return KVL_SEQUENCE_TOTAL;
	if (s->total == 0)
		reply_begin(s, pool, total);

	if (total > KVL_SEQUENCES_INLINE) {
		if (s->bitmap == KVL_BITMAP_NONE)
			return KVL_SEQUENCE_UNTRACKED;
		word = &pool->bits[s->bitmap][sequence / 64];
	}
	if (*word & bit)
		return KVL_SEQUENCE_DUPLICATE;
	*word |= bit;
	return --s->left == 0 ? KVL_SEQUENCE_LAST : KVL_SEQUENCE_MORE;
}

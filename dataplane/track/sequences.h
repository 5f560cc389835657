/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Which datagrams of one reply have passed. A slot is held until `total` distinct sequences have:
 * before that one of them may still come, and must not meet another request's slot. Replies of up
 * to 64 datagrams (87 KB) are kept in place; larger ones, up to 1 MB, borrow a bitmap from a small
 * fixed pool; when that is used up they pass uncounted and the slot waits for its timeout.
 */
#define KVL_SEQUENCES_MAX     1024u /* datagrams a reply: 1392 * 1024 > memcached's 1 MB items */
#define KVL_SEQUENCES_INLINE  64u
#define KVL_SEQUENCES_BITMAPS 256u
#define KVL_BITMAP_NONE       UINT16_MAX

struct kvl_sequences {
	uint64_t bits;   /* inline bitmap */
	uint16_t total;  /* 0: no datagram has come yet */
	uint16_t left;   /* distinct ones still to come */
	uint16_t bitmap; /* in the pool, or KVL_BITMAP_NONE; meaningful when total > 64 */
	uint16_t pad;
};

struct kvl_sequence_pool {
	uint64_t bits[KVL_SEQUENCES_BITMAPS][KVL_SEQUENCES_MAX / 64];
	uint16_t free[KVL_SEQUENCES_BITMAPS];
	uint32_t free_count;
};

enum kvl_sequence_verdict {
	KVL_SEQUENCE_MORE,      /* new, and others are to come */
	KVL_SEQUENCE_LAST,      /* new, and the reply is whole */
	KVL_SEQUENCE_DUPLICATE, /* has passed already */
	KVL_SEQUENCE_TOTAL,     /* total differs from before, or is beyond KVL_SEQUENCES_MAX */
	KVL_SEQUENCE_UNTRACKED, /* the pool is used up: let it pass, keep the slot to its timeout */
};

void kvl_sequence_pool_init(struct kvl_sequence_pool *pool);

/* Of kvl_sequences_add(): a reply of several datagrams. */
enum kvl_sequence_verdict kvl_sequences_add_many(
	struct kvl_sequences *s, struct kvl_sequence_pool *pool, uint16_t sequence, uint16_t total);

/* sequence < total, or both 0 (memcached's header-only reply), as kvl_reply_parse() assures. */
static inline enum kvl_sequence_verdict kvl_sequences_add(
	struct kvl_sequences *s, struct kvl_sequence_pool *pool, uint16_t sequence, uint16_t total)
{
	if (__builtin_expect(total <= 1 && s->total == 0, 1))
		return KVL_SEQUENCE_LAST; /* by far the most: nothing to remember */
	return kvl_sequences_add_many(s, pool, sequence, total);
}

/* Back to "no datagram has come"; returns what was borrowed. */
static inline void kvl_sequences_reset(struct kvl_sequences *s, struct kvl_sequence_pool *pool)
{
	if (__builtin_expect(s->total > KVL_SEQUENCES_INLINE && s->bitmap != KVL_BITMAP_NONE, 0))
		pool->free[pool->free_count++] = s->bitmap;
	s->total = 0;
}

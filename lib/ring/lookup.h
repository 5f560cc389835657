/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/ring/hash.h"
#include "lib/ring/placement.h"

/*
 * The block, and the lookup in it (workers only read). Behind this header stand, each on a cache
 * line of its own: the index, the sorted token values, the rows. They are reached by offset, so a
 * copy works wherever it lies, as long as it is aligned to KVL_PLACEMENT_ALIGN.
 *
 * index[top bits of the hash] is the first token at or above the bucket's lowest hash. There are
 * about two buckets a token, so that mostly none or one token is passed over from there: a lookup
 * touches one line of the index, one or two of tokens, one of rows, however large the ring.
 */
#define KVL_PLACEMENT_ALIGN 64

/* UINT64_MAX behind the last token, so that the search needs no end test. */
#define KVL_TOKEN_SENTINELS 2

struct kvl_placement {
	uint32_t modulo;      /* divisor when the kind is modulo (1 when empty), else 0 */
	uint32_t index_shift; /* hash >> index_shift is the bucket */
	uint32_t token_count;
	enum kvl_hash_kind hash; /* of keys, see kvl_placement_key_hash() */
	uint32_t preferred;      /* length of the preference list of every row */
	uint64_t index_at;       /* offsets from the block's start, bytes */
	uint64_t token_at;
	uint64_t row_at;
	uint64_t size;
	uint64_t digest;
	struct kvl_placement_params params;
} __attribute__((aligned(KVL_PLACEMENT_ALIGN)));

static inline const uint32_t *kvl_placement_index(const struct kvl_placement *p)
{
	return (const uint32_t *)((const char *)p + p->index_at);
}

static inline const uint64_t *kvl_placement_values(const struct kvl_placement *p)
{
	return (const uint64_t *)((const char *)p + p->token_at);
}

static inline const struct kvl_row *kvl_placement_row(const struct kvl_placement *p, uint32_t token)
{
	return (const struct kvl_row *)((const char *)p + p->row_at) + token;
}

/* How many of a row's candidates are the preference list: min(N, distinct hosts). */
static inline uint32_t kvl_placement_preferred(const struct kvl_placement *p)
{
	return p->preferred;
}

/* The hash that the stages below take: of the key's bytes, as the placement wants it. */
static inline uint64_t kvl_placement_key_hash(
	const struct kvl_placement *p, const void *key, size_t len, uint64_t seed)
{
	if (__builtin_expect(p->hash != KVL_HASH_XXH3, 0))
		return kvl_ketama_hash(p->hash, key, len);
	return kvl_key_hash(key, len, seed);
}

/* Stage 1 of a burst. Modulo needs no memory to find its row. */
static inline void kvl_placement_prefetch_index(const struct kvl_placement *p, uint64_t hash)
{
	if (p->modulo == 0)
		__builtin_prefetch(kvl_placement_index(p) + (hash >> p->index_shift));
}

/* Stage 2: reads the index. Where the search starts; the token itself for modulo. */
static inline uint32_t kvl_placement_start(const struct kvl_placement *p, uint64_t hash)
{
	uint32_t i;

	if (__builtin_expect(p->modulo != 0, 0))
		return (uint32_t)(hash % p->modulo);
	i = kvl_placement_index(p)[hash >> p->index_shift];
	__builtin_prefetch(kvl_placement_values(p) + i);
	return i;
}

/* Stage 3: first token at or above the hash, wrapping to token 0 behind the last. */
static inline uint32_t kvl_placement_find_from(
	const struct kvl_placement *p, uint64_t hash, uint32_t i)
{
	const uint64_t *value = kvl_placement_values(p);

	if (__builtin_expect(p->modulo != 0, 0))
		return i;
	/* Two steps without a branch: whether one token is passed over is a coin's toss, that more
	 * than two are is rare enough to predict. */
	i += (uint32_t)(value[i] < hash) + (uint32_t)(value[i + 1] < hash);
	while (__builtin_expect(value[i] < hash, 0))
		i++;
	return i == p->token_count ? 0 : i;
}

/* Both at once, for a single key. */
static inline uint32_t kvl_placement_find(const struct kvl_placement *p, uint64_t hash)
{
	return kvl_placement_find_from(p, hash, kvl_placement_start(p, hash));
}

/* Stage 4, optional: the row, before kvl_placement_row() is followed. */
static inline void kvl_placement_prefetch_row(const struct kvl_placement *p, uint32_t token)
{
	__builtin_prefetch(kvl_placement_row(p, token));
}

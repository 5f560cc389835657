/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Inlined: a call through the shared library costs more than hashing a short key. */
#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL
#endif
#include <xxhash.h>

/*
 * Hash of a key: XXH3 64-bit over exactly the key's bytes, with the service's seed (SPEC 2.1).
 * The result is a number, not a byte string, so it does not depend on the machine's byte order.
 */
static inline uint64_t kvl_key_hash(const void *key, size_t len, uint64_t seed)
{
	return XXH3_64bits_withSeed(key, len, seed);
}

/*
 * Hashes that libmemcached's ketama uses, 32 bits wide; here in the upper half, as its tokens are.
 * MD5: the digest's first four bytes as a little-endian number. One at a time: Jenkins's, with
 * bytes taken as signed, as libmemcached does on x86.
 */
enum kvl_hash_kind {
	KVL_HASH_XXH3,
	KVL_HASH_MD5,
	KVL_HASH_ONE_AT_A_TIME,
};

uint64_t kvl_ketama_hash(enum kvl_hash_kind kind, const void *key, size_t len);

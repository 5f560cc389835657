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

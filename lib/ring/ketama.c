/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/ring/internal.h"

/* MD5 as such is what is compatible; the calls that take no allocation are the old ones. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <math.h>
#include <openssl/md5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ring/hash.h"

/*
 * Ketama as libmemcached places it (libmemcached/hosts.cc, update_continuum), so that a fleet can
 * move in without losing its cache. Points are 32 bits wide; here they stand in the upper half of
 * a token, and key hashes likewise, which leaves "first point at or above" as it is.
 *
 *	weighted:   keys by MD5; the MD5 of "SERVER-i" gives four points, little-endian, for i in 0..n/4-1;
 *	            n = floor(weight / total * 160 / 4 * servers + 1e-10) * 4, in single precision
 *	unweighted: one point, the library's default hash (one at a time) of "SERVER-i", i in 0..99;
 *	            keys by the same hash
 *
 * SERVER is the name that clients were given: "HOST", or "HOST:PORT" when the port is not 11211.
 */
#define POINTS_WEIGHTED   160
#define POINTS_UNWEIGHTED 100
#define POINTS_PER_DIGEST 4

static uint64_t digest_point(const uint8_t digest[MD5_DIGEST_LENGTH], unsigned int which)
{
	const uint8_t *d = digest + 4 * which;
	uint32_t point = (uint32_t)d[3] << 24 | (uint32_t)d[2] << 16 | (uint32_t)d[1] << 8 | d[0];

	return (uint64_t)point << 32;
}

static void md5(const void *data, size_t len, uint8_t digest[MD5_DIGEST_LENGTH])
{
	MD5_CTX state;

	MD5_Init(&state);
	MD5_Update(&state, data, len);
	MD5_Final(digest, &state);
}

static uint32_t one_at_a_time(const void *data, size_t len)
{
	const signed char *bytes = data;
	uint32_t value = 0;

	for (size_t i = 0; i < len; i++) {
		value += (uint32_t)bytes[i];
		value += value << 10;
		value ^= value >> 6;
	}
	value += value << 3;
	value ^= value >> 11;
	value += value << 15;
	return value;
}

uint64_t kvl_ketama_hash(enum kvl_hash_kind kind, const void *key, size_t len)
{
	uint8_t digest[MD5_DIGEST_LENGTH];

	if (kind == KVL_HASH_ONE_AT_A_TIME)
		return (uint64_t)one_at_a_time(key, len) << 32;
	md5(key, len, digest);
	return digest_point(digest, 0);
}

#define SERVER_TEXT 320

static size_t server_text(const struct kvl_member *m, uint32_t index, char text[SERVER_TEXT])
{
	return (size_t)snprintf(text, SERVER_TEXT, "%s-%u", m->server, index);
}

static uint64_t weight_total(const struct kvl_member *members, size_t count)
{
	uint64_t total = 0;

	for (size_t m = 0; m < count; m++)
		total += members[m].weight;
	return total;
}

/* In single precision and in this order, as libmemcached rounds. */
static uint32_t points_weighted(const struct kvl_member *m, uint64_t total, size_t count)
{
	float percent = (float)m->weight / (float)total;
	float digests = floorf((float)(percent * POINTS_WEIGHTED / POINTS_PER_DIGEST * (float)count
				       + 0.0000000001));

	return (uint32_t)digests * POINTS_PER_DIGEST;
}

static uint64_t weighted_total(
	const struct kvl_placement_params *params, const struct kvl_member *members, size_t count)
{
	uint64_t total = weight_total(members, count), sum = 0;

	for (size_t m = 0; m < count; m++)
		sum += points_weighted(&members[m], total, count);
	return sum;
}

static int weighted_place(const struct kvl_placement_params *params,
	const struct kvl_member *members, size_t count, struct token *tokens)
{
	uint64_t total = weight_total(members, count);
	size_t n = 0;

	for (size_t m = 0; m < count; m++) {
		uint32_t points = points_weighted(&members[m], total, count);

		for (uint32_t i = 0; i < points; i++, n++) {
			uint8_t digest[MD5_DIGEST_LENGTH];
			char text[SERVER_TEXT];

			size_t len = server_text(&members[m], i / POINTS_PER_DIGEST, text);

			md5(text, len, digest);
			tokens[n].value = digest_point(digest, i % POINTS_PER_DIGEST);
			tokens[n].owner = (uint32_t)m;
		}
	}
	qsort(tokens, n, sizeof(*tokens), token_compare);
	return 0;
}

/* About; the exact number depends on the others. */
static uint64_t weighted_share(
	const struct kvl_placement_params *params, const struct kvl_member *m)
{
	return (uint64_t)POINTS_WEIGHTED * m->weight / 100;
}

static uint64_t unweighted_share(
	const struct kvl_placement_params *params, const struct kvl_member *m)
{
	return POINTS_UNWEIGHTED;
}

static int unweighted_place(const struct kvl_placement_params *params,
	const struct kvl_member *members, size_t count, struct token *tokens)
{
	size_t n = 0;

	for (size_t m = 0; m < count; m++)
		for (uint32_t i = 0; i < POINTS_UNWEIGHTED; i++, n++) {
			char text[SERVER_TEXT];

			size_t len = server_text(&members[m], i, text);

			tokens[n].value = kvl_ketama_hash(KVL_HASH_ONE_AT_A_TIME, text, len);
			tokens[n].owner = (uint32_t)m;
		}
	qsort(tokens, n, sizeof(*tokens), token_compare);
	return 0;
}

const struct placement_ops ketama_ops = {
	.name = "ketama",
	.alias = "ketama_weighted",
	.hash = KVL_HASH_MD5,
	.share = weighted_share,
	.total = weighted_total,
	.place = weighted_place,
};

const struct placement_ops ketama_unweighted_ops = {
	.name = "ketama_unweighted",
	.alias = "ketama_unweighted",
	.hash = KVL_HASH_ONE_AT_A_TIME,
	.share = unweighted_share,
	.place = unweighted_place,
};

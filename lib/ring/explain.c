/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/ring/placement.h"

#include "lib/ring/lookup.h"

/* What a placement says about itself: for explanations and comparisons, never on the hot path. */

size_t kvl_placement_size(const struct kvl_placement *p)
{
	return p->size;
}

uint64_t kvl_placement_digest(const struct kvl_placement *p)
{
	return p->digest;
}

uint32_t kvl_placement_tokens(const struct kvl_placement *p)
{
	return p->token_count;
}

uint64_t kvl_placement_token(const struct kvl_placement *p, uint32_t token)
{
	return kvl_placement_values(p)[token];
}

/* A row's first candidate is the token's own node. */
static bool token_owned(const struct kvl_placement *p, uint32_t token, uint16_t number)
{
	return kvl_placement_row(p, token)->node[0] == number;
}

uint32_t kvl_placement_tokens_of(const struct kvl_placement *p, uint16_t number)
{
	uint32_t n = 0;

	for (uint32_t t = 0; t < p->token_count; t++)
		n += token_owned(p, t, number);
	return n;
}

/* Hashes a ring token owns: above its predecessor, up to itself; token 0 owns the wrap as well. */
static double arc(const struct kvl_placement *p, uint32_t token)
{
	const uint64_t *value = kvl_placement_values(p);
	const uint64_t first = value[0], last = value[p->token_count - 1];

	if (token > 0)
		return (double)(value[token] - value[token - 1]) / 0x1p64;
	/* 2^64 - last + first, which is the whole circle when all tokens collide. */
	return first == last ? 1.0 : (double)(first - last) / 0x1p64;
}

double kvl_placement_share(const struct kvl_placement *p, uint16_t number)
{
	double share = 0;

	for (uint32_t t = 0; t < p->token_count; t++)
		if (token_owned(p, t, number))
			share += p->modulo != 0 ? 1.0 / p->modulo : arc(p, t);
	return share;
}

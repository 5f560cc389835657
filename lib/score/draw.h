/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/ring/placement.h"

/*
 * The choice among a row's candidates (docs/architecture.md, "The decision"). A weight of 0 is the
 * hard filter's verdict: the candidate is passed over and the walk goes on until `n` are left
 * (SPEC 3), so that a dead node's keys go to whoever comes next in *each key's* row, not to one
 * ring successor.
 */
struct kvl_draw {
	uint16_t node; /* KVL_NODE_NONE: no candidate is left */
	uint8_t place; /* its place in the row */
};

/* The first candidate that is in: for N = 1 and for writes, whose order must not depend on chance. */
static inline struct kvl_draw kvl_draw_first(const struct kvl_row *row, const uint16_t *weights)
{
	for (uint8_t i = 0; i < KVL_ROW_MAX && row->node[i] != KVL_NODE_NONE; i++)
		if (weights[row->node[i]] != 0)
			return (struct kvl_draw){row->node[i], i};
	return (struct kvl_draw){KVL_NODE_NONE, 0};
}

/* The candidates of a draw: the first `n` of the row that are in. Returns how many. */
static inline unsigned int kvl_candidates(const struct kvl_row *row, const uint16_t *weights,
	unsigned int n, struct kvl_draw list[KVL_REPLICATION_MAX])
{
	unsigned int left = 0;

	for (uint8_t i = 0; i < KVL_ROW_MAX && left < n && row->node[i] != KVL_NODE_NONE; i++)
		if (weights[row->node[i]] != 0)
			list[left++] = (struct kvl_draw){row->node[i], i};
	return left;
}

/* Weights of the first `n` of a row. */
struct kvl_shares {
	uint32_t weight[KVL_REPLICATION_MAX];
	uint32_t sum;
};

/* False when not all of the `n` are there and in. */
static inline bool kvl_shares_of(
	const struct kvl_row *row, const uint16_t *weights, unsigned int n, struct kvl_shares *s)
{
	uint32_t out = 0;

	if (__builtin_expect(row->node[n - 1] == KVL_NODE_NONE, 0))
		return false;
	s->sum = 0;
	for (unsigned int i = 0; i < n; i++) {
		s->weight[i] = weights[row->node[i]];
		s->sum += s->weight[i];
		out |= s->weight[i] - 1; /* the top bit, of a 0 only */
	}
	return __builtin_expect(!(out >> 31), 1);
}

/*
 * 32 uniform bits to 0..bound-1 without a division (Lemire 2019), with a bias below bound / 2^32.
 */
static inline uint32_t kvl_below(uint32_t bound, uint32_t random)
{
	return ((uint64_t)random * bound) >> 32;
}

/*
 * The place among `n` > 0 that has `point`, below the sum, when their weights are laid end to end;
 * *before: where its part begins. No branch on the outcome: chance is what no predictor learns.
 */
static inline unsigned int kvl_shares_at(
	const struct kvl_shares *s, unsigned int n, uint32_t point, uint32_t *before)
{
	unsigned int place = 0;
	uint32_t upto = 0;

	*before = 0;
	for (unsigned int i = 0; i + 1 < n; i++) {
		uint32_t beyond = point >= upto + s->weight[i];

		upto += s->weight[i];
		place += beyond;
		*before += s->weight[i] & -beyond;
	}
	return place;
}

/* pick.c: where not all of the first `n` are there and in. */
struct kvl_draw kvl_draw_weighted_some(
	const struct kvl_row *row, const uint16_t *weights, unsigned int n, uint32_t random);

/* `softmax`: one of the first `n` candidates that are in, by weight. */
static inline struct kvl_draw kvl_draw_weighted(
	const struct kvl_row *row, const uint16_t *weights, unsigned int n, uint32_t random)
{
	struct kvl_shares shares;
	uint32_t before;
	uint8_t place;

	if (!kvl_shares_of(row, weights, n, &shares))
		return kvl_draw_weighted_some(row, weights, n, random);
	place = (uint8_t)kvl_shares_at(&shares, n, kvl_below(shares.sum, random), &before);
	return (struct kvl_draw){row->node[place], place};
}

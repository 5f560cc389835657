/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

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

/*
 * One of the first `n` candidates that are in, with probability weight / sum. `random` is 32
 * uniform bits; the multiply-shift maps them to 0..sum-1 without a division (Lemire 2019), with a
 * bias below sum / 2^32 < 2^-13.
 */
static inline struct kvl_draw kvl_draw_weighted(
	const struct kvl_row *row, const uint16_t *weights, unsigned int n, uint32_t random)
{
	uint8_t place[KVL_REPLICATION_MAX];
	uint32_t sum = 0, upto = 0, point;
	unsigned int left = 0, drawn = 0;

	for (uint8_t i = 0; i < KVL_ROW_MAX && left < n && row->node[i] != KVL_NODE_NONE; i++) {
		uint16_t w = weights[row->node[i]];

		if (w == 0)
			continue;
		place[left++] = i;
		sum += w;
	}
	if (left == 0)
		return (struct kvl_draw){KVL_NODE_NONE, 0};

	/* No branch on the outcome: chance is what no predictor learns. */
	point = ((uint64_t)random * sum) >> 32;
	for (unsigned int i = 0; i + 1 < left; i++) {
		upto += weights[row->node[place[i]]];
		drawn += point >= upto;
	}
	return (struct kvl_draw){row->node[place[drawn]], place[drawn]};
}

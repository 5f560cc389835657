/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "lib/score/draw.h"
#include "lib/score/pulse.h"

/*
 * Choices that look at a core's own pulse of each node besides the weights (SPEC 5.2), and `best`.
 * None branches on the outcome: chance is what no predictor learns. `random` is 64 uniform bits.
 */

/* pick.c: as those without `_some`, where not all of the first `n` are there and in. */
struct kvl_draw kvl_draw_best_some(
	const struct kvl_row *row, const uint16_t *weights, unsigned int n);
struct kvl_draw kvl_draw_p2c_some(const struct kvl_row *row, const uint16_t *weights,
	unsigned int n, uint64_t random, const struct kvl_pulse *pulses, uint32_t hot);

/* `best`: the largest weight; of equal ones the first in the row, so that a key keeps its node. */
static inline struct kvl_draw kvl_draw_best(
	const struct kvl_row *row, const uint16_t *weights, unsigned int n)
{
	struct kvl_shares shares;
	uint32_t best = 0;
	uint8_t place;

	if (!kvl_shares_of(row, weights, n, &shares))
		return kvl_draw_best_some(row, weights, n);
	for (unsigned int i = 0; i < n; i++) {
		/* The place in the lower bits, upside down: it decides between equals. */
		uint32_t key = shares.weight[i] << 3 | (7 - i);

		best = key > best ? key : best;
	}
	place = 7 - (best & 7);
	return (struct kvl_draw){row->node[place], place};
}

/*
 * Prequal's hot-cold rule (Wydrowski et al., NSDI'24) on what a core knows: a node is hot with more
 * than `hot` of this core's requests in flight. Both hot: the fewer in flight. One hot: the other.
 * Both cold: the first, as it was drawn, since the weights, which hold the latency, have decided.
 */
#define KVL_PICK_HOT 0 /* best in tests/sim: a core's part of a node's load is small */

static inline bool kvl_prefer_second(float first, float second, uint32_t hot)
{
	return (first > (float)(int32_t)hot + 1) & (second < first);
}

/* `p2c`: two different candidates drawn by weight, then the hot-cold rule. */
static inline struct kvl_draw kvl_draw_p2c(const struct kvl_row *row, const uint16_t *weights,
	unsigned int n, uint64_t random, const struct kvl_pulse *pulses, uint32_t hot)
{
	struct kvl_shares shares;
	uint32_t first, second, before, of_first, point;
	uint8_t place;

	if (n < 2 || !kvl_shares_of(row, weights, n, &shares))
		return kvl_draw_p2c_some(row, weights, n, random, pulses, hot);
	first = kvl_shares_at(&shares, n, kvl_below(shares.sum, (uint32_t)random), &before);
	of_first = weights[row->node[first]];
	/* The second from what is left when the first one's part is cut out. */
	point = kvl_below(shares.sum - of_first, random >> 32);
	point += of_first & -(uint32_t)(point >= before);
	second = kvl_shares_at(&shares, n, point, &before);
	place = first
		^ ((first ^ second)
			& -(uint32_t)kvl_prefer_second(pulses[row->node[first]].queue,
				pulses[row->node[second]].queue, hot));
	return (struct kvl_draw){row->node[place], place};
}

/*
 * `least`: of all candidates the one with the least
 *   (in flight + 1) * average latency * handicap,    handicap = KVL_WEIGHT_MOST / weight
 * that is, the shortest expected delay (as LVS's "sed" and Finagle's "peak EWMA" estimate it), with
 * what the score knows besides as its handicap. Costs that differ by less than their blur (pulse.h)
 * are chance's to order. A node that has not answered yet counts as the slowest of its row: new is
 * not fast. `explore` of 2^32 draws go to any candidate by chance, so that a node that nothing
 * speaks for is still tried, and its recovery seen (SPEC 5.1's minimum share;
 * kvl_weights_explore()). Why this is the default: docs/decision.md.
 */

/*
 * A cost with its noise and, in the lower bits, the candidate's place, as a number that orders as
 * the cost does: what an IEEE 754 single's bits do while none is negative. The upper bits of
 * each place's noise are its own of `random`.
 */
#define KVL_COST_SHIFT 3
#define KVL_COST_PLACE ((1u << KVL_COST_SHIFT) - 1)

static inline uint64_t kvl_cost_key(float cost, uint32_t blur, unsigned int place, uint64_t random)
{
	uint32_t bits;

	_Static_assert(sizeof(bits) == sizeof(cost), "a single");
	memcpy(&bits, &cost, sizeof(bits));
	bits += (uint32_t)(random >> (40 - 10 * place)) & blur;
	return ((uint64_t)bits << KVL_COST_SHIFT) + place;
}

/* Below any key of a cost that is not 0: no latency is below the floor, no handicap below 1. */
#define KVL_COST_NONE (1ull << (23 + KVL_COST_SHIFT))

/* pick.c: as kvl_draw_least(), where some of the first `n` are out, or short, or new. */
struct kvl_draw kvl_draw_least_some(const struct kvl_row *row, const float *handicaps,
	unsigned int n, uint64_t random, const struct kvl_pulse *pulses, uint32_t explore);

static inline __attribute__((always_inline)) struct kvl_draw kvl_draw_least(
	const struct kvl_row *row, const float *handicaps, unsigned int n, uint64_t random,
	const struct kvl_pulse *pulses, uint32_t explore)
{
	uint64_t least = UINT64_MAX;
	uint8_t place;

	if (__builtin_expect(row->node[n - 1] == KVL_NODE_NONE || (uint32_t)random < explore, 0))
		return kvl_draw_least_some(row, handicaps, n, random, pulses, explore);
	for (unsigned int i = 0; i < n; i++) {
		const struct kvl_pulse *p = &pulses[row->node[i]];
		float cost = p->queue * p->latency * handicaps[row->node[i]];
		uint64_t key = kvl_cost_key(cost, p->blur, i, random);

		least = key < least ? key : least;
	}
	if (__builtin_expect(least < KVL_COST_NONE, 0))
		return kvl_draw_least_some(row, handicaps, n, random, pulses, explore);
	place = least & KVL_COST_PLACE;
	return (struct kvl_draw){row->node[place], place};
}

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/score/draw.h"

/*
 * Choices that look at the requests in flight besides the weights (SPEC 5.2). A core knows exactly,
 * and at once, what it itself has outstanding at each node; that tells of a stalled node within
 * one round trip, long before any score can. Its own requests only: no counters shared between
 * cores, and no herd, since no two cores act on the same stale figure.
 */

/* Counters by node number, of one worker, `stride` bytes apart (they lie in a larger struct). */
struct kvl_in_flight {
	const uint32_t *first;
	size_t stride;
};

static inline uint32_t kvl_in_flight_of(const struct kvl_in_flight *f, uint16_t node)
{
	return *(const uint32_t *)((const char *)f->first + f->stride * node);
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

/* Index of one of `left` > 0 candidates, with probability weight / sum; see kvl_draw_weighted(). */
static inline unsigned int kvl_candidate_draw(const struct kvl_draw *list, unsigned int left,
	const uint16_t *weights, uint32_t random)
{
	uint32_t sum = 0, point;
	unsigned int i;

	for (i = 0; i < left; i++)
		sum += weights[list[i].node];
	point = ((uint64_t)random * sum) >> 32;
	for (i = 0; i + 1 < left && point >= weights[list[i].node]; i++)
		point -= weights[list[i].node];
	return i;
}

/* `best`: the largest weight; of equal ones the first in the row, so that a key keeps its node. */
static inline struct kvl_draw kvl_draw_best(
	const struct kvl_row *row, const uint16_t *weights, unsigned int n)
{
	struct kvl_draw list[KVL_REPLICATION_MAX], best = {KVL_NODE_NONE, 0};
	unsigned int left = kvl_candidates(row, weights, n, list);

	for (unsigned int i = 0; i < left; i++)
		if (best.node == KVL_NODE_NONE || weights[list[i].node] > weights[best.node])
			best = list[i];
	return best;
}

/*
 * Prequal's hot-cold rule (Wydrowski et al., NSDI'24) on what a core knows: a node is hot with more
 * than `hot` of this core's requests in flight. Both hot: the fewer in flight. One hot: the other.
 * Both cold: the first, as it was drawn, since the weights, which hold the latency, have decided.
 */
static inline bool kvl_prefer_second(uint32_t first, uint32_t second, uint32_t hot)
{
	return first > hot && second < first;
}

/* `p2c`: two different candidates drawn by weight, then the hot-cold rule. `random`: 64 uniform
 * bits. */
static inline struct kvl_draw kvl_draw_p2c(const struct kvl_row *row, const uint16_t *weights,
	unsigned int n, uint64_t random, const struct kvl_in_flight *in_flight, uint32_t hot)
{
	struct kvl_draw list[KVL_REPLICATION_MAX], first, second;
	unsigned int left = kvl_candidates(row, weights, n, list), at;

	if (left == 0)
		return (struct kvl_draw){KVL_NODE_NONE, 0};
	at = kvl_candidate_draw(list, left, weights, (uint32_t)random);
	first = list[at];
	if (left == 1)
		return first;
	list[at] = list[left - 1];
	second = list[kvl_candidate_draw(list, left - 1, weights, random >> 32)];
	return kvl_prefer_second(kvl_in_flight_of(in_flight, first.node),
		       kvl_in_flight_of(in_flight, second.node), hot)
		       ? second
		       : first;
}

/*
 * `least`: of all candidates the one with the least (in flight + 1) / weight, the shortest expected
 * delay when weights are speeds (Winston 1977; the weighted least-request of Envoy and of LVS's
 * "sed"). Ties go to the one drawn by weight. `explore` of 2^32 draws are by chance alone, so that
 * a node that nothing speaks for is still tried and its recovery seen (SPEC 5.1's minimum share).
 */
static inline struct kvl_draw kvl_draw_least(const struct kvl_row *row, const uint16_t *weights,
	unsigned int n, uint64_t random, const struct kvl_in_flight *in_flight, uint32_t explore)
{
	struct kvl_draw list[KVL_REPLICATION_MAX], best;
	unsigned int left = kvl_candidates(row, weights, n, list);
	uint64_t load;

	if (left == 0)
		return (struct kvl_draw){KVL_NODE_NONE, 0};
	if ((uint32_t)(random >> 32) < explore)
		return list[((random & UINT32_MAX) * left) >> 32];
	best = list[kvl_candidate_draw(list, left, weights, (uint32_t)random)];
	load = (uint64_t)kvl_in_flight_of(in_flight, best.node) + 1;
	for (unsigned int i = 0; i < left; i++) {
		uint64_t other = (uint64_t)kvl_in_flight_of(in_flight, list[i].node) + 1;

		/* other / its weight < load / best's weight, without a division */
		if (other * weights[best.node] < load * weights[list[i].node]) {
			best = list[i];
			load = other;
		}
	}
	return best;
}

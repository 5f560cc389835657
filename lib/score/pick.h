/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/score/draw.h"

/*
 * Choices that look at what a core itself has outstanding at each node, and how long its last
 * answers took, besides the weights (SPEC 5.2). That is exact and at once, and tells of a stalled
 * node within a round trip, long before any score can. Its own requests only: no counters shared
 * between cores, and no herd, since no two cores act on the same stale figure.
 */

/* One worker's counters by node number, `stride` bytes apart (they lie in a larger struct). */
struct kvl_pulse {
	const uint32_t *in_flight; /* at most 2^20 */
	const uint32_t *latency;   /* kvl_latency_add() keeps it; 0 = no answer yet */
	size_t stride;
};

static inline uint32_t kvl_in_flight(const struct kvl_pulse *p, uint16_t node)
{
	return *(const uint32_t *)((const char *)p->in_flight + p->stride * node);
}

static inline uint32_t kvl_latency(const struct kvl_pulse *p, uint16_t node)
{
	return *(const uint32_t *)((const char *)p->latency + p->stride * node);
}

#define KVL_LATENCY_SHIFT 4          /* the newest answer weighs 1/16 */
#define KVL_LATENCY_MOST  (1u << 22) /* microseconds */

/*
 * Averages below count as this: differences of a few microseconds are the hosts' noise, and with
 * nothing in flight, as at low load, the luckiest node would get all reads of its rows (measured on
 * six idle nodes of 44 to 52 us: two of them had 75%).
 */
#define KVL_LATENCY_FLOOR 250u /* microseconds */

/*
 * Costs that differ by less than 1/16 count as equal, for the same reason; by less than 1/2 between
 * nodes with nothing in flight, where there is no queue to avoid and a score of 95 against 100 would
 * send all of a row's reads to one node (measured on six equal nodes at 1500 reads a second: one had
 * 1% of them, another 42%).
 */
#define KVL_ALIKE_SHIFT 4
#define KVL_IDLE_SHIFT  1

/*
 * Moving average of answers' latencies, in microseconds << KVL_LATENCY_SHIFT. Add replies and, as
 * the time waited, timeouts; not rejections, which say nothing of how fast a node works (SPEC 4.3).
 */
static inline void kvl_latency_add(uint32_t *latency, uint32_t us)
{
	if (us > KVL_LATENCY_MOST)
		us = KVL_LATENCY_MOST;
	if (*latency == 0)
		*latency = (us << KVL_LATENCY_SHIFT) | 1;
	else
		*latency += us - (*latency >> KVL_LATENCY_SHIFT);
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

/* Weights of the candidates; those behind `left` are 0. */
struct kvl_shares {
	uint32_t weight[KVL_REPLICATION_MAX];
	uint32_t sum;
};

static inline struct kvl_shares kvl_shares_of(
	const struct kvl_draw *list, unsigned int left, const uint16_t *weights)
{
	struct kvl_shares s = {0};

	for (unsigned int i = 0; i < left; i++) {
		s.weight[i] = weights[list[i].node];
		s.sum += s.weight[i];
	}
	return s;
}

/* Index of one of `left` > 0 candidates, with probability weight / sum; see kvl_draw_weighted(). */
static inline unsigned int kvl_shares_draw(
	const struct kvl_shares *s, unsigned int left, uint32_t random)
{
	uint32_t point = ((uint64_t)random * s->sum) >> 32, upto = 0;
	unsigned int drawn = 0;

	/* No branch on the outcome: chance is what no predictor learns. Here and below. */
	for (unsigned int i = 0; i + 1 < left; i++) {
		upto += s->weight[i];
		drawn += point >= upto;
	}
	return drawn;
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
#define KVL_PICK_HOT 0 /* best in tests/sim: a core's part of a node's load is small */

static inline bool kvl_prefer_second(uint32_t first, uint32_t second, uint32_t hot)
{
	return (first > hot) & (second < first);
}

/* `p2c`: two different candidates drawn by weight, then the hot-cold rule. `random`: 64 uniform
 * bits. */
static inline struct kvl_draw kvl_draw_p2c(const struct kvl_row *row, const uint16_t *weights,
	unsigned int n, uint64_t random, const struct kvl_pulse *pulse, uint32_t hot)
{
	struct kvl_draw list[KVL_REPLICATION_MAX];
	unsigned int left = kvl_candidates(row, weights, n, list), first, second, chosen;
	struct kvl_shares shares;

	if (left == 0)
		return (struct kvl_draw){KVL_NODE_NONE, 0};
	if (left == 1)
		return list[0];
	shares = kvl_shares_of(list, left, weights);
	first = kvl_shares_draw(&shares, left, (uint32_t)random);
	/* The last takes the first one's place, so that the second is another. */
	shares.sum -= shares.weight[first];
	shares.weight[first] = shares.weight[left - 1];
	second = kvl_shares_draw(&shares, left - 1, random >> 32);
	second = second == first ? left - 1 : second;
	chosen = kvl_prefer_second(kvl_in_flight(pulse, list[first].node),
		kvl_in_flight(pulse, list[second].node), hot);
	return list[first ^ ((first ^ second) & -chosen)];
}

/*
 * Average latencies of the candidates, as the cost takes them: not below the floor, and of a node
 * that has not answered yet the slowest of them all.
 */
static inline void kvl_latencies_of(const struct kvl_draw *list, unsigned int left,
	const struct kvl_pulse *pulse, uint32_t latency[KVL_REPLICATION_MAX])
{
	const uint32_t floor = KVL_LATENCY_FLOOR << KVL_LATENCY_SHIFT;
	uint32_t slowest = floor;

	for (unsigned int i = 0; i < left; i++) {
		latency[i] = kvl_latency(pulse, list[i].node);
		slowest = latency[i] > slowest ? latency[i] : slowest;
	}
	for (unsigned int i = 0; i < left; i++) {
		uint32_t known = latency[i] > floor ? latency[i] : floor;

		latency[i] = latency[i] == 0 ? slowest : known;
	}
}

/*
 * `least`: of all candidates the one with the least
 *   (in flight + 1) * average latency / weight
 * that is, the shortest expected delay (as LVS's "sed" and Finagle's "peak EWMA" estimate it), with
 * what the score knows besides as its handicap. Of those alike the first from a place on that chance
 * gives. A node that has not answered yet counts as the slowest of its row: new is not fast.
 * `explore` of 2^32 draws go to any candidate by chance, so that a node that nothing speaks for is
 * still tried, and its recovery seen (SPEC 5.1's minimum share; kvl_weights_explore()). Why this is
 * the default: docs/decision.md.
 */
static inline struct kvl_draw kvl_draw_least(const struct kvl_row *row, const uint16_t *weights,
	unsigned int n, uint64_t random, const struct kvl_pulse *pulse, uint32_t explore)
{
	struct kvl_draw list[KVL_REPLICATION_MAX];
	unsigned int left = kvl_candidates(row, weights, n, list), start, best;
	uint32_t latency[KVL_REPLICATION_MAX];
	uint32_t busy;
	uint64_t least, share;

	if (left == 0)
		return (struct kvl_draw){KVL_NODE_NONE, 0};
	start = best = ((random & UINT32_MAX) * left) >> 32;
	if (__builtin_expect((uint32_t)(random >> 32) < explore, 0))
		return list[start];
	kvl_latencies_of(list, left, pulse, latency);
	/* at most 2^20 * 2^26; times a weight still below 2^64 */
	busy = kvl_in_flight(pulse, list[best].node);
	least = ((uint64_t)busy + 1) * latency[best];
	share = weights[list[best].node];
	for (unsigned int k = 1; k < left; k++) {
		unsigned int i = start + k >= left ? start + k - left : start + k;
		uint32_t in_flight = kvl_in_flight(pulse, list[i].node);
		uint64_t cost = ((uint64_t)in_flight + 1) * latency[i];
		uint64_t weight = weights[list[i].node];
		uint64_t mine = cost * share;
		unsigned int shift = (busy | in_flight) == 0 ? KVL_IDLE_SHIFT : KVL_ALIKE_SHIFT;
		/* cost / weight < least / share, without a division, and by more than is alike */
		uint64_t less = -(uint64_t)(mine + (mine >> shift) < least * weight);

		least ^= (least ^ cost) & less;
		share ^= (share ^ weight) & less;
		busy ^= (busy ^ in_flight) & (uint32_t)less;
		best ^= (best ^ i) & (unsigned int)less;
	}
	return list[best];
}

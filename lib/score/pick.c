/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/score/pick.h"

/*
 * Draws where a node is out, or a row is short: among those that are left, as if they were all of
 * the row.
 */
struct few {
	struct kvl_row row;
	struct kvl_draw list[KVL_REPLICATION_MAX]; /* what stands where in the whole row */
	unsigned int left;
};

static void few_find(
	struct few *few, const struct kvl_row *row, const uint16_t *weights, unsigned int n)
{
	few->left = kvl_candidates(row, weights, n, few->list);
	for (unsigned int i = 0; i < few->left; i++)
		few->row.node[i] = few->list[i].node;
}

static const struct kvl_draw none = {KVL_NODE_NONE, 0};

struct kvl_draw kvl_draw_weighted_some(
	const struct kvl_row *row, const uint16_t *weights, unsigned int n, uint32_t random)
{
	struct few few;

	few_find(&few, row, weights, n);
	if (few.left == 0)
		return none;
	return few.list[kvl_draw_weighted(&few.row, weights, few.left, random).place];
}

struct kvl_draw kvl_draw_best_some(
	const struct kvl_row *row, const uint16_t *weights, unsigned int n)
{
	struct few few;

	few_find(&few, row, weights, n);
	if (few.left == 0)
		return none;
	return few.list[kvl_draw_best(&few.row, weights, few.left).place];
}

struct kvl_draw kvl_draw_p2c_some(const struct kvl_row *row, const uint16_t *weights,
	unsigned int n, uint64_t random, const struct kvl_pulse *pulses, uint32_t hot)
{
	struct few few;

	few_find(&few, row, weights, n);
	if (few.left < 2)
		return few.left == 0 ? none : few.list[0];
	return few.list[kvl_draw_p2c(&few.row, weights, few.left, random, pulses, hot).place];
}

/* The first `n` of the row that are in: a handicap of 0 is the hard filter's verdict. */
static unsigned int candidates_in(const struct kvl_row *row, const float *handicaps, unsigned int n,
	struct kvl_draw list[KVL_REPLICATION_MAX])
{
	unsigned int left = 0;

	for (uint8_t i = 0; i < KVL_ROW_MAX && left < n && row->node[i] != KVL_NODE_NONE; i++)
		if (handicaps[row->node[i]] != 0)
			list[left++] = (struct kvl_draw){row->node[i], i};
	return left;
}

/* What a node that has not answered yet is taken for. */
static float slowest_of(
	const struct kvl_draw *list, unsigned int left, const struct kvl_pulse *pulses)
{
	float slowest = KVL_LATENCY_FLOOR;

	for (unsigned int i = 0; i < left; i++) {
		float latency = pulses[list[i].node].latency;

		slowest = latency > slowest ? latency : slowest;
	}
	return slowest;
}

struct kvl_draw kvl_draw_least_some(const struct kvl_row *row, const float *handicaps,
	unsigned int n, uint64_t random, const struct kvl_pulse *pulses, uint32_t explore)
{
	struct kvl_draw list[KVL_REPLICATION_MAX];
	unsigned int left = candidates_in(row, handicaps, n, list);
	uint64_t least = UINT64_MAX;
	float slowest;

	if (left == 0)
		return none;
	if ((uint32_t)random < explore)
		return list[((random >> 32) * left) >> 32];
	slowest = slowest_of(list, left, pulses);
	for (unsigned int i = 0; i < left; i++) {
		const struct kvl_pulse *p = &pulses[list[i].node];
		float latency = p->latency != 0 ? p->latency : slowest;
		float cost = p->queue * latency * handicaps[list[i].node];
		uint64_t key = kvl_cost_key(cost, p->blur, i, random);

		least = key < least ? key : least;
	}
	return list[least & KVL_COST_PLACE];
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "lib/ring/lookup.h"
#include "lib/score/draw.h"
#include "tests/bench/figures.h"
#include "tests/bench/parts.h"
#include "tests/bench/world.h"

/*
 * Parts by themselves, in a tight loop over 4096 of their things: a lower bound of what they cost
 * among the other stages, where they meet a colder cache.
 */
#define COUNT  4096
#define ROUNDS 300

static uint64_t hashes[COUNT];
static uint32_t slots[COUNT];
static volatile unsigned int sink; /* keeps results, and so the work, alive */

static uint64_t random_next(void)
{
	static uint64_t x = 88172645463325252ull;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x * 0x2545f4914f6cdd1dull;
}

static uint64_t find_round(void)
{
	const struct kvl_placement *p = kvl_root_services(bench_root)[0].placement;
	uint64_t start = rte_rdtsc_precise();
	unsigned int sum = 0;

	for (unsigned int i = 0; i < COUNT; i++)
		sum += kvl_placement_find(p, hashes[i]);
	sink = sum;
	return rte_rdtsc_precise() - start;
}

static uint64_t draw_round(unsigned int replication)
{
	const struct kvl_placement *p = kvl_root_services(bench_root)[0].placement;
	const uint16_t *weights = kvl_root_weights(bench_root, 0);
	uint64_t start = rte_rdtsc_precise();
	unsigned int sum = 0;

	for (unsigned int i = 0; i < COUNT; i++) {
		const struct kvl_row *row = kvl_placement_row(p, slots[i]);

		sum += replication == 1
			       ? kvl_draw_first(row, weights).node
			       : kvl_draw_weighted(row, weights, replication, hashes[i]).node;
	}
	sink = sum;
	return rte_rdtsc_precise() - start;
}

static uint64_t draw_first_round(void)
{
	return draw_round(1);
}

static uint64_t draw_weighted_round(void)
{
	return draw_round(3);
}

/* Taken, armed, answered, a burst at a time: the common life of a slot. */
static uint64_t pending_round(void)
{
	struct kvl_pending *p = &bench_worker->pending;
	uint64_t start = rte_rdtsc_precise();

	for (unsigned int i = 0; i < COUNT; i += KVL_BURST) {
		for (unsigned int k = i; k < i + KVL_BURST; k++) {
			slots[k] = kvl_pending_take(p);
			kvl_wheel_arm(&p->wheel, slots[k], p->wheel.now + BENCH_TIMEOUT);
		}
		for (unsigned int k = i; k < i + KVL_BURST; k++)
			kvl_pending_answered(p, slots[k]);
	}
	return rte_rdtsc_precise() - start;
}

/* Armed for one of the next hundred ticks, and run out there. */
static uint64_t wheel_round(void)
{
	struct kvl_pending *p = &bench_worker->pending;
	uint64_t start = rte_rdtsc_precise();
	unsigned int left = COUNT;

	for (unsigned int i = 0; i < COUNT; i++)
		kvl_wheel_arm(&p->wheel, i, p->wheel.now + 1 + (hashes[i] & 63));
	while (left != 0)
		left -= kvl_wheel_advance(&p->wheel, p->wheel.now + 1, slots, COUNT);
	return rte_rdtsc_precise() - start;
}

struct part {
	const char *name;
	uint64_t (*round)(void);
};

static void part_run(const struct part *part, FILE *json, const char *only)
{
	static uint64_t spent[ROUNDS];

	if (strstr(part->name, only) == NULL)
		return;
	for (unsigned int r = 0; r < ROUNDS; r++)
		spent[r] = part->round();
	figures_report(json, part->name, figures_of(spent, ROUNDS, COUNT));
}

void parts_run(FILE *json, const char *only)
{
	static const struct part parts[] = {
		{"part: find token, 10x160", find_round},
		{"part: draw first, N=1", draw_first_round},
		{"part: draw by weight, N=3", draw_weighted_round},
		{"part: slot taken, armed, answered", pending_round},
		{"part: timer armed, expired", wheel_round},
	};
	const struct kvl_placement *p;

	bench_topology(10, 160, 3);
	p = kvl_root_services(bench_root)[0].placement;
	for (unsigned int i = 0; i < COUNT; i++) {
		hashes[i] = random_next();
		slots[i] = kvl_placement_find(p, hashes[i]);
	}
	for (size_t i = 0; i < RTE_DIM(parts); i++)
		part_run(&parts[i], json, only);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/sim/sim.h"

static void play_nothing(struct sim *sim, uint64_t now)
{
}

static void play_slow(struct sim *sim, uint64_t now)
{
	sim->nodes[0].speed = sim->nominal[0] / 5;
}

/* Every 5 s another node compacts for 2 s and works at a quarter of its speed. */
static void play_compaction(struct sim *sim, uint64_t now)
{
	const uint64_t period = 5 * SIM_SECOND, length = 2 * SIM_SECOND;

	for (unsigned int i = 0; i < SIM_NODES; i++) {
		struct sim_node *n = &sim->nodes[i];

		n->compacting = (now / period) * 5 % SIM_NODES == i && now % period < length;
		n->speed = n->compacting ? sim->nominal[i] / 4 : sim->nominal[i];
	}
}

/* Answers half of its requests at once: with a rejection. */
static void play_rejecting(struct sim *sim, uint64_t now)
{
	sim->nodes[0].reject = 0.5;
}

static void set_alive(struct sim_node *n, bool alive)
{
	if (n->alive && !alive)
		n->epoch++;
	n->alive = alive;
}

/* Dies after 12 s and is back after 26 s. */
static void play_death(struct sim *sim, uint64_t now)
{
	set_alive(&sim->nodes[0], now < 12 * SIM_SECOND || now >= 26 * SIM_SECOND);
}

/* 3 s here, 1.5 s gone. */
static void play_flapping(struct sim *sim, uint64_t now)
{
	set_alive(&sim->nodes[0], now % (4500 * SIM_MS) < 3 * SIM_SECOND);
}

const struct sim_scenario sim_scenarios[] = {
	{.name = "uniform", .title = "all nodes alike", .play = play_nothing},
	{.name = "slow", .title = "one node 5x slower", .play = play_slow},
	{.name = "compaction",
		.title = "a node at a time compacts: 4x slower for 2 s of 5",
		.play = play_compaction},
	{.name = "rejecting", .title = "one node rejects half, at once", .play = play_rejecting},
	{.name = "death", .title = "one node dies for 14 s and returns", .play = play_death},
	{.name = "flapping",
		.title = "one node is there for 3 s, gone for 1.5 s",
		.play = play_flapping},
	{.name = "classes",
		.title = "nodes of speed 1, 0.7 and 0.4",
		.play = play_nothing,
		.classes = {1, 0.7, 0.4}},
	{.name = "hotkey",
		.title = "one more key has 20% of the traffic",
		.play = play_nothing,
		.hot_share = 0.2},
	{.name = "late",
		.title = "compaction, reports 2 s late, 20% lost",
		.play = play_compaction,
		.report_delay = 2 * SIM_SECOND,
		.report_loss = 0.2},
};

const size_t sim_scenario_count = sizeof(sim_scenarios) / sizeof(*sim_scenarios);

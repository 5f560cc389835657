/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/ring/fleet_test.h"
#include "lib/ring/hash.h"
#include "lib/ring/lookup.h"

/* How keys spread, and how many of them move (SPEC 2.3, 2.8). */
#define KEYS 50000

static struct fleet fleet;

static struct kvl_placement *build(enum kvl_placement_kind kind, size_t nodes, uint64_t seed)
{
	const struct kvl_placement_params params = {
		.kind = kind, .replication = 1, .vnodes = 160, .seed = seed};
	struct kvl_placement *p = kvl_placement_build(&params, fleet.members, nodes);

	assert_non_null(p);
	return p;
}

static const struct kvl_row *row_of(const struct kvl_placement *p, int key, uint64_t seed)
{
	char text[17];

	snprintf(text, sizeof(text), "user:%011d", key);
	return kvl_placement_row(
		p, kvl_placement_find(p, kvl_placement_key_hash(p, text, 16, seed)));
}

struct movement {
	double moved;   /* share of the keys */
	double between; /* moved between two nodes that both stay */
};

static struct movement measure(
	enum kvl_placement_kind kind, size_t before, size_t after, uint64_t seed)
{
	struct kvl_placement *a = build(kind, before, seed), *b = build(kind, after, seed);
	const size_t stay = before < after ? before : after;
	struct movement m = {0};

	for (int key = 0; key < KEYS; key++) {
		uint16_t from = row_of(a, key, seed)->node[0], to = row_of(b, key, seed)->node[0];

		m.moved += from != to ? 1.0 / KEYS : 0;
		m.between += from != to && from < stay && to < stay ? 1.0 / KEYS : 0;
	}
	free(a);
	free(b);
	return m;
}

static void movement_expect(
	enum kvl_placement_kind kind, size_t before, size_t after, double want, double within)
{
	double sum = 0;

	for (uint64_t seed = 0; seed < 8; seed++) {
		struct movement m = measure(kind, before, after, seed);

		sum += m.moved / 8;
		/* Maglev trades a little of it for even shares. */
		if (kind == KVL_PLACE_MAGLEV)
			assert_true(m.between < 0.05);
		else if (kind != KVL_PLACE_MODULO)
			assert_true(m.between == 0);
	}
	print_message("%s %zu -> %zu nodes: %.1f%% of keys move\n", kvl_placement_name(kind),
		before, after, sum * 100);
	assert_true(sum > want - within && sum < want + within);
}

static void test_movement(void **state)
{
	movement_expect(KVL_PLACE_MODULO, 4, 5, 0.80, 0.01);
	movement_expect(KVL_PLACE_RING, 4, 5, 0.20, 0.02);
	movement_expect(KVL_PLACE_RING, 3, 2, 1.0 / 3, 0.03);
	movement_expect(KVL_PLACE_RING, 100, 101, 1.0 / 101, 0.002);
	movement_expect(KVL_PLACE_RENDEZVOUS, 4, 5, 0.20, 0.01);
	movement_expect(KVL_PLACE_RENDEZVOUS, 3, 2, 1.0 / 3, 0.01);
	movement_expect(KVL_PLACE_MAGLEV, 4, 5, 0.22, 0.03);
	movement_expect(KVL_PLACE_JUMP, 4, 5, 0.20, 0.01); /* the new one sorts last */
	movement_expect(KVL_PLACE_KETAMA, 4, 5, 0.20, 0.05);
	movement_expect(KVL_PLACE_KETAMA_UNWEIGHTED, 4, 5, 0.20, 0.05);
}

/* Where a node's keys go when it leaves is known beforehand: to the next candidate of their row. */
static void test_next_candidate(void **state)
{
	struct kvl_placement *a = build(KVL_PLACE_RING, 10, 0), *b = build(KVL_PLACE_RING, 9, 0);
	int of_leaver = 0;

	for (int key = 0; key < KEYS; key++) {
		const struct kvl_row *before = row_of(a, key, 0);
		bool leaver = before->node[0] == 9;

		of_leaver += leaver;
		assert_int_equal(row_of(b, key, 0)->node[0], before->node[leaver ? 1 : 0]);
	}
	assert_in_range(of_leaver, KEYS / 20, KEYS / 5);
	free(a);
	free(b);
}

/* Newton's; sparing the tests libm. */
static double root(double square)
{
	double r = 1;

	for (int i = 0; i < 50; i++)
		r = (r + square / r) / 2;
	return r;
}

/*
 * A node's share deviates by about 1/sqrt(160) = 7.9% of itself at 160 tokens: that is the spread
 * of a single node in a single ring, so "within 10%" is true of the deviation's size (root mean
 * square), not of each node. Over 10 nodes and 100 seeds: about four of five are within 10%.
 */
static void test_share_equal(void **state)
{
	double squares = 0, worst = 0;
	int within = 0;

	for (uint64_t seed = 0; seed < 100; seed++) {
		struct kvl_placement *p = build(KVL_PLACE_RING, 10, seed);
		double sum = 0;

		for (uint16_t n = 0; n < 10; n++) {
			double share = kvl_placement_share(p, n), off = share * 10 - 1;

			sum += share;
			squares += off * off / 1000;
			off = off < 0 ? -off : off;
			worst = off > worst ? off : worst;
			within += off <= 0.10;
		}
		assert_true(sum > 1 - 1e-9 && sum < 1 + 1e-9);
		free(p);
	}
	print_message("10 nodes, 160 tokens, 100 seeds: share off by %.1f%% rms, %.1f%% at worst; "
		      "%d of 1000 within 10%%\n",
		root(squares) * 100, worst * 100, within);
	assert_true(squares < 0.10 * 0.10);
	assert_true(within > 750);
	assert_true(worst < 0.35);
}

/* Over 100 seeds the mean share is the weight's, within 10% (measured: within 3%). */
static void test_share_weighted(void **state)
{
	static const uint32_t weights[] = {50, 100, 150, 200};
	static const double total = 500;
	double mean[4] = {0};

	for (int i = 0; i < 4; i++)
		fleet.members[i].weight = weights[i];
	for (uint64_t seed = 0; seed < 100; seed++) {
		struct kvl_placement *p = build(KVL_PLACE_RING, 4, seed);

		for (uint16_t n = 0; n < 4; n++)
			mean[n] += kvl_placement_share(p, n) / 100;
		free(p);
	}
	for (int i = 0; i < 4; i++) {
		double off = mean[i] / (weights[i] / total) - 1;

		print_message("weight %u: mean share off by %.1f%%\n", weights[i], off * 100);
		assert_true(off > -0.03 && off < 0.03);
		fleet.members[i].weight = 100;
	}
}

/* The share is what keys see: ownership against counted keys. */
static void test_share_is_observed(void **state)
{
	struct kvl_placement *p = build(KVL_PLACE_RING, 10, 7);
	int count[10] = {0};

	for (int key = 0; key < KEYS; key++)
		count[row_of(p, key, 7)->node[0]]++;
	for (uint16_t n = 0; n < 10; n++) {
		double off = count[n] / (kvl_placement_share(p, n) * KEYS) - 1;

		/* 5000 keys a node: 1.4% deviation; five of them. */
		assert_true(off > -0.07 && off < 0.07);
	}
	free(p);
}

static int fleet_setup(void **state)
{
	for (int i = 0; i < 101; i++)
		fleet_add(&fleet, -1, 0, 100);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_movement),
		cmocka_unit_test(test_next_candidate),
		cmocka_unit_test(test_share_equal),
		cmocka_unit_test(test_share_weighted),
		cmocka_unit_test(test_share_is_observed),
	};

	return cmocka_run_group_tests(tests, fleet_setup, NULL);
}

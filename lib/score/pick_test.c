/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "lib/score/pick.h"

#define NONE  KVL_NODE_NONE
#define DRAWS 200000

static const struct kvl_row row = {{4, 2, 0, 3, 1, NONE, NONE, NONE}};
static const struct kvl_row empty = {{NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE}};

struct counters { /* as a worker's: the two lie among others */
	uint64_t before;
	uint32_t in_flight, latency;
	uint64_t after;
};

static struct counters counters[5];
static uint16_t weights[5];
static const struct kvl_pulse pulse = {
	&counters[0].in_flight, &counters[0].latency, sizeof(counters[0])};
static uint64_t seed;
static uint32_t seen[5];

static int start(void **state)
{
	for (int i = 0; i < 5; i++) {
		counters[i] =
			(struct counters){UINT64_MAX, 0, 1000 << KVL_LATENCY_SHIFT, UINT64_MAX};
		weights[i] = 1000;
		seen[i] = 0;
	}
	seed = 1;
	return 0;
}

static uint64_t random_next(void)
{
	uint64_t z = (seed += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static void count_p2c(uint32_t hot)
{
	for (int i = 0; i < DRAWS; i++)
		seen[kvl_draw_p2c(&row, weights, 3, random_next(), &pulse, hot).node]++;
}

static void count_least(uint32_t explore)
{
	for (int i = 0; i < DRAWS; i++)
		seen[kvl_draw_least(&row, weights, 3, random_next(), &pulse, explore).node]++;
}

static void assert_share(uint16_t node, double share)
{
	double got = (double)seen[node] / DRAWS;

	if (fabs(got - share) > 0.005)
		fail_msg("node %u: share %f, not %f", node, got, share);
}

static void test_best(void **state)
{
	weights[2] = 1001;
	assert_int_equal(kvl_draw_best(&row, weights, 3).node, 2);
	assert_int_equal(kvl_draw_best(&row, weights, 3).place, 1);
	weights[2] = 1000;
	assert_int_equal(kvl_draw_best(&row, weights, 3).node, 4); /* the first of equals */
	weights[1] = 5000;                                         /* not among the first three */
	assert_int_equal(kvl_draw_best(&row, weights, 3).node, 4);
	weights[4] = weights[2] = 0;
	assert_int_equal(kvl_draw_best(&row, weights, 3).node, 1);
	assert_int_equal(kvl_draw_best(&empty, weights, 3).node, NONE);
}

/* Nothing in flight: the first draw stands, so the shares are the weights'. */
static void test_p2c_cold_follows_weights(void **state)
{
	weights[4] = 3000;
	weights[2] = 2000;
	count_p2c(1);
	assert_share(4, 3.0 / 6);
	assert_share(2, 2.0 / 6);
	assert_share(0, 1.0 / 6);
}

static void test_p2c_hot_yields(void **state)
{
	counters[4].in_flight = 5;
	count_p2c(1);
	assert_share(4, 0); /* whoever is drawn with it is cold */
	start(NULL);
	counters[4].in_flight = 5;
	counters[2].in_flight = 4;
	counters[0].in_flight = 3;
	count_p2c(1); /* all hot: fewer in flight */
	assert_share(4, 0);
	assert_share(2, 1.0 / 3);
	assert_share(0, 2.0 / 3);
	start(NULL);
	counters[4].in_flight = 5;
	count_p2c(5); /* hot is above, not at */
	assert_share(4, 1.0 / 3);
}

static void test_p2c_few(void **state)
{
	weights[4] = weights[2] = weights[0] = weights[3] = 0;
	count_p2c(1);
	assert_share(1, 1);
	assert_int_equal(kvl_draw_p2c(&row, weights, 3, 0, &pulse, 1).place, 4);
	weights[1] = 0;
	assert_int_equal(kvl_draw_p2c(&row, weights, 3, 0, &pulse, 1).node, NONE);
	assert_int_equal(kvl_draw_p2c(&empty, weights, 3, 0, &pulse, 1).node, NONE);
}

static void test_least_of_all(void **state)
{
	counters[4].in_flight = 2;
	counters[2].in_flight = 1;
	counters[0].in_flight = 2;
	count_least(0);
	assert_share(2, 1);
}

/* Equal costs: by weight, and all weights are equal. */
static void test_least_ties(void **state)
{
	count_least(0);
	for (int i = 0; i < 5; i++)
		assert_share(i, i == 4 || i == 2 || i == 0 ? 1.0 / 3 : 0);
}

/* Nearly equal ones too: scores of 100 and 99 are no reason to leave one without reads. */
static void test_least_alike(void **state)
{
	static const struct {
		uint32_t in_flight;
		uint16_t alike, less; /* against twice 1000 */
	} cases[] = {{1, 950, 930}, {0, 680, 650}};

	for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
		start(NULL);
		for (int i = 0; i < 5; i++)
			counters[i].in_flight = cases[c].in_flight;
		weights[0] = weights[4] = 1000;
		weights[2] = cases[c].alike;
		count_least(0);
		for (int i = 0; i < 5; i++)
			assert_share(i, i == 4 || i == 2 || i == 0 ? 1.0 / 3 : 0);
		memset(seen, 0, sizeof(seen));
		weights[2] = cases[c].less;
		count_least(0);
		assert_share(2, 0);
	}
}

/* (in flight + 1) * latency / weight: each factor, and where it is a sixteenth from being alike. */
static void test_least_costs(void **state)
{
	static const struct {
		uint32_t in_flight, latency_us;
		uint16_t weight;
		bool taken; /* against another with 1 in flight, 1000 us, weight 1000 */
	} cases[] = {
		{0, 1882, 1000, true},
		{0, 2126, 1000, false},
		{2, 709, 1000, false},
		{2, 627, 1000, true},
		{1, 1000, 1063, true},
		{1, 1000, 941, false},
		{9, 1000, 5313, true},
		{9, 1000, 4705, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		start(NULL);
		weights[4] = 0;
		counters[0].in_flight = 1;
		counters[2].in_flight = cases[i].in_flight;
		counters[2].latency = cases[i].latency_us << KVL_LATENCY_SHIFT;
		weights[2] = cases[i].weight;
		for (int d = 0; d < 100; d++)
			assert_int_equal(
				kvl_draw_least(&row, weights, 2, random_next(), &pulse, 0).node,
				cases[i].taken ? 2 : 0);
	}
}

/* No answer yet: as slow as the slowest, so that no flood meets it before its first answer. */
static void test_least_newcomer(void **state)
{
	counters[4].latency = 0;
	counters[2].latency = 2000 << KVL_LATENCY_SHIFT;
	counters[2].in_flight = counters[4].in_flight = 1;
	counters[0].in_flight = 2;
	count_least(0);
	assert_share(0, 1); /* 3000, against 4000 twice */
	for (int i = 0; i < 5; i++)
		counters[i].latency = 0;
	assert_int_equal(kvl_draw_least(&row, weights, 3, 7, &pulse, 0).node == NONE, 0);
}

static void test_least_explores(void **state)
{
	counters[4].in_flight = 1 << 20;
	weights[4] = 1;
	count_least(UINT32_MAX / 10);
	assert_share(4, 0.1 / 3);
}

/* At every counter's bound the products still fit. */
static void test_least_extremes(void **state)
{
	for (int i = 0; i < 5; i++) {
		counters[i].in_flight = (1 << 20) - 1;
		counters[i].latency = KVL_LATENCY_MOST << KVL_LATENCY_SHIFT;
		weights[i] = UINT16_MAX;
	}
	counters[2].in_flight -= counters[2].in_flight / 8;
	count_least(0);
	assert_share(2, 1);
	assert_int_equal(kvl_draw_least(&empty, weights, 3, 0, &pulse, 0).node, NONE);
}

static void test_latency_average(void **state)
{
	uint32_t latency = 0;

	kvl_latency_add(&latency, 0);
	assert_true(latency != 0); /* 0 is "no answer yet" */
	latency = 0;
	kvl_latency_add(&latency, 1000);
	assert_int_equal(latency >> KVL_LATENCY_SHIFT, 1000);
	kvl_latency_add(&latency, 2600);
	assert_int_equal(latency >> KVL_LATENCY_SHIFT, 1100);
	for (int i = 0; i < 1000; i++)
		kvl_latency_add(&latency, UINT32_MAX);
	assert_true(latency <= KVL_LATENCY_MOST << KVL_LATENCY_SHIFT);
	assert_true(latency >> KVL_LATENCY_SHIFT > KVL_LATENCY_MOST - 100);
	for (int i = 0; i < 1000; i++)
		kvl_latency_add(&latency, 50);
	assert_in_range(latency >> KVL_LATENCY_SHIFT, 45, 55);
	for (int i = 0; i < 100000; i++)
		kvl_latency_add(&latency, 0);
	assert_true(latency != 0);
}

#define TEST(f) cmocka_unit_test_setup(f, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_best),
		TEST(test_p2c_cold_follows_weights),
		TEST(test_p2c_hot_yields),
		TEST(test_p2c_few),
		TEST(test_least_of_all),
		TEST(test_least_ties),
		TEST(test_least_alike),
		TEST(test_least_costs),
		TEST(test_least_newcomer),
		TEST(test_least_explores),
		TEST(test_least_extremes),
		TEST(test_latency_average),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

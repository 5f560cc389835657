/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "lib/score/pick.h"
#include "lib/score/weights.h"

#define NONE  KVL_NODE_NONE
#define DRAWS 200000

static const struct kvl_row row = {{4, 2, 0, 3, 1, NONE, NONE, NONE}};
static const struct kvl_row empty = {{NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE}};

static struct kvl_pulse pulses[5];
static uint16_t weights[5];
static uint64_t seed;
static uint32_t seen[5];

static int start(void **state)
{
	for (int i = 0; i < 5; i++) {
		kvl_pulse_init(&pulses[i]);
		pulses[i].latency = 1000;
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

static void in_flight(uint16_t node, uint32_t count)
{
	pulses[node].queue = 1;
	for (uint32_t i = 0; i < count; i++)
		kvl_pulse_sent(&pulses[node]);
}

static void count_p2c(uint32_t hot)
{
	for (int i = 0; i < DRAWS; i++)
		seen[kvl_draw_p2c(&row, weights, 3, random_next(), pulses, hot).node]++;
}

static struct kvl_draw draw_least(unsigned int n, uint32_t explore)
{
	float handicaps[5];

	for (int i = 0; i < 5; i++)
		handicaps[i] = kvl_handicap(weights[i]);
	return kvl_draw_least(&row, handicaps, n, random_next(), pulses, explore);
}

static void count_least(uint32_t explore)
{
	for (int i = 0; i < DRAWS; i++)
		seen[draw_least(3, explore).node]++;
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
	in_flight(4, 5);
	count_p2c(1);
	assert_share(4, 0); /* whoever is drawn with it is cold */
	start(NULL);
	in_flight(4, 5);
	in_flight(2, 4);
	in_flight(0, 3);
	count_p2c(1); /* all hot: fewer in flight */
	assert_share(4, 0);
	assert_share(2, 1.0 / 3);
	assert_share(0, 2.0 / 3);
	start(NULL);
	in_flight(4, 5);
	count_p2c(5); /* hot is above, not at */
	assert_share(4, 1.0 / 3);
}

static void test_p2c_few(void **state)
{
	weights[4] = weights[2] = weights[0] = weights[3] = 0;
	count_p2c(1);
	assert_share(1, 1);
	assert_int_equal(kvl_draw_p2c(&row, weights, 3, 0, pulses, 1).place, 4);
	weights[1] = 0;
	assert_int_equal(kvl_draw_p2c(&row, weights, 3, 0, pulses, 1).node, NONE);
	assert_int_equal(kvl_draw_p2c(&empty, weights, 3, 0, pulses, 1).node, NONE);
}

static void test_least_of_all(void **state)
{
	in_flight(4, 2);
	in_flight(2, 1);
	in_flight(0, 2);
	count_least(0);
	assert_share(2, 1);
}

/* Equals share, idle or busy. */
static void test_least_ties(void **state)
{
	count_least(0);
	for (int i = 0; i < 5; i++)
		assert_share(i, i == 4 || i == 2 || i == 0 ? 1.0 / 3 : 0);
	start(NULL);
	for (int i = 0; i < 5; i++)
		in_flight(i, 7);
	count_least(0);
	for (int i = 0; i < 5; i++)
		assert_share(i, i == 4 || i == 2 || i == 0 ? 1.0 / 3 : 0);
}

/*
 * With nothing in flight a worse weight gets less, not nothing: up to a quarter more cost always
 * overlaps, from a half on never. When busy, 1/64 is the most that chance may change.
 */
static void test_least_blur(void **state)
{
	static const struct {
		uint32_t in_flight;
		uint16_t weight; /* against 1000 */
		bool some;
	} cases[] = {{0, 850, true}, {0, 660, false}, {1, 995, true}, {1, 984, false}};

	for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
		start(NULL);
		for (int i = 0; i < 5; i++)
			in_flight(i, cases[c].in_flight);
		weights[2] = cases[c].weight;
		count_least(0);
		if (cases[c].some)
			assert_in_range(seen[2], DRAWS / 50, DRAWS * 3 / 10);
		else
			assert_int_equal(seen[2], 0);
	}
}

/* (in flight + 1) * latency / weight: each factor, and where it is beyond the blur. */
static void test_least_costs(void **state)
{
	static const struct {
		uint32_t in_flight;
		float latency;
		uint16_t weight;
		bool taken; /* against another with 1 in flight, 1000 us, weight 1000 */
	} cases[] = {
		{0, 1300, 1000, true},
		{0, 2040, 1000, false},
		{2, 680, 1000, false},
		{2, 650, 1000, true},
		{1, 1000, 1020, true},
		{1, 1000, 980, false},
		{9, 1000, 5100, true},
		{9, 1000, 4900, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		start(NULL);
		weights[4] = 0;
		in_flight(0, 1);
		in_flight(2, cases[i].in_flight);
		pulses[2].latency = cases[i].latency;
		weights[2] = cases[i].weight;
		for (int d = 0; d < 100; d++)
			assert_int_equal(draw_least(2, 0).node, cases[i].taken ? 2 : 0);
	}
}

/* Out, of the first three: the next in the row takes part, and the place tells which it was. */
static void test_least_replaces(void **state)
{
	weights[4] = weights[0] = 0;
	in_flight(2, 5);
	in_flight(3, 5);
	for (int d = 0; d < 100; d++) {
		struct kvl_draw draw = draw_least(3, 0);

		assert_int_equal(draw.node, 1);
		assert_int_equal(draw.place, 4);
	}
	memset(weights, 0, sizeof(weights));
	assert_int_equal(draw_least(3, 0).node, NONE);
}

/* Fewer nodes than N: the row is short. */
static void test_short_rows(void **state)
{
	static const struct kvl_row two = {{1, 3, NONE, NONE, NONE, NONE, NONE, NONE}};
	static const float handicaps[5] = {1, 1, 1, 1, 1};

	weights[3] = 2000;
	in_flight(1, 3);
	for (int d = 0; d < 100; d++) {
		uint64_t random = random_next();

		assert_int_equal(kvl_draw_least(&two, handicaps, 3, random, pulses, 0).node, 3);
		assert_int_equal(kvl_draw_p2c(&two, weights, 3, random, pulses, 1).node, 3);
		assert_int_equal(kvl_draw_best(&two, weights, 3).place, 1);
		seen[kvl_draw_weighted(&two, weights, 3, random >> 32).node]++;
	}
	assert_int_equal(seen[1] + seen[3], 100);
	assert_int_equal(kvl_draw_least(&empty, handicaps, 3, 0, pulses, 0).node, NONE);
	assert_int_equal(kvl_draw_weighted(&empty, weights, 3, 0).node, NONE);
}

/* No answer yet: as slow as the slowest, so that no flood meets it before its first answer. */
static void test_least_newcomer(void **state)
{
	pulses[4].latency = 0;
	pulses[2].latency = 2000;
	in_flight(2, 1);
	in_flight(4, 1);
	in_flight(0, 2);
	count_least(0);
	assert_share(0, 1); /* 3000, against 4000 twice */
	for (int i = 0; i < 5; i++)
		pulses[i].latency = 0;
	assert_int_not_equal(draw_least(3, 0).node, NONE);
}

static void test_least_explores(void **state)
{
	in_flight(4, 1 << 10);
	weights[4] = 1;
	count_least(UINT32_MAX / 10);
	assert_share(4, 0.1 / 3);
}

/* At every bound the costs still order. */
static void test_least_extremes(void **state)
{
	for (int i = 0; i < 5; i++) {
		pulses[i] = (struct kvl_pulse){
			.queue = 1 << 24, .latency = KVL_LATENCY_MOST, .blur = KVL_BLUR_BUSY};
		weights[i] = 1;
	}
	pulses[2].queue -= pulses[2].queue / 8;
	count_least(0);
	assert_share(2, 1);
	for (int i = 0; i < 5; i++) { /* the least cost there is is not taken for none */
		kvl_pulse_init(&pulses[i]);
		pulses[i].latency = KVL_LATENCY_FLOOR;
		weights[i] = UINT16_MAX;
	}
	memset(seen, 0, sizeof(seen));
	count_least(0);
	assert_share(2, 1.0 / 3);
}

static void test_in_flight(void **state)
{
	struct kvl_pulse p;

	kvl_pulse_init(&p);
	assert_int_equal(kvl_pulse_in_flight(&p), 0);
	for (int i = 0; i < 70000; i++)
		kvl_pulse_sent(&p);
	assert_int_equal(kvl_pulse_in_flight(&p), 70000);
	for (int i = 0; i < 69999; i++)
		kvl_pulse_left(&p);
	assert_int_equal(kvl_pulse_in_flight(&p), 1);
	assert_int_equal(p.blur, KVL_BLUR_BUSY);
	kvl_pulse_left(&p);
	assert_int_equal(kvl_pulse_in_flight(&p), 0);
	assert_int_equal(p.blur, KVL_BLUR_IDLE);
}

static void answer(struct kvl_pulse *p, uint32_t us, uint32_t now_ms)
{
	kvl_pulse_latency(p, us, now_ms);
	p->answered = now_ms;
}

static void assert_latency(const struct kvl_pulse *p, double us)
{
	if (fabs(p->latency - us) > us / 1000)
		fail_msg("%f us, not %f", p->latency, us);
}

/* Weighted by the time since the last answer: 1/128 at least, all of it after the window. */
static void test_latency_average(void **state)
{
	struct kvl_pulse p = {.queue = 1};
	uint32_t now = UINT32_MAX - 300; /* the clock wraps */

	answer(&p, 1000, now);
	assert_latency(&p, 1000);
	answer(&p, 2280, now);
	assert_latency(&p, 1010);
	answer(&p, 2010, now += KVL_LATENCY_WINDOW_MS / 4);
	assert_latency(&p, 1260);
	answer(&p, 5000, now += KVL_LATENCY_WINDOW_MS);
	assert_latency(&p, 5000);
	answer(&p, 700, now += 10 * KVL_LATENCY_WINDOW_MS);
	assert_latency(&p, 700);
	answer(&p, 0, now += KVL_LATENCY_WINDOW_MS);
	assert_latency(&p, KVL_LATENCY_FLOOR);
	for (int i = 0; i < 2000; i++)
		answer(&p, KVL_LATENCY_MOST, now);
	assert_latency(&p, KVL_LATENCY_MOST);
	assert_true(p.latency <= KVL_LATENCY_MOST);
}

/* Who is not asked is forgotten in the end; who is, or has something to answer, is not. */
static void test_latency_forgotten(void **state)
{
	struct kvl_pulse p;

	kvl_pulse_init(&p);
	answer(&p, 90000, 100);
	kvl_pulse_age(&p, 100 + KVL_LATENCY_FORGET_MS - 1);
	assert_latency(&p, 90000);
	kvl_pulse_sent(&p);
	kvl_pulse_age(&p, 100 + KVL_LATENCY_FORGET_MS);
	assert_latency(&p, 90000);
	kvl_pulse_left(&p);
	kvl_pulse_age(&p, 100 + KVL_LATENCY_FORGET_MS);
	assert_true(p.latency == 0);
	answer(&p, 700, 20000);
	assert_latency(&p, 700);
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
		TEST(test_least_blur),
		TEST(test_least_costs),
		TEST(test_least_replaces),
		TEST(test_short_rows),
		TEST(test_least_newcomer),
		TEST(test_least_explores),
		TEST(test_least_extremes),
		TEST(test_in_flight),
		TEST(test_latency_average),
		TEST(test_latency_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

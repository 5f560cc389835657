/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "lib/score/scorer.h"

/* How what the router measured ages, from outcomes to weights, in virtual time (SPEC 4.8, 6.4). */
#define NODES 5
#define TICK  50

static struct kvl_scorer *s;
static struct kvl_scorer_params params;
static uint64_t now;
static uint16_t weights[NODES];
static struct behaviour {
	uint32_t replies, rejects; /* a tick */
} behaves[NODES];

static int start(void **state)
{
	params = kvl_scorer_defaults(3);
	s = kvl_scorer_new(NODES, &params);
	now = 1000;
	for (uint16_t i = 0; i < NODES; i++) {
		behaves[i] = (struct behaviour){.replies = 50};
		kvl_scorer_join(s, i, now);
	}
	return s == NULL;
}

static int stop(void **state)
{
	kvl_scorer_free(s);
	return 0;
}

static void node_tick(uint16_t node)
{
	const struct behaviour *b = &behaves[node];
	struct kvl_histogram latency = {0};
	struct kvl_seen seen = {
		.outcomes = {.replies = b->replies, .rejects = b->rejects}, .latency = &latency};

	latency.count[kvl_hist_bucket(1000)] = b->replies - b->rejects;
	kvl_scorer_passive(s, node, &seen, now);
}

static void pass(uint32_t ms)
{
	for (uint64_t end = now + ms; now < end; now += TICK) {
		for (uint16_t i = 0; i < NODES; i++)
			node_tick(i);
		if (kvl_scorer_tick(s, now))
			kvl_scorer_weights(s, 0, now, weights, NODES);
	}
}

static bool knows(uint16_t node, enum kvl_term term)
{
	return kvl_scorer_node(s, node)->breakdown[0].known & 1u << term;
}

/*
 * Node 1 has rejected a tenth of 200 requests a second for 15 s and is well again, but gets only one
 * request each `apart` ms: how long until nothing speaks against it any more.
 */
static uint32_t forgiven_after(uint32_t apart)
{
	uint64_t well_since, sent;

	stop(NULL);
	start(NULL);
	for (int i = 0; i < NODES; i++)
		behaves[i].replies = 10;
	pass(10000);
	behaves[1].rejects = 1;
	pass(15000);
	assert_true(knows(1, KVL_TERM_REJECTS));
	behaves[1].rejects = 0;
	well_since = sent = now;
	while (knows(1, KVL_TERM_REJECTS) && now < well_since + 60000) {
		behaves[1].replies = now >= sent + apart;
		if (behaves[1].replies > 0)
			sent = now;
		pass(TICK);
	}
	return (uint32_t)(now - well_since);
}

/* By samples alone it took 24 s at a request each 100 ms, 60 s at one each 1 to 5 s, 120 s at one each
 * 10 s, and for ever without any. */
static void test_a_verdict_ages(void **state)
{
	static const struct {
		uint32_t apart, least, most;
	} cases[] = {
		{TICK, 3000, 13000}, {100, 5000, 18000}, {1000, 10000, 26000}, {5000, 10000, 26000},
		{10000, 20000, 31000}, {1000000, 29000, 31000}, /* passive_fresh_ms, and a period */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint32_t took = forgiven_after(cases[i].apart);

		print_message("a request each %u ms: forgiven after %u ms\n", cases[i].apart, took);
		assert_in_range(took, cases[i].least, cases[i].most);
	}
}

/* The trust is the configuration's. */
static void test_trust_in_what_was_measured(void **state)
{
	params.health.passive_fresh_ms = 4000;
	kvl_scorer_configure(s, &params);
	behaves[1].rejects = 5;
	pass(5000);
	behaves[1] = (struct behaviour){0};
	pass(3500);
	assert_true(knows(1, KVL_TERM_REJECTS));
	assert_false(isnan(kvl_scorer_node(s, 1)->facts.p99_us));
	pass(1500);
	assert_false(knows(1, KVL_TERM_REJECTS));
	assert_true(isnan(kvl_scorer_node(s, 1)->facts.p99_us));
	assert_true(isnan(kvl_scorer_node(s, 1)->facts.p95_us));
	assert_true(isnan(kvl_scorer_node(s, 1)->facts.error_rate));
	assert_int_equal(weights[1], weights[0]);
	/* For a request's timeout an old figure is better than none. */
	assert_true(kvl_scorer_node(s, 1)->p99_us > 900);
}

/* SPEC 4.8, of a node that is asked every 20 s: one rejection means nothing, and each further one
 * until it is told from chance. */
static void test_one_rejection_of_few(void **state)
{
	memset(&behaves[1], 0, sizeof(behaves[1]));
	for (int i = 0; i < 20; i++) {
		behaves[1] = (struct behaviour){.replies = 1, .rejects = i == 8};
		pass(TICK);
		behaves[1].replies = behaves[1].rejects = 0;
		pass(20000 - TICK);
		assert_int_equal(weights[1], KVL_WEIGHT_MOST);
	}
	for (int i = 0; i < 2; i++) {
		behaves[1] = (struct behaviour){.replies = 1, .rejects = 1};
		pass(TICK);
		behaves[1].replies = behaves[1].rejects = 0;
		pass(20000 - TICK);
	}
	assert_true(weights[1] < KVL_WEIGHT_MOST / 2);
}

/* The verdict is back with the second rejection, not with the 20th request. */
static void test_a_verdict_comes_back(void **state)
{
	uint32_t asked = 0;

	behaves[1].rejects = 25;
	pass(3000);
	behaves[1] = (struct behaviour){0};
	for (int i = 0; i < 800 && (i == 0 || weights[1] < KVL_WEIGHT_MOST); i++)
		pass(TICK);
	assert_int_equal(weights[1], KVL_WEIGHT_MOST);
	for (; weights[1] > KVL_WEIGHT_MOST / 4 && asked < 20; asked++) {
		behaves[1] = (struct behaviour){.replies = 1, .rejects = asked % 2};
		pass(TICK);
		behaves[1].replies = behaves[1].rejects = 0;
		pass(200);
	}
	assert_in_range(asked, 2, 8);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_verdict_ages),
		TEST(test_trust_in_what_was_measured),
		TEST(test_one_rejection_of_few),
		TEST(test_a_verdict_comes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

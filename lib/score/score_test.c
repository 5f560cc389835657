/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lib/score/score.h"

static const struct kvl_fleet unknown_fleet = {KVL_UNKNOWN, KVL_UNKNOWN};

#define assert_near(got, want)                                         \
	do {                                                           \
		double g = (got), w = (want);                          \
		if (!(fabs(g - w) < 1e-9))                             \
			fail_msg("%s = %.12g, not %.12g", #got, g, w); \
	} while (0)

/* SPEC 4.1's example: ceiling 20 ms, read-heavy. */
static double weighted(double free, double load, double p95_ms, double hit)
{
	struct kvl_score_params params = kvl_score_defaults();
	struct kvl_facts facts = kvl_facts_none();
	struct kvl_breakdown b;

	params.model = KVL_SCORE_WEIGHTED;
	params.ceiling_us = 20000;
	facts.capacity_free = free;
	facts.load = load;
	facts.p95_us = p95_ms * 1000;
	facts.hit_rate = hit;
	kvl_score(&params, &unknown_fleet, &facts, 0, &b);
	assert_near(kvl_breakdown_sum(&b), 100 * b.score);
	return b.score;
}

static void test_weighted_example(void **state)
{
	assert_near(weighted(.60, .80, 20, 0), 0.18);
	assert_near(weighted(.70, .30, 8, 1), 0.77);
	assert_near(weighted(.80, .50, 12, 0), 0.39);
	assert_near(weighted(.80, .20, 12, 0), 0.48);
}

/* Twice the same weights are the same weights; of any, a node of which all is well has 100. */
static void test_weights_are_relative(void **state)
{
	struct kvl_score_params params = kvl_score_defaults();
	struct kvl_facts facts = kvl_facts_none();
	struct kvl_breakdown b;

	params.model = KVL_SCORE_WEIGHTED;
	params.ceiling_us = 20000;
	params.weights = (struct kvl_score_weights){2, 3, 2, 3, 0};
	facts.capacity_free = .70;
	facts.load = .30;
	facts.p95_us = 8000;
	facts.hit_rate = 1;
	kvl_score(&params, &unknown_fleet, &facts, 0, &b);
	assert_near(b.score, 0.77);
	params.weights = (struct kvl_score_weights){0.1, 0.3, 0, 0, 0};
	facts.capacity_free = 1;
	facts.load = 0;
	kvl_score(&params, &unknown_fleet, &facts, 0, &b);
	assert_near(b.score, 1);
}

static void test_weighted_ceiling_from_fleet(void **state)
{
	struct kvl_score_params params = kvl_score_defaults();
	struct kvl_fleet fleet = {.worst_p95_us = 20000, .baseline_p99_us = KVL_UNKNOWN};
	struct kvl_facts facts = kvl_facts_none();
	struct kvl_breakdown b;

	params.model = KVL_SCORE_WEIGHTED;
	facts.capacity_free = .8;
	facts.load = .5;
	facts.p95_us = 12000;
	facts.hit_rate = 0;
	kvl_score(&params, &fleet, &facts, 0, &b);
	assert_near(b.score, 0.39);
	assert_near(b.points[KVL_TERM_CAPACITY_FREE], 16);
	assert_near(b.points[KVL_TERM_LOAD], 15);
	assert_near(b.points[KVL_TERM_LATENCY_HEALTH], 8);
	assert_near(b.points[KVL_TERM_LOCAL_HIT], 0);
	facts.p95_us = 50000; /* beyond the ceiling: no less than nothing */
	kvl_score(&params, &fleet, &facts, 0, &b);
	assert_near(b.points[KVL_TERM_LATENCY_HEALTH], 0);
}

/* Of two nodes alike in what is known, the one that reports more is not better or worse. */
static void test_weighted_unknown_is_neutral(void **state)
{
	struct kvl_score_params params = kvl_score_defaults();
	struct kvl_facts facts = kvl_facts_none();
	struct kvl_breakdown b;

	params.model = KVL_SCORE_WEIGHTED;
	params.ceiling_us = 20000;
	kvl_score(&params, &unknown_fleet, &facts, 0, &b);
	assert_near(b.score, 0.5);
	facts.load = 0.2;
	kvl_score(&params, &unknown_fleet, &facts, 0, &b);
	assert_near(b.score, 0.8);
	facts.capacity_free = 0.8;
	kvl_score(&params, &unknown_fleet, &facts, 0, &b);
	assert_near(b.score, 0.8);
}

static void test_weighted_success(void **state)
{
	struct kvl_score_params params = kvl_score_defaults();
	struct kvl_facts facts = kvl_facts_none();
	struct kvl_breakdown b;

	params.model = KVL_SCORE_WEIGHTED;
	facts.load = 0;
	facts.error_rate = 0.25;
	kvl_score(&params, &unknown_fleet, &facts, 0, &b);
	assert_near(b.score, 0.75);
	assert_near(b.points[KVL_TERM_SUCCESS], -25);
}

/* SPEC 5.3: lowered under a name of its own, whichever the model. */
static void test_unconfirmed(void **state)
{
	struct kvl_score_params params = kvl_score_defaults();
	struct kvl_facts facts = kvl_facts_none();
	struct kvl_breakdown b;

	facts.load = 0.2;
	for (unsigned int model = KVL_SCORE_PENALTY; model <= KVL_SCORE_WEIGHTED; model++) {
		double before;

		params.model = model;
		facts.flags = 0;
		kvl_score(&params, &unknown_fleet, &facts, 0, &b);
		assert_int_equal(b.known & 1u << KVL_TERM_UNCONFIRMED, 0);
		before = b.score;
		facts.flags = KVL_FACT_UNCONFIRMED;
		kvl_score(&params, &unknown_fleet, &facts, 0, &b);
		assert_near(b.score, 0.85 * before);
		assert_near(b.points[KVL_TERM_UNCONFIRMED], -15 * before);
		assert_string_equal(kvl_term_name(KVL_TERM_UNCONFIRMED), "unconfirmed");
	}
}

static struct kvl_breakdown penalty(const struct kvl_facts *facts)
{
	const struct kvl_score_params params = kvl_score_defaults();
	const struct kvl_fleet fleet = {.worst_p95_us = KVL_UNKNOWN, .baseline_p99_us = 1000};
	struct kvl_breakdown b;

	kvl_score(&params, &fleet, facts, 0, &b);
	assert_near(kvl_breakdown_sum(&b), 100 * b.score);
	return b;
}

static void test_penalty_examples(void **state)
{
	struct kvl_facts w1 = kvl_facts_none(), w2 = w1, w3 = w1;
	struct kvl_breakdown b;

	w1.p99_us = 1250;
	assert_near(penalty(&w1).score, 0.9625);
	w2.flags = KVL_FACT_COMPACTING;
	assert_near(penalty(&w2).score, 0.70);
	w3.cpu = 0.88;
	w3.p99_us = 3750;
	w3.error_rate = 0.02;
	w3.queue = 21;
	b = penalty(&w3);
	assert_near(b.score, 0.478);
	assert_near(b.points[KVL_TERM_CPU], -7.2);
	assert_near(b.points[KVL_TERM_P99], -25);
	assert_near(b.points[KVL_TERM_ERRORS], -10);
	assert_near(b.points[KVL_TERM_QUEUE], -10);
}

static void test_penalty_unknown_is_neutral(void **state)
{
	struct kvl_facts facts = kvl_facts_none();
	struct kvl_breakdown b = penalty(&facts);

	assert_near(b.score, 1);
	assert_int_equal(b.known, 1u << KVL_TERM_BASE);
}

static void test_penalty_bounds(void **state)
{
	struct kvl_facts facts = kvl_facts_none();
	struct kvl_breakdown b;

	facts.cpu = facts.io_wait = 1;
	facts.error_rate = 1;
	facts.p99_us = 1e9;
	facts.queue = 1000;
	b = penalty(&facts);
	assert_near(b.points[KVL_TERM_CPU], -12);
	assert_near(b.points[KVL_TERM_IO_WAIT], -30);
	assert_near(b.points[KVL_TERM_P99], -25);
	assert_near(b.points[KVL_TERM_ERRORS], -15);
	assert_near(b.score, 0.08);
	/* At its threshold, nothing yet. */
	facts = kvl_facts_none();
	facts.cpu = 0.70;
	facts.queue = 20;
	facts.p99_us = 1000;
	assert_near(penalty(&facts).score, 1);
}

static void test_penalty_multipliers(void **state)
{
	static const struct {
		uint32_t flags;
		double score;
	} cases[] = {
		{KVL_FACT_DEAD, 0},
		{KVL_FACT_PROBE_FAILING, 0.3},
		{KVL_FACT_REPAIRING, 0.5},
		{KVL_FACT_COMPACTING | KVL_FACT_REPAIRING, 0.35},
		{KVL_FACT_OBSERVED, 0.85},
		{KVL_FACT_COOLDOWN, 0.2},
		{KVL_FACT_UNCONFIRMED, 0.85},
		{KVL_FACT_UNCONFIRMED | KVL_FACT_OBSERVED, 0.7225},
		{KVL_FACT_OBSERVED | KVL_FACT_COMPACTING, 0.595},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct kvl_facts facts = kvl_facts_none();

		facts.flags = cases[i].flags;
		assert_near(penalty(&facts).score, cases[i].score);
	}
}

/* Observation is the last: it scales what the deductions left (SPEC 4.2). */
static void test_observation_comes_last(void **state)
{
	struct kvl_facts facts = kvl_facts_none();

	facts.p99_us = 2000;
	facts.flags = KVL_FACT_OBSERVED;
	assert_near(penalty(&facts).score, 0.85 * 0.85);
}

/* Below zero, the multipliers would give points back. */
static void test_penalty_never_negative(void **state)
{
	struct kvl_facts facts = kvl_facts_none();
	struct kvl_breakdown b;

	facts.flags = KVL_FACT_PROBE_FAILING | KVL_FACT_OBSERVED;
	facts.io_wait = 1;
	facts.p99_us = 1e9;
	b = penalty(&facts);
	assert_near(b.score, 0);
	assert_true(b.points[KVL_TERM_CLAMP] > 0);
	assert_near(b.points[KVL_TERM_OBSERVATION], 0); /* no gift */
}

/* SPEC 4.3: fast, and refuses; slower, and serves. */
static void test_false_health(void **state)
{
	struct kvl_facts rejecting = kvl_facts_none(), slow = rejecting;

	rejecting.p99_us = 10;
	rejecting.reject_rate = 0.5;
	slow.p99_us = 5000;
	assert_near(penalty(&rejecting).score, 0.4);
	assert_true(penalty(&rejecting).score < penalty(&slow).score);
	rejecting.reject_rate = 0.02;
	assert_near(penalty(&rejecting).score, 0.8 * 0.98);
	rejecting.reject_rate = 0.01; /* at the threshold */
	assert_near(penalty(&rejecting).score, 1);
}

static void test_network_cost(void **state)
{
	struct kvl_score_params params = kvl_score_defaults();
	struct kvl_facts facts = kvl_facts_none();
	struct kvl_breakdown b;

	params.weights = kvl_weights_write_heavy;
	facts.network_cost = 1;
	kvl_score(&params, &unknown_fleet, &facts, 0, &b);
	assert_near(b.score, 1); /* a read nearby */
	kvl_score(&params, &unknown_fleet, &facts, KVL_CLASS_WRITE, &b);
	assert_near(b.score, 0.9);
	facts.flags = KVL_FACT_FAR;
	kvl_score(&params, &unknown_fleet, &facts, 0, &b);
	assert_near(b.score, 0.9);
}

static void test_names_are_distinct(void **state)
{
	for (unsigned int a = 0; a < KVL_TERM_COUNT; a++) {
		assert_non_null(kvl_term_name(a));
		for (unsigned int b = 0; b < a; b++)
			assert_string_not_equal(kvl_term_name(a), kvl_term_name(b));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_weighted_example),
		cmocka_unit_test(test_weights_are_relative),
		cmocka_unit_test(test_weighted_ceiling_from_fleet),
		cmocka_unit_test(test_weighted_unknown_is_neutral),
		cmocka_unit_test(test_weighted_success),
		cmocka_unit_test(test_unconfirmed),
		cmocka_unit_test(test_penalty_examples),
		cmocka_unit_test(test_penalty_unknown_is_neutral),
		cmocka_unit_test(test_penalty_bounds),
		cmocka_unit_test(test_penalty_multipliers),
		cmocka_unit_test(test_observation_comes_last),
		cmocka_unit_test(test_penalty_never_negative),
		cmocka_unit_test(test_false_health),
		cmocka_unit_test(test_network_cost),
		cmocka_unit_test(test_names_are_distinct),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

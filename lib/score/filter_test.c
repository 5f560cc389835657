/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "lib/score/filter.h"

static const struct kvl_filter_node fine = {.reachable = true};
static const struct kvl_filter_request any = {.lag_allowed = UINT64_MAX};

static void test_the_nodes_own(void **state)
{
	static const struct {
		struct kvl_filter_node node;
		enum kvl_filter read, write;
	} cases[] = {
		{{.reachable = true}, KVL_FILTER_IN, KVL_FILTER_IN},
		{{.reachable = true, .health = KVL_HEALTH_SUSPECT}, KVL_FILTER_IN, KVL_FILTER_IN},
		{{.reachable = true, .health = KVL_HEALTH_HALF_OPEN}, KVL_FILTER_IN, KVL_FILTER_IN},
		{{.health = KVL_HEALTH_DOWN}, KVL_FILTER_UNREACHABLE, KVL_FILTER_UNREACHABLE},
		{{.reachable = true, .health = KVL_HEALTH_DOWN, .draining = true}, KVL_FILTER_DOWN,
			KVL_FILTER_DOWN},
		{{.reachable = true, .health = KVL_HEALTH_COOLDOWN}, KVL_FILTER_COOLDOWN,
			KVL_FILTER_COOLDOWN},
		{{.reachable = true, .ejected = true}, KVL_FILTER_EJECTED, KVL_FILTER_EJECTED},
		{{.reachable = true, .draining = true}, KVL_FILTER_DRAINING, KVL_FILTER_DRAINING},
		{{.reachable = true, .flags = KVL_FACT_READ_ONLY}, KVL_FILTER_IN,
			KVL_FILTER_READ_ONLY},
		{{.reachable = true, .flags = KVL_FACT_RECOVERING}, KVL_FILTER_IN,
			KVL_FILTER_RECOVERING},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(kvl_filter_node(&cases[i].node, KVL_CLASS_HOT), cases[i].read);
		assert_int_equal(kvl_filter_node(&cases[i].node, KVL_CLASS_WRITE), cases[i].write);
	}
}

static void test_the_requests(void **state)
{
	struct kvl_filter_request r = any;
	struct kvl_filter_node node = fine;

	assert_int_equal(kvl_filter_request(&node, 0, &r), KVL_FILTER_IN);
	node.flags = KVL_FACT_RECOVERING;
	r.strong = true;
	assert_int_equal(kvl_filter_request(&node, 0, &r), KVL_FILTER_RECOVERING);
	node = fine;
	node.version_lag = 11;
	r.lag_allowed = 10;
	assert_int_equal(kvl_filter_request(&node, 0, &r), KVL_FILTER_LAG);
	r = any;
	r.host_taken = r.zone_taken = true;
	assert_int_equal(kvl_filter_request(&node, 0, &r), KVL_FILTER_IN); /* reading */
	r.placing = true;
	assert_int_equal(kvl_filter_request(&node, 0, &r), KVL_FILTER_HOST_TAKEN);
	r.host_taken = false;
	assert_int_equal(kvl_filter_request(&node, 0, &r), KVL_FILTER_ZONE_TAKEN);
	r = any;
	r.quota_spent = true;
	assert_int_equal(kvl_filter_request(&node, 0, &r), KVL_FILTER_QUOTA);
	r = any;
	r.tried = true;
	assert_int_equal(kvl_filter_request(&node, 0, &r), KVL_FILTER_TRIED);
	node.health = KVL_HEALTH_DOWN; /* the node's own comes first */
	assert_int_equal(kvl_filter_request(&node, 0, &r), KVL_FILTER_DOWN);
}

static size_t still_in(const enum kvl_filter *reasons, size_t count)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		n += reasons[i] == KVL_FILTER_IN;
	return n;
}

static void test_the_last_is_spared(void **state)
{
	enum kvl_filter all[3] = {KVL_FILTER_COOLDOWN, KVL_FILTER_COOLDOWN, KVL_FILTER_COOLDOWN};
	enum kvl_filter last[3] = {KVL_FILTER_DOWN, KVL_FILTER_COOLDOWN, KVL_FILTER_DOWN};
	enum kvl_filter few[3] = {KVL_FILTER_IN, KVL_FILTER_COOLDOWN, KVL_FILTER_IN};
	const double scores[3] = {0.1, 0.3, 0.2};

	assert_int_equal(kvl_filter_spare(all, scores, 3, 8), 2);
	assert_int_equal(all[0], KVL_FILTER_COOLDOWN); /* the worst stays out */
	assert_int_equal(kvl_filter_spare(last, scores, 3, 8), 1);
	assert_int_equal(last[1], KVL_FILTER_IN);
	assert_int_equal(last[0], KVL_FILTER_DOWN);
	assert_int_equal(kvl_filter_spare(few, scores, 3, 8), 0);
	assert_int_equal(few[1], KVL_FILTER_COOLDOWN);
}

/* A third of the pool at most, however wide the rows are. */
static void test_a_third_at_most(void **state)
{
	for (size_t count = 1; count <= 64; count++) {
		enum kvl_filter reasons[64];
		double scores[64] = {0};
		size_t out;

		for (size_t i = 0; i < count; i++)
			reasons[i] = KVL_FILTER_COOLDOWN;
		kvl_filter_spare(reasons, scores, count, 64);
		out = count - still_in(reasons, count);
		assert_int_equal(out, count / 3);
	}
}

/* Those let in are the best of those in cooldown, ties or not. */
static void test_the_best_are_spared(void **state)
{
	for (size_t levels = 1; levels <= 30; levels++) {
		enum kvl_filter reasons[30];
		double scores[30], worst_in = 2, best_out = -1;

		for (size_t i = 0; i < 30; i++) {
			reasons[i] = KVL_FILTER_COOLDOWN;
			scores[i] = (double)(i * 7 % levels) / levels;
		}
		assert_int_equal(kvl_filter_spare(reasons, scores, 30, 8), 23); /* 7 may stay out */
		for (size_t i = 0; i < 30; i++) {
			if (reasons[i] == KVL_FILTER_IN && scores[i] < worst_in)
				worst_in = scores[i];
			if (reasons[i] != KVL_FILTER_IN && scores[i] > best_out)
				best_out = scores[i];
		}
		assert_true(best_out <= worst_in);
	}
}

static void test_fail_open(void **state)
{
	enum kvl_filter reasons[4] = {
		KVL_FILTER_DOWN, KVL_FILTER_DRAINING, KVL_FILTER_UNREACHABLE, KVL_FILTER_DOWN};
	const double scores[4] = {0};

	assert_int_equal(kvl_filter_spare(reasons, scores, 4, 8), 2);
	assert_int_equal(reasons[0], KVL_FILTER_IN);
	assert_int_equal(reasons[1], KVL_FILTER_DRAINING);
	assert_int_equal(reasons[2], KVL_FILTER_UNREACHABLE);
	assert_int_equal(kvl_filter_spare(reasons, scores, 0, 8), 0);
}

/* Every pool and every mixture: who is reachable and not worse than cooling keeps every row served,
 * and dead nodes are never let in beside living ones. */
static void test_spare_by_property(void **state)
{
	static const enum kvl_filter kinds[] = {KVL_FILTER_IN, KVL_FILTER_COOLDOWN,
		KVL_FILTER_COOLDOWN, KVL_FILTER_DOWN, KVL_FILTER_IN};
	enum kvl_filter before[40], after[40];
	double scores[40];
	uint32_t random = 1;

	for (int round = 0; round < 20000; round++) {
		size_t count = 1 + round % 40, hard = 0, out;

		for (size_t i = 0; i < count; i++) {
			random = random * 1664525 + 1013904223;
			before[i] = after[i] = kinds[(random >> 16) % 5];
			scores[i] = random / 4294967296.0;
			hard += before[i] == KVL_FILTER_DOWN;
		}
		kvl_filter_spare(after, scores, count, 8);
		out = count - still_in(after, count);
		assert_true(still_in(after, count) > 0);
		if (hard < count && hard < 8)
			assert_true(out < 8);
		for (size_t i = 0; i < count; i++)
			if (before[i] == KVL_FILTER_DOWN && hard < count)
				assert_int_equal(after[i], KVL_FILTER_DOWN);
	}
}

static void test_names(void **state)
{
	for (unsigned int a = 0; a < KVL_FILTER_COUNT; a++)
		for (unsigned int b = 0; b < a; b++)
			assert_string_not_equal(kvl_filter_name(a), kvl_filter_name(b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_nodes_own),
		cmocka_unit_test(test_the_requests),
		cmocka_unit_test(test_the_last_is_spared),
		cmocka_unit_test(test_a_third_at_most),
		cmocka_unit_test(test_the_best_are_spared),
		cmocka_unit_test(test_fail_open),
		cmocka_unit_test(test_spare_by_property),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

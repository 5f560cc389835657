/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "lib/score/self_check.h"

static struct kvl_self_check c;

static int rounds(int times, const double *scores, const double *success, size_t count)
{
	int changes = 0;

	for (int i = 0; i < times; i++)
		changes += kvl_self_check_round(&c, scores, success, count);
	return changes;
}

static int start(void **state)
{
	kvl_self_check_clear(&c);
	return 0;
}

static void test_correlation(void **state)
{
	const double x[] = {0.1, 0.4, 0.7}, line[] = {0.2, 0.5, 0.8}, back[] = {0.8, 0.5, 0.2};
	const double bent[] = {0.1, 0.1, 0.7}; /* r = 0.866 */

	assert_true(isnan(kvl_self_check_correlation(&c)));
	rounds(1, x, line, 3);
	assert_true(fabs(kvl_self_check_correlation(&c) - 1) < 1e-9);
	start(NULL);
	rounds(1, x, back, 3);
	assert_true(fabs(kvl_self_check_correlation(&c) + 1) < 1e-9);
	start(NULL);
	rounds(1, x, bent, 3);
	assert_true(fabs(kvl_self_check_correlation(&c) - sqrt(3) / 2) < 1e-9);
}

static void test_alarm(void **state)
{
	const double scores[] = {0.9, 0.8, 0.3, NAN}, with[] = {1, 0.99, 0.7, 1};
	const double against[] = {0.7, 0.99, 1, 0};

	assert_int_equal(rounds(100, scores, with, 4), 0);
	assert_false(c.alarm);
	assert_int_equal(rounds(400, scores, against, 4), 1);
	assert_true(c.alarm);
	assert_int_equal(rounds(400, scores, with, 4), 1);
	assert_false(c.alarm);
}

/* It falls after as many good rounds in a row as raise it, whatever was long ago. */
static void test_alarm_falls_slowly(void **state)
{
	static double scores[2000], success[2000];
	const double few[] = {0.9, 0.1}, against[] = {0.5, 1};

	for (int i = 0; i < 2000; i++)
		scores[i] = success[i] = i % 2;
	rounds(100, few, few, 2);
	rounds(200, few, against, 2);
	assert_true(c.alarm);
	assert_int_equal(rounds(KVL_SELF_CHECK_ROUNDS - 1, scores, success, 2000), 0);
	assert_int_equal(rounds(1, scores, success, 2000), 1);
	assert_false(c.alarm);
}

/* Some fail and every score is the same: the score is blind, which is the worst case. */
static void test_flat_scores_alarm(void **state)
{
	const double scores[] = {1, 1, 1}, success[] = {1, 1, 0.9};

	assert_int_equal(rounds(KVL_SELF_CHECK_ROUNDS - 1, scores, success, 3), 0);
	assert_int_equal(rounds(1, scores, success, 3), 1);
	assert_true(c.alarm);
}

static void test_all_succeed(void **state)
{
	const double scores[] = {1, 0.5, 0.2}, success[] = {1, 0.9999, 1};

	assert_int_equal(rounds(1000, scores, success, 3), 0);
	assert_int_equal(rounds(1000, scores, success, 0), 0);
	assert_false(c.alarm);
}

#define TEST(f) cmocka_unit_test_setup(f, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_correlation),
		TEST(test_alarm),
		TEST(test_alarm_falls_slowly),
		TEST(test_flat_scores_alarm),
		TEST(test_all_succeed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

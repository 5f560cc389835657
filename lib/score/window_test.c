/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "lib/score/window.h"

static struct kvl_window w;
static uint64_t now;

static int start(void **state)
{
	kvl_window_clear(&w);
	now = 0;
	return 0;
}

static void add(double value, int times)
{
	for (int i = 0; i < times; i++)
		assert_int_equal(
			kvl_window_add(&w, KVL_METRIC_CPU, value, now += 2000), KVL_METRIC_OK);
}

static int near(double a, double b)
{
	return fabs(a - b) < 1e-6;
}

static void test_bad_values_stay_out(void **state)
{
	static const struct {
		double value;
		enum kvl_metric_fault fault;
	} cases[] = {
		{NAN, KVL_METRIC_NOT_FINITE},
		{INFINITY, KVL_METRIC_NOT_FINITE},
		{-INFINITY, KVL_METRIC_NOT_FINITE},
		{-1, KVL_METRIC_NEGATIVE},
		{-1e-9, KVL_METRIC_NEGATIVE},
		{1.0000001, KVL_METRIC_TOO_LARGE},
		{1, KVL_METRIC_OK},
		{0, KVL_METRIC_OK},
	};

	add(0.5, 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(
			kvl_window_add(&w, KVL_METRIC_CPU, cases[i].value, ++now), cases[i].fault);
	assert_int_equal(w.count, 3);
	assert_int_equal(w.rejected[KVL_METRIC_NOT_FINITE], 3);
	assert_int_equal(w.rejected[KVL_METRIC_NEGATIVE], 2);
	assert_int_equal(w.rejected[KVL_METRIC_TOO_LARGE], 1);
}

static void test_times_rise_strictly(void **state)
{
	assert_int_equal(kvl_window_add(&w, KVL_METRIC_CPU, .1, 0), KVL_METRIC_NOT_LATER);
	assert_int_equal(kvl_window_add(&w, KVL_METRIC_CPU, .1, 1000), KVL_METRIC_OK);
	assert_int_equal(kvl_window_add(&w, KVL_METRIC_CPU, .9, 1000), KVL_METRIC_NOT_LATER);
	assert_int_equal(kvl_window_add(&w, KVL_METRIC_CPU, .9, 999), KVL_METRIC_NOT_LATER);
	assert_int_equal(w.rejected[KVL_METRIC_NOT_LATER], 3);
	assert_true(near(kvl_window_value(&w, KVL_METRIC_CPU), .1));
}

static void test_empty(void **state)
{
	assert_true(isnan(kvl_window_value(&w, KVL_METRIC_CPU)));
	assert_true(isnan(kvl_window_newest(&w)));
}

/* SPEC 4.8, wherever the bad one stands. */
static void test_one_bad_sample_moves_nothing(void **state)
{
	for (int after = 0; after < KVL_WINDOW_SAMPLES + 5; after++) {
		for (int high = 0; high < 2; high++) {
			start(NULL);
			add(0.2, 10);
			add(high, 1);
			add(0.2, after);
			assert_true(near(kvl_window_value(&w, KVL_METRIC_CPU), 0.2));
		}
	}
}

static void test_several_in_a_row_move(void **state)
{
	double last = 0.2;

	add(0.2, 60);
	add(1.0, 1);
	for (int run = 2; run <= 8; run++) {
		add(1.0, 1);
		assert_true(kvl_window_value(&w, KVL_METRIC_CPU) > last + 0.01);
		last = kvl_window_value(&w, KVL_METRIC_CPU);
	}
	assert_true(last > 0.8);
}

static void test_newest_weighs_most(void **state)
{
	for (int i = 0; i <= 50; i++)
		add(i / 100.0, 1);
	assert_true(kvl_window_value(&w, KVL_METRIC_CPU) > 0.40);
	for (int i = 50; i >= 0; i--)
		add(i / 100.0, 1);
	assert_true(kvl_window_value(&w, KVL_METRIC_CPU) < 0.10);
	assert_true(near(kvl_window_newest(&w), 0));
}

static void test_old_samples_leave(void **state)
{
	add(1.0, 60);
	add(0.0, 60);
	assert_true(kvl_window_value(&w, KVL_METRIC_CPU) == 0);
	assert_int_equal(w.count, KVL_WINDOW_SAMPLES);
}

static void measure(double value, int times, uint32_t apart_ms)
{
	for (int i = 0; i < times; i++)
		assert_int_equal(kvl_window_add(&w, KVL_METRIC_REJECTS, value, now += apart_ms),
			KVL_METRIC_OK);
}

static double measured(void)
{
	return kvl_window_value(&w, KVL_METRIC_REJECTS);
}

/* Half a second apart time adds nothing; five and more seconds apart each sample is five. */
static void test_time_ages_what_is_measured(void **state)
{
	double quick, slow;

	measure(1, 30, 500);
	measure(0, 4, 500);
	quick = measured();
	assert_true(near(quick, kvl_window_value(&w, KVL_METRIC_CPU)));
	start(NULL);
	measure(1, 30, 500);
	measure(0, 4, 5000);
	slow = measured();
	assert_true(slow < quick / 2);
	assert_true(near(quick, kvl_window_value(&w, KVL_METRIC_CPU))); /* reported: as ever */
	start(NULL);
	measure(1, 30, 500);
	measure(0, 4, 40000);
	assert_true(near(slow, measured()));
	/* One good one wipes nothing out, however late. */
	start(NULL);
	measure(1, 30, 500);
	measure(0, 1, 20000);
	assert_true(measured() == 1);
	measure(0, 1, 20000);
	assert_true(measured() > 0.2);
}

static void test_expired_samples_count_no_more(void **state)
{
	measure(0.2, 10, 1000);
	kvl_window_expire(&w, 30000, now + 21000);
	assert_int_equal(w.live, 10);
	kvl_window_expire(&w, 30000, now + 28000);
	assert_int_equal(w.live, 3);
	assert_true(near(measured(), 0.2));
	kvl_window_expire(&w, 30000, now + 30001);
	assert_int_equal(w.live, 0);
	assert_true(isnan(measured()));
	assert_true(isnan(kvl_window_newest(&w)));
	/* They still tell that this one is odd, and the next is not. */
	measure(0.9, 1, 40000);
	assert_true(isnan(measured()));
	measure(0.9, 1, 5000);
	assert_true(near(measured(), 0.9));
	kvl_window_forget(&w);
	measure(0.7, 1, 1000);
	assert_true(near(measured(), 0.7));
}

/* A verdict that has aged away is back with the first sample that says the same. */
static void test_the_same_again_is_not_odd(void **state)
{
	measure(1, 10, 1000);
	kvl_window_expire(&w, 30000, now + 40000);
	assert_true(isnan(measured()));
	measure(1, 1, 40000);
	assert_true(near(measured(), 1));
	kvl_window_expire(&w, 30000, now + 40000);
	measure(0, 1, 40000);
	assert_true(isnan(measured()));
}

/* Times are kept by their lower bits. */
static void test_times_wrap(void **state)
{
	now = UINT32_MAX - 5000u;
	measure(0.5, 20, 1000);
	kvl_window_expire(&w, 30000, now);
	assert_int_equal(w.live, 20);
	kvl_window_expire(&w, 30000, now + 30000);
	assert_int_equal(w.live, 1);
}

static void test_every_metric_has_a_name_and_a_range(void **state)
{
	for (unsigned int m = 0; m < KVL_METRIC_COUNT; m++) {
		assert_non_null(kvl_metric_name(m));
		assert_true(kvl_metric_most(m) > 0);
		assert_int_equal(kvl_metric_check(m, kvl_metric_most(m)), KVL_METRIC_OK);
	}
	for (unsigned int f = 0; f < KVL_METRIC_FAULTS; f++)
		assert_non_null(kvl_metric_fault_name(f));
}

#define TEST(f) cmocka_unit_test_setup(f, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_bad_values_stay_out),
		TEST(test_times_rise_strictly),
		TEST(test_empty),
		TEST(test_one_bad_sample_moves_nothing),
		TEST(test_several_in_a_row_move),
		TEST(test_newest_weighs_most),
		TEST(test_old_samples_leave),
		TEST(test_time_ages_what_is_measured),
		TEST(test_expired_samples_count_no_more),
		TEST(test_the_same_again_is_not_odd),
		TEST(test_times_wrap),
		TEST(test_every_metric_has_a_name_and_a_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

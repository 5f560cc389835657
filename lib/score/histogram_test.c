/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "lib/score/histogram.h"

/* Every value up to the bound: buckets rise without holes, and the middle is near enough. */
static void test_buckets(void **state)
{
	uint32_t last = 0;

	for (uint32_t us = 0; us < KVL_HIST_MAX_US; us++) {
		uint32_t b = kvl_hist_bucket(us);
		double off = kvl_hist_value(b) - us;

		if (b != last && b != last + 1)
			fail_msg("%u us: bucket %u after %u", us, b, last);
		if ((off < 0 ? -off : off) > us / (2.0 * KVL_HIST_SUB))
			fail_msg("%u us: off by %f", us, off);
		last = b;
	}
	assert_int_equal(last, KVL_HIST_BUCKETS - 1);
	assert_int_equal(kvl_hist_bucket(KVL_HIST_MAX_US), KVL_HIST_BUCKETS - 1);
	assert_int_equal(kvl_hist_bucket(UINT32_MAX), KVL_HIST_BUCKETS - 1);
}

static void test_empty(void **state)
{
	static struct kvl_histogram h;

	assert_int_equal(kvl_hist_total(&h), 0);
	assert_true(kvl_hist_quantile(&h, 0.5) == 0);
}

static void test_quantiles_exact_below_sub(void **state)
{
	static struct kvl_histogram h;

	for (uint32_t us = 1; us <= 10; us++)
		kvl_hist_add(&h, us);
	assert_true(kvl_hist_quantile(&h, 0) == 1);
	assert_true(kvl_hist_quantile(&h, 0.1) == 1);
	assert_true(kvl_hist_quantile(&h, 0.11) == 2);
	assert_true(kvl_hist_quantile(&h, 0.5) == 5);
	assert_true(kvl_hist_quantile(&h, 0.99) == 10);
	assert_true(kvl_hist_quantile(&h, 1) == 10);
	assert_true(kvl_hist_quantile(&h, 2) == 10);
}

static void test_quantiles_of_a_ramp(void **state)
{
	static struct kvl_histogram h;

	for (uint32_t us = 0; us < 100000; us++)
		kvl_hist_add(&h, us);
	for (int percent = 1; percent <= 100; percent++) {
		double want = percent * 1000.0, got = kvl_hist_quantile(&h, percent / 100.0);

		if (got < want * (1 - 1.0 / KVL_HIST_SUB) || got > want * (1 + 1.0 / KVL_HIST_SUB))
			fail_msg("p%d: %f, not %f", percent, got, want);
	}
}

static void test_merge_and_since(void **state)
{
	static struct kvl_histogram a, b, d;

	kvl_hist_add(&a, 7);
	kvl_hist_add(&b, 7);
	kvl_hist_add(&b, 5000);
	kvl_hist_merge(&a, &b);
	assert_int_equal(a.count[7], 2);
	assert_int_equal(kvl_hist_total(&a), 3);

	/* Across a wrap: three more after the counter stood at its end. */
	memset(&b, 0, sizeof(b));
	b.count[7] = UINT32_MAX;
	a = b;
	for (int i = 0; i < 3; i++)
		kvl_hist_add(&a, 7);
	kvl_hist_since(&a, &b, &d);
	assert_int_equal(d.count[7], 3);
	assert_int_equal(kvl_hist_total(&d), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buckets),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_quantiles_exact_below_sub),
		cmocka_unit_test(test_quantiles_of_a_ramp),
		cmocka_unit_test(test_merge_and_since),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

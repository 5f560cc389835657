/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "lib/score/fresh.h"

static void test_load_limit(void **state)
{
	assert_int_equal(kvl_fresh_load_ms(0), 5000);
	assert_int_equal(kvl_fresh_load_ms(2000), 5000);
	assert_int_equal(kvl_fresh_load_ms(2001), 5002);
	assert_int_equal(kvl_fresh_load_ms(5000), 12500);
	assert_int_equal(kvl_fresh_load_ms(UINT32_MAX), UINT32_MAX);
}

static void test_stale(void **state)
{
	assert_true(kvl_fresh_stale(0, 5000, 1));
	assert_false(kvl_fresh_stale(1000, 5000, 6000));
	assert_true(kvl_fresh_stale(1000, 5000, 6001));
	assert_false(kvl_fresh_stale(7000, 5000, 6000));
}

static void test_calm_traffic_tolerates_more(void **state)
{
	assert_int_equal(kvl_fresh_limit(5000, 999), 10000);
	assert_int_equal(kvl_fresh_limit(5000, 1000), 5000);
}

/* Forgotten long after it went stale, at low traffic too. */
static void test_forgotten(void **state)
{
	assert_int_equal(kvl_fresh_load_forget_ms(2000), 60000);
	assert_int_equal(kvl_fresh_load_forget_ms(5000), 150000);
	assert_true(KVL_FRESH_LOAD_FORGET > KVL_FRESH_CALM_FACTOR);
	assert_true(kvl_fresh_load_forget_ms(UINT32_MAX) == 12ull * UINT32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_load_limit),
		cmocka_unit_test(test_stale),
		cmocka_unit_test(test_calm_traffic_tolerates_more),
		cmocka_unit_test(test_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/model/numbers.h"

#define QUARANTINE 1000

static void test_capacity(void **state)
{
	errno = 0;
	assert_null(kvl_numbers_new(0, QUARANTINE));
	assert_int_equal(errno, EINVAL);
	assert_null(kvl_numbers_new(UINT16_MAX, QUARANTINE));
	kvl_numbers_free(kvl_numbers_new(UINT16_MAX - 1, QUARANTINE));
	kvl_numbers_free(NULL);
}

static void test_lowest_first_and_stable(void **state)
{
	struct kvl_numbers *n = kvl_numbers_new(3, QUARANTINE);

	assert_int_equal(kvl_numbers_take(n, "a", 0), 0);
	assert_int_equal(kvl_numbers_take(n, "b", 0), 1);
	assert_int_equal(kvl_numbers_take(n, "a", 5), 0);
	assert_int_equal(kvl_numbers_take(n, "c", 5), 2);
	assert_int_equal(kvl_numbers_take(n, "d", 5), KVL_NUMBER_NONE);
	assert_int_equal(kvl_numbers_find(n, "b"), 1);
	assert_int_equal(kvl_numbers_find(n, "d"), KVL_NUMBER_NONE);
	kvl_numbers_free(n);
}

static void test_quarantine(void **state)
{
	struct kvl_numbers *n = kvl_numbers_new(2, QUARANTINE);

	kvl_numbers_take(n, "a", 0);
	kvl_numbers_take(n, "b", 0);
	kvl_numbers_release(n, "a", 100);
	kvl_numbers_release(n, "nobody", 100);
	assert_int_equal(kvl_numbers_find(n, "a"), KVL_NUMBER_NONE);
	assert_int_equal(kvl_numbers_take(n, "c", 100 + QUARANTINE - 1), KVL_NUMBER_NONE);
	/* A second release does not start it anew; a clock that went back does not end it. */
	kvl_numbers_release(n, "a", 900);
	assert_int_equal(kvl_numbers_take(n, "c", 50), KVL_NUMBER_NONE);
	assert_int_equal(kvl_numbers_take(n, "c", 100 + QUARANTINE), 0);
	assert_int_equal(kvl_numbers_find(n, "a"), KVL_NUMBER_NONE);
	kvl_numbers_free(n);
}

static void test_return_ends_quarantine(void **state)
{
	struct kvl_numbers *n = kvl_numbers_new(3, QUARANTINE);

	kvl_numbers_take(n, "a", 0);
	kvl_numbers_take(n, "b", 0);
	kvl_numbers_release(n, "a", 100);
	/* Number 0 is in quarantine: a new id gets the next one. */
	assert_int_equal(kvl_numbers_take(n, "c", 200), 2);
	assert_int_equal(kvl_numbers_take(n, "a", 300), 0);
	assert_int_equal(kvl_numbers_find(n, "a"), 0);
	/* Live again: time does not free it. */
	assert_int_equal(kvl_numbers_take(n, "d", 100000), KVL_NUMBER_NONE);
	kvl_numbers_free(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_capacity),
		cmocka_unit_test(test_lowest_first_and_stable),
		cmocka_unit_test(test_quarantine),
		cmocka_unit_test(test_return_ends_quarantine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

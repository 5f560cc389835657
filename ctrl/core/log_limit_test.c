/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ctrl/core/log_limit.h"

static uint32_t suppressed;

static unsigned int burst(struct kvl_log_limit *l, uint64_t now, unsigned int lines)
{
	unsigned int passed = 0;

	for (unsigned int i = 0; i < lines; i++)
		passed += kvl_log_limit_pass(l, now, &suppressed);
	return passed;
}

static void test_burst(void **state)
{
	struct kvl_log_limit l = {0};

	assert_int_equal(burst(&l, 5, 100), KVL_LOG_BURST);
	assert_int_equal(suppressed, 0);
	assert_false(kvl_log_limit_pass(&l, 5 + KVL_LOG_EVERY_MS - 1, &suppressed));
	assert_true(kvl_log_limit_pass(&l, 5 + KVL_LOG_EVERY_MS, &suppressed));
	assert_int_equal(suppressed, 100 - KVL_LOG_BURST + 1);
	assert_false(kvl_log_limit_pass(&l, 5 + KVL_LOG_EVERY_MS, &suppressed));
	/* Rested, it has its burst again, and no more than that. */
	assert_int_equal(burst(&l, 1000000, 100), KVL_LOG_BURST);
}

/* A day of lines each tick: the burst, and one each KVL_LOG_EVERY_MS. None is lost from the count. */
static void test_rate(void **state)
{
	struct kvl_log_limit l = {0};
	uint64_t passed = 0, told = 0, lines = 0;

	for (uint64_t now = 1000; now < 86401000; now += 50, lines++)
		if (kvl_log_limit_pass(&l, now, &suppressed)) {
			passed++;
			told += suppressed;
		}
	assert_true(passed <= KVL_LOG_BURST + 86400000 / KVL_LOG_EVERY_MS);
	assert_true(passed >= 86400000 / KVL_LOG_EVERY_MS);
	assert_int_equal(passed + told + l.suppressed, lines);
}

static void test_due(void **state)
{
	struct kvl_log_limit l = {0};

	assert_false(kvl_log_limit_due(&l, 5, &suppressed));
	burst(&l, 5, KVL_LOG_BURST);
	assert_false(kvl_log_limit_due(&l, 5 + KVL_LOG_EVERY_MS, &suppressed)); /* nothing held */
	l = (struct kvl_log_limit){0};
	burst(&l, 5, KVL_LOG_BURST + 3);
	for (uint64_t now = 5; now < 5 + KVL_LOG_EVERY_MS; now += 50)
		assert_false(kvl_log_limit_due(&l, now, &suppressed));
	assert_true(kvl_log_limit_due(&l, 5 + KVL_LOG_EVERY_MS, &suppressed));
	assert_int_equal(suppressed, 3); /* asking added none */
	assert_false(kvl_log_limit_due(&l, 1000000, &suppressed));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_burst),
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_due),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

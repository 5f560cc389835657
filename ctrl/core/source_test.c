/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ctrl/core/source.h"

#define START 1000
#define FRESH KVL_FRESH_TOPOLOGY_MS

static struct kvl_source s;

static int start(void **state)
{
	kvl_source_confirmed(&s, START);
	return 0;
}

static bool stale(uint64_t now)
{
	return kvl_source_stale(&s, FRESH, now);
}

static void test_nobody_reloads(void **state)
{
	assert_false(stale(START) || stale(START + FRESH + 1) || stale(START + 1000000000));
}

/* The time passes after the reload that failed. */
static void test_fails_early(void **state)
{
	kvl_source_failed(&s, START + 10);
	assert_false(stale(START + 10) || stale(START + FRESH));
	assert_true(stale(START + FRESH + 1) && stale(START + 1000000000));
	assert_int_equal(kvl_source_stale_since(&s, FRESH), START + FRESH);
}

static void test_fails_late(void **state)
{
	kvl_source_failed(&s, START + 5 * FRESH);
	assert_true(stale(START + 5 * FRESH));
	kvl_source_failed(&s, START + 6 * FRESH);
	assert_int_equal(kvl_source_stale_since(&s, FRESH), START + 5 * FRESH);
}

static void test_confirmed_again(void **state)
{
	kvl_source_failed(&s, START + 5 * FRESH);
	kvl_source_confirmed(&s, START + 7 * FRESH);
	assert_false(stale(START + 7 * FRESH) || stale(START + 9 * FRESH));
	/* And trusted for as long again. */
	kvl_source_failed(&s, START + 7 * FRESH + 5);
	assert_false(stale(START + 8 * FRESH));
	assert_true(stale(START + 8 * FRESH + 1));
}

#define TEST(f) cmocka_unit_test_setup(f, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_nobody_reloads),
		TEST(test_fails_early),
		TEST(test_fails_late),
		TEST(test_confirmed_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

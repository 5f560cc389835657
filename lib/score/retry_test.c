/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lib/score/retry.h"

static struct kvl_retry_params params;
static struct kvl_retry_budget budget;
static struct kvl_bucket slots[16];
static struct kvl_retry_keys keys;
static uint64_t now;

static int start(void **state)
{
	params = kvl_retry_defaults();
	now = 1000;
	budget.hundredths = 100 * KVL_RETRY_SAVED;
	kvl_retry_keys_init(&keys, slots, 16, &params, now);
	return 0;
}

static void test_timeout(void **state)
{
	assert_int_equal(kvl_retry_timeout_us(&params, 50000), 100000); /* SPEC 7 */
	assert_int_equal(kvl_retry_timeout_us(&params, 100), 5000);
	assert_int_equal(kvl_retry_timeout_us(&params, 2500.5), 5001);
	assert_int_equal(kvl_retry_timeout_us(&params, 1e12), 1000000);
	assert_int_equal(kvl_retry_timeout_us(&params, NAN), 1000000);
	assert_int_equal(kvl_retry_timeout_us(&params, 0), 1000000);
	assert_int_equal(kvl_retry_timeout_us(&params, INFINITY), 1000000);
}

static void test_jitter(void **state)
{
	assert_int_equal(kvl_retry_jitter_us(100000, 0), 0);
	assert_int_equal(kvl_retry_jitter_us(100000, 1u << 31), 5000);
	assert_int_equal(kvl_retry_jitter_us(100000, UINT32_MAX), 9999);
}

static enum kvl_retry_verdict decide(struct kvl_retry_request r)
{
	return kvl_retry_decide(&params, &r, &budget, &keys, now);
}

static void test_verdicts(void **state)
{
	const struct kvl_retry_request fine = {true, 1, 100000, 100000, 7};
	struct kvl_retry_request r = fine;

	r.idempotent = false;
	assert_int_equal(decide(r), KVL_RETRY_NOT_IDEMPOTENT);
	r = fine;
	r.tries = 3;
	assert_int_equal(decide(r), KVL_RETRY_TRIES);
	r = fine;
	r.elapsed_us = 1900001;
	assert_int_equal(decide(r), KVL_RETRY_DEADLINE);
	r.elapsed_us = UINT32_MAX;
	r.needed_us = UINT32_MAX;
	assert_int_equal(decide(r), KVL_RETRY_DEADLINE);
	assert_int_equal(budget.hundredths, 100 * KVL_RETRY_SAVED); /* refused for nothing */
	r = fine;
	r.elapsed_us = 1900000;
	r.tries = 2;
	assert_int_equal(decide(r), KVL_RETRY_YES);
	assert_int_equal(budget.hundredths, 100 * (KVL_RETRY_SAVED - 1));
	budget.hundredths = 99;
	assert_int_equal(decide(fine), KVL_RETRY_BUDGET);
}

/* Everything times out: what is sent is 1.1 times what came, and what had been saved. */
static void test_budget_is_a_share(void **state)
{
	uint32_t retries = 0;

	for (uint32_t i = 0; i < 100000; i++) {
		struct kvl_retry_request r = {true, 1, 0, 1, 0};

		kvl_retry_earn(&budget, &params);
		retries += kvl_retry_decide(&params, &r, &budget, NULL, now) == KVL_RETRY_YES;
	}
	assert_in_range(retries, 10000, 10000 + KVL_RETRY_SAVED);
	for (int i = 0; i < 100000; i++)
		kvl_retry_earn(&budget, &params);
	assert_int_equal(budget.hundredths, 100 * KVL_RETRY_SAVED);
}

static void test_key_budget(void **state)
{
	const struct kvl_retry_request one = {true, 1, 0, 1, 3}, other = {true, 1, 0, 1, 4};
	const struct kvl_retry_request shares = {true, 1, 0, 1, 3 + 16};
	int yes = 0;

	assert_int_equal(decide(one), KVL_RETRY_YES);
	assert_int_equal(decide(one), KVL_RETRY_YES);
	assert_int_equal(decide(one), KVL_RETRY_KEY_BUDGET);
	assert_int_equal(decide(shares), KVL_RETRY_KEY_BUDGET);
	assert_int_equal(decide(other), KVL_RETRY_YES);
	for (int i = 0; i < 10000; i++, now++)
		yes += decide(one) == KVL_RETRY_YES;
	assert_in_range(yes, 19, 20); /* 2 a second for 10 s */
}

static void test_bucket(void **state)
{
	struct kvl_bucket b;

	kvl_bucket_init(&b, 3, 5, 1000);
	for (int i = 0; i < 5; i++)
		assert_true(kvl_bucket_take(&b, 1000));
	assert_false(kvl_bucket_take(&b, 1333)); /* a thousandth short */
	assert_true(kvl_bucket_take(&b, 1334));
	assert_false(kvl_bucket_take(&b, 500)); /* the clock does not step back */
	kvl_bucket_refill(&b, UINT64_MAX);
	assert_int_equal(b.credit, 5 * KVL_BUCKET_UNIT);
	kvl_bucket_init(&b, 0, 0, 0);
	assert_false(kvl_bucket_take(&b, UINT64_MAX));
}

static void test_names_are_distinct(void **state)
{
	for (unsigned int a = 0; a < KVL_RETRY_VERDICTS; a++)
		for (unsigned int b = 0; b < a; b++)
			assert_string_not_equal(kvl_retry_name(a), kvl_retry_name(b));
}

#define TEST(f) cmocka_unit_test_setup(f, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_timeout),
		TEST(test_jitter),
		TEST(test_verdicts),
		TEST(test_budget_is_a_share),
		TEST(test_key_budget),
		TEST(test_bucket),
		TEST(test_names_are_distinct),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "lib/score/history.h"

static struct kvl_history h;
static struct kvl_history_sum sum;

static void add(uint64_t now_ms, uint64_t replies, uint32_t us)
{
	struct kvl_outcomes o = {.replies = replies, .errors = 1, .rejects = 2, .timeouts = 3};
	struct kvl_histogram latency = {0};

	latency.count[kvl_hist_bucket(us)] = (uint32_t)replies;
	kvl_history_add(&h, &o, &latency, now_ms);
}

static void test_empty(void **state)
{
	kvl_history_clear(&h);
	kvl_history_read(&h, 12345678, &sum);
	assert_int_equal(sum.outcomes.replies, 0);
	assert_true(isnan(sum.average_us) && isnan(sum.p99_us));
}

static void test_sums(void **state)
{
	kvl_history_clear(&h);
	add(1000000, 90, 10);
	add(1100000, 10, 15);
	kvl_history_read(&h, 1100000, &sum);
	assert_int_equal(sum.outcomes.replies, 100);
	assert_int_equal(sum.outcomes.errors, 2);
	assert_int_equal(sum.outcomes.rejects, 4);
	assert_int_equal(sum.outcomes.timeouts, 6);
	assert_true(fabs(sum.average_us - 10.5) < 1e-9);
	assert_true(sum.p99_us == 15);
}

/* Every second one reply: between 4.5 and 5 minutes of them are there at any time. */
static void test_forgets(void **state)
{
	kvl_history_clear(&h);
	for (uint64_t t = 1000000; t < 2000000; t += 1000) {
		add(t, 1, 10);
		kvl_history_read(&h, t, &sum);
		if (t >= 1300000)
			assert_true(sum.outcomes.replies > 270 && sum.outcomes.replies <= 300);
	}
	kvl_history_read(&h, 2000000 + 300000, &sum);
	assert_int_equal(sum.outcomes.replies, 0);
	add(2000000, 1, 10); /* late: in the newest slot */
	kvl_history_read(&h, 2300000, &sum);
	assert_int_equal(sum.outcomes.replies, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_forgets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lib/score/health.h"

static const struct kvl_health_params params = {
	.timeouts_to_down = 3,
	.probe_interval_ms = 500,
	.passive_fresh_ms = 30000,
};

static struct kvl_health h;
static uint64_t now; /* virtual */

static int start(void **state)
{
	now = 1000;
	kvl_health_init(&h, now);
	return 0;
}

static bool timeouts(uint64_t count, uint64_t in_a_row)
{
	return kvl_health_passive(&h, &params, 0, count, in_a_row, now += 100);
}

static bool replies(uint64_t count)
{
	return kvl_health_passive(&h, &params, count, 0, 0, now += 100);
}

static bool probe(bool ok)
{
	kvl_health_probe_sent(&h, now);
	return kvl_health_probe(&h, &params, ok, now += 100);
}

static void take_down(void)
{
	timeouts(3, 3);
	assert_int_equal(h.state, KVL_HEALTH_DOWN);
}

static void test_three_timeouts_take_out(void **state)
{
	assert_false(timeouts(1, 1));
	assert_int_equal(h.state, KVL_HEALTH_HEALTHY);
	assert_true(timeouts(1, 2));
	assert_int_equal(h.state, KVL_HEALTH_SUSPECT);
	assert_true(kvl_health_eligible(&h));
	assert_true(timeouts(1, 3));
	assert_int_equal(h.state, KVL_HEALTH_DOWN);
	assert_false(kvl_health_eligible(&h));
	assert_int_equal(h.since_ms, now);
	assert_false(timeouts(5, 8));
}

static void test_one_lost_datagram_never_ejects(void **state)
{
	struct kvl_health_params strict = params;

	strict.timeouts_to_down = 1; /* taken as 2 */
	for (int i = 0; i < 100; i++) {
		kvl_health_passive(&h, &strict, 0, 1, 1, now += 100);
		assert_true(kvl_health_eligible(&h));
		kvl_health_passive(&h, &strict, 1, 0, 0, now += 100);
	}
	kvl_health_probe(&h, &strict, false, now += 100);
	assert_true(kvl_health_eligible(&h));
}

static void test_a_reply_between_starts_anew(void **state)
{
	timeouts(2, 2);
	assert_int_equal(h.state, KVL_HEALTH_SUSPECT);
	assert_true(replies(1));
	assert_int_equal(h.state, KVL_HEALTH_HEALTHY);
	timeouts(2, 2);
	assert_int_equal(h.state, KVL_HEALTH_SUSPECT);
}

/* 10,000 replies and a run of five timeouts among 1,000 in the same interval: lossy, alive. */
static void test_lossy_is_not_down(void **state)
{
	for (int i = 0; i < 10; i++) {
		kvl_health_passive(&h, &params, 10000, 1000, 5, now += 100);
		assert_int_equal(h.state, KVL_HEALTH_SUSPECT);
		assert_true(probe(true));
	}
	/* The same, and then silence: one more failure of either kind is enough. */
	kvl_health_passive(&h, &params, 10000, 1000, 5, now += 100);
	assert_true(probe(false));
	assert_int_equal(h.state, KVL_HEALTH_DOWN);
}

static void test_probes_and_timeouts_add_up(void **state)
{
	timeouts(1, 1);
	probe(false);
	assert_int_equal(h.state, KVL_HEALTH_SUSPECT);
	timeouts(1, 2); /* the workers know of two only */
	assert_int_equal(h.state, KVL_HEALTH_DOWN);
}

/* Probes get through, requests do not: probes must not cover that up for ever. */
static void test_probes_do_not_hide_timeouts(void **state)
{
	timeouts(1, 1);
	probe(true);
	timeouts(1, 2);
	probe(true);
	timeouts(1, 3);
	assert_int_equal(h.state, KVL_HEALTH_DOWN);
}

static void test_back_through_half_open(void **state)
{
	take_down();
	assert_false(replies(3)); /* late, or failed open: the probe decides */
	assert_false(probe(false));
	assert_true(probe(true));
	assert_int_equal(h.state, KVL_HEALTH_HALF_OPEN);
	assert_true(kvl_health_eligible(&h));
	assert_false(replies(KVL_HEALTH_RECOVER - 2));
	assert_false(probe(true));
	assert_true(replies(1));
	assert_int_equal(h.state, KVL_HEALTH_HEALTHY);
	/* On trial no more: one lost datagram is nothing again. */
	timeouts(1, 1);
	assert_int_equal(h.state, KVL_HEALTH_HEALTHY);
}

static void test_first_failure_on_trial(void **state)
{
	take_down();
	probe(true);
	assert_true(timeouts(1, 1));
	assert_int_equal(h.state, KVL_HEALTH_DOWN);
	probe(true);
	assert_true(probe(false));
	assert_int_equal(h.state, KVL_HEALTH_DOWN);
	/* Successes of an earlier trial do not count. */
	probe(true);
	replies(KVL_HEALTH_RECOVER - 1);
	probe(false);
	probe(true);
	assert_false(replies(1));
	assert_int_equal(h.state, KVL_HEALTH_HALF_OPEN);
}

static void test_old_requests_on_trial(void **state)
{
	struct kvl_health_params settle = params;

	settle.settle_ms = 1000;
	take_down();
	probe(true);
	assert_false(kvl_health_passive(&h, &settle, 0, 7, 10, h.since_ms + 999));
	assert_int_equal(h.state, KVL_HEALTH_HALF_OPEN);
	assert_true(kvl_health_passive(&h, &settle, 0, 1, 11, h.since_ms + 1000));
	assert_int_equal(h.state, KVL_HEALTH_DOWN);
}

static void test_when_a_probe_is_wanted(void **state)
{
	assert_true(kvl_health_probe_at(&h, &params) <= now); /* never heard of */
	kvl_health_probe_sent(&h, now);
	assert_int_equal(kvl_health_probe_at(&h, &params), now + 500);
	replies(1);
	assert_int_equal(kvl_health_probe_at(&h, &params), now + 30000);
	kvl_health_probe_sent(&h, now + 30000); /* still silent */
	assert_int_equal(kvl_health_probe_at(&h, &params), now + 30500);
	timeouts(2, 2);
	kvl_health_probe_sent(&h, now);
	assert_int_equal(kvl_health_probe_at(&h, &params), now + 500); /* suspect */
	timeouts(1, 3);
	assert_int_equal(kvl_health_probe_at(&h, &params), h.probe_ms + 500); /* down */
	probe(true);
	assert_int_equal(kvl_health_probe_at(&h, &params), h.probe_ms + 500); /* half open */
}

static void test_dsr_is_always_probed(void **state)
{
	struct kvl_health_params dsr = params;

	dsr.always_probe = true;
	replies(1);
	kvl_health_probe_sent(&h, now);
	assert_int_equal(kvl_health_probe_at(&h, &dsr), now + 500);
}

static void test_counts_saturate(void **state)
{
	timeouts(UINT64_MAX, UINT64_MAX);
	timeouts(UINT64_MAX, UINT64_MAX);
	probe(false);
	assert_int_equal(h.state, KVL_HEALTH_DOWN);
	probe(true);
	replies(UINT64_MAX);
	assert_int_equal(h.state, KVL_HEALTH_HEALTHY);
}

#define TEST(f) cmocka_unit_test_setup(f, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_three_timeouts_take_out),
		TEST(test_one_lost_datagram_never_ejects),
		TEST(test_a_reply_between_starts_anew),
		TEST(test_lossy_is_not_down),
		TEST(test_probes_and_timeouts_add_up),
		TEST(test_probes_do_not_hide_timeouts),
		TEST(test_back_through_half_open),
		TEST(test_first_failure_on_trial),
		TEST(test_old_requests_on_trial),
		TEST(test_when_a_probe_is_wanted),
		TEST(test_dsr_is_always_probed),
		TEST(test_counts_saturate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

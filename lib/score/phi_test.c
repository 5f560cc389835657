/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "lib/score/phi.h"

static struct kvl_phi p;
static uint64_t now;

static void beats(int count, uint32_t interval, uint32_t jitter)
{
	for (int i = 0; i < count; i++) {
		now += interval - jitter + (uint32_t)(i * 2654435761u) % (2 * jitter + 1);
		kvl_phi_beat(&p, now);
	}
}

static int start(void **state)
{
	now = 1000000;
	kvl_phi_init(&p, 2000);
	return 0;
}

static void test_never_heard(void **state)
{
	assert_true(kvl_phi(&p, now + 1000000) == 0);
}

/* The formula: at the mean, half of the heartbeats are later still. */
static void test_formula(void **state)
{
	beats(20, 2000, 0);
	assert_true(fabs(kvl_phi(&p, now + 2000) - log10(2)) < 1e-9);
	/* One deviation (the floor, 500 ms) beyond: P = 0.158655 */
	assert_true(fabs(kvl_phi(&p, now + 2500) + log10(0.158655254)) < 1e-6);
}

static void test_rises_to_its_bound(void **state)
{
	double last = 0;

	beats(10, 2000, 100);
	for (uint64_t t = now; t < now + 20000; t += 100) {
		assert_true(kvl_phi(&p, t) >= last);
		last = kvl_phi(&p, t);
	}
	assert_true(last > KVL_PHI_DOWN);
	assert_true(kvl_phi(&p, now + (UINT64_C(1) << 40)) == KVL_PHI_MOST);
}

static void test_one_lost_report_is_no_death(void **state)
{
	beats(60, 2000, 50);
	assert_true(kvl_phi(&p, now + 4000) < KVL_PHI_DOWN);
	assert_true(kvl_phi(&p, now + 6000) > KVL_PHI_DOWN);
}

/* SPEC 6.5: a jittery network is given more time. */
static void test_adapts_to_jitter(void **state)
{
	double steady;

	beats(60, 2000, 50);
	steady = kvl_phi(&p, now + 5200);
	start(NULL);
	beats(60, 2000, 1500);
	assert_true(steady > KVL_PHI_DOWN);
	assert_true(kvl_phi(&p, now + 5200) < KVL_PHI_DOWN);
}

static void test_before_it_has_learnt(void **state)
{
	kvl_phi_beat(&p, now);
	assert_true(kvl_phi(&p, now + 3000) < KVL_PHI_DOWN);
	assert_true(kvl_phi(&p, now + 6000) > KVL_PHI_DOWN);
}

/* A day's absence does not make the next one take a day to notice. */
static void test_absence_teaches_nothing(void **state)
{
	beats(20, 2000, 0);
	kvl_phi_beat(&p, now += 86400000);
	assert_true(kvl_phi(&p, now + 6000) > KVL_PHI_DOWN);
	kvl_phi_beat(&p, now - 1000); /* a clock that stepped back is ignored */
	assert_true(kvl_phi(&p, now) == 0);
}

#define TEST(f) cmocka_unit_test_setup(f, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_never_heard),
		TEST(test_formula),
		TEST(test_rises_to_its_bound),
		TEST(test_one_lost_report_is_no_death),
		TEST(test_adapts_to_jitter),
		TEST(test_before_it_has_learnt),
		TEST(test_absence_teaches_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

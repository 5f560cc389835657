/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "lib/score/profile.h"

static void test_schedule(void **state)
{
	struct kvl_schedule s = {.count = 2};

	s.entries[0] = (struct kvl_schedule_entry){8 * 60, KVL_PROFILE_READ_HEAVY};
	s.entries[1] = (struct kvl_schedule_entry){20 * 60, KVL_PROFILE_WRITE_HEAVY};
	assert_int_equal(kvl_schedule_check(&s), 0);
	assert_int_equal(kvl_schedule_at(&s, 0), KVL_PROFILE_WRITE_HEAVY);
	assert_int_equal(kvl_schedule_at(&s, 8 * 60 - 1), KVL_PROFILE_WRITE_HEAVY);
	assert_int_equal(kvl_schedule_at(&s, 8 * 60), KVL_PROFILE_READ_HEAVY);
	assert_int_equal(kvl_schedule_at(&s, 20 * 60 - 1), KVL_PROFILE_READ_HEAVY);
	assert_int_equal(kvl_schedule_at(&s, KVL_DAY_MINUTES - 1), KVL_PROFILE_WRITE_HEAVY);
}

static void test_schedule_check(void **state)
{
	struct kvl_schedule s = {.count = 0};

	assert_int_equal(kvl_schedule_check(&s), -EINVAL);
	s.count = 2; /* both from minute 0 */
	assert_int_equal(kvl_schedule_check(&s), -EINVAL);
	s.entries[1].from_minute = KVL_DAY_MINUTES;
	assert_int_equal(kvl_schedule_check(&s), -EINVAL);
	s.entries[1].from_minute = 1;
	assert_int_equal(kvl_schedule_check(&s), 0);
}

/* Counts one second after the other; returns how often the profile changed. */
static int run(
	struct kvl_profile_auto *p, uint64_t *now, int seconds, uint64_t reads, uint64_t writes)
{
	int changes = 0;

	for (int i = 0; i < seconds; i++)
		changes += kvl_profile_auto_count(p, reads, writes, *now += 1000);
	return changes;
}

static void test_auto_follows(void **state)
{
	struct kvl_profile_auto p;
	uint64_t now = 1000;

	kvl_profile_auto_init(&p, now);
	assert_int_equal(run(&p, &now, 600, 900, 100), 0);
	assert_false(p.write_heavy);
	assert_int_equal(run(&p, &now, 900, 100, 900), 1);
	assert_true(p.write_heavy);
	assert_int_equal(run(&p, &now, 900, 900, 100), 1);
	assert_false(p.write_heavy);
}

/* The middle decides nothing, whichever side one comes from. */
static void test_auto_hysteresis(void **state)
{
	struct kvl_profile_auto p;
	uint64_t now = 1000;

	kvl_profile_auto_init(&p, now);
	run(&p, &now, 1200, 450, 550);
	assert_false(p.write_heavy);
	run(&p, &now, 1200, 100, 900);
	assert_true(p.write_heavy);
	assert_int_equal(run(&p, &now, 1200, 550, 450), 0);
	assert_true(p.write_heavy);
}

/* The worst input: full swings of any period. Never more than one change in 5 minutes. */
static void test_auto_cannot_oscillate(void **state)
{
	for (int period = 1; period <= 1800; period = period * 3 / 2 + 1) {
		struct kvl_profile_auto p;
		uint64_t now = 1000;
		int changes = 0, seconds = 4 * 3600;

		kvl_profile_auto_init(&p, now);
		for (int s = 0; s < seconds; s += period)
			changes += run(&p, &now, period, (s / period) % 2 ? 1000 : 0,
				(s / period) % 2 ? 0 : 1000);
		assert_true(changes <= seconds / 300);
		if (period <= 60)
			assert_true(changes <= 1);
	}
}

static void test_auto_few_decide_nothing(void **state)
{
	struct kvl_profile_auto p;
	uint64_t now = 1000;

	kvl_profile_auto_init(&p, now);
	assert_int_equal(run(&p, &now, 3600, 0, 2), 0);
	kvl_profile_auto_count(&p, 0, 0, now += UINT64_C(1) << 40); /* a long sleep */
	assert_true(p.writes < 1);
}

static void test_text(void **state)
{
	static const char *const good[] = {"read-heavy", "write-heavy", "auto", "00:00=write-heavy",
		"00:00=read-heavy,08:30=write-heavy,23:59=read-heavy"};
	static const char *const bad[] = {"", "heavy", "auto ", "8:00=read-heavy",
		"24:00=read-heavy", "08:60=read-heavy", "08:00=auto", "08:00", "08:00=read-heavy,",
		"0a:00=read-heavy", "09:00=read-heavy,08:00=write-heavy",
		"08:00=read-heavy,08:00=write-heavy"};
	char text[KVL_PROFILE_TEXT], longest[2 * KVL_PROFILE_TEXT] = "";
	struct kvl_profile_rule rule;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(kvl_profile_parse(good[i], &rule), 0);
		assert_string_equal(kvl_profile_format(&rule, text), good[i]);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (kvl_profile_parse(bad[i], &rule) == 0)
			fail_msg("taken: %s", bad[i]);
		assert_int_equal(rule.schedule.count, 3); /* as it was */
	}
	for (int h = 0; h < KVL_SCHEDULE_MAX; h++)
		sprintf(longest + strlen(longest), "%s%02d:59=write-heavy", h ? "," : "", h);
	assert_int_equal(kvl_profile_parse(longest, &rule), 0);
	assert_string_equal(kvl_profile_format(&rule, text), longest);
	strcat(longest, ",23:59=read-heavy");
	assert_int_equal(kvl_profile_parse(longest, &rule), -EINVAL);
}

/* A rule may change at any time; what was counted is not lost by it. */
static void test_follow(void **state)
{
	struct kvl_profile_rule rule;
	struct kvl_profile_state p = {0};
	uint64_t now = 1000;

	kvl_profile_begin(&p, now);
	kvl_profile_parse("write-heavy", &rule);
	assert_true(kvl_profile_follow(&p, &rule, 0, 0, 0, now += 1000));
	assert_int_equal(p.active, KVL_PROFILE_WRITE_HEAVY);
	assert_int_equal(p.since_ms, now);
	assert_false(kvl_profile_follow(&p, &rule, 0, 0, 0, now += 1000));
	kvl_profile_parse("08:00=read-heavy,20:00=write-heavy", &rule);
	assert_true(kvl_profile_follow(&p, &rule, 0, 0, 720, now += 1000));
	assert_true(kvl_profile_follow(&p, &rule, 0, 0, 1200, now += 1000));
	for (int i = 0; i < 600; i++)
		kvl_profile_follow(&p, &rule, 100, 900, 720, now += 1000);
	assert_int_equal(p.active, KVL_PROFILE_READ_HEAVY);
	kvl_profile_parse("auto", &rule);
	assert_true(kvl_profile_follow(&p, &rule, 0, 0, 720, now += 1000));
	assert_int_equal(p.active, KVL_PROFILE_WRITE_HEAVY);
	assert_true(fabs(kvl_profile_auto_share(&p.counted) - 0.1) < 1e-6);
	assert_ptr_equal(kvl_profile_weights(p.active), &kvl_weights_write_heavy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_schedule),
		cmocka_unit_test(test_schedule_check),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_follow),
		cmocka_unit_test(test_auto_follows),
		cmocka_unit_test(test_auto_hysteresis),
		cmocka_unit_test(test_auto_cannot_oscillate),
		cmocka_unit_test(test_auto_few_decide_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

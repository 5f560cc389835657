/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dataplane/track/wheel.h"

#define TIMERS 64

struct thing {
	struct kvl_timer timer;
	char rest[46];
};

static struct thing things[TIMERS];
static struct kvl_wheel wheel;

static int begin(void **state)
{
	kvl_wheel_init(&wheel, things, sizeof(things[0]), TIMERS);
	return 0;
}

/* Advances to the tick; returns how many expired. */
static uint32_t advance(uint32_t to)
{
	uint32_t expired[TIMERS];

	return kvl_wheel_advance(&wheel, to, expired, TIMERS);
}

static void fires_at_its_tick(void **state)
{
	kvl_wheel_arm(&wheel, 3, 10);
	assert_int_equal(advance(9), 0);
	assert_int_equal(advance(10), 1);
	assert_int_equal(advance(20000), 0);
}

static void disarmed_does_not_fire(void **state)
{
	kvl_wheel_arm(&wheel, 3, 10);
	kvl_wheel_disarm(&wheel, 3);
	assert_int_equal(advance(20), 0);
}

static void armed_again_fires_once_and_later(void **state)
{
	kvl_wheel_arm(&wheel, 3, 10);
	kvl_wheel_disarm(&wheel, 3);
	kvl_wheel_arm(&wheel, 3, 15);
	assert_int_equal(advance(14), 0);
	assert_int_equal(advance(15), 1);
	assert_int_equal(advance(9000), 0);
}

static void armed_again_for_earlier_fires_earlier(void **state)
{
	kvl_wheel_arm(&wheel, 3, 100);
	kvl_wheel_arm(&wheel, 3, 5);
	assert_int_equal(advance(5), 1);
	assert_int_equal(advance(200), 0);
}

static void deadline_beyond_a_lap(void **state)
{
	kvl_wheel_arm(&wheel, 1, 3 * KVL_WHEEL_BUCKETS + 7);
	assert_int_equal(advance(3 * KVL_WHEEL_BUCKETS + 6), 0);
	assert_int_equal(advance(3 * KVL_WHEEL_BUCKETS + 7), 1);
}

static void past_deadline_fires_next(void **state)
{
	advance(50);
	kvl_wheel_arm(&wheel, 1, 20);
	assert_int_equal(advance(51), 1);
}

static void ticks_wrap(void **state)
{
	wheel.now = UINT32_MAX - 5;
	kvl_wheel_arm(&wheel, 1, 4); /* ten ticks ahead */
	assert_int_equal(advance(3), 0);
	assert_int_equal(advance(4), 1);
}

static void limit_is_kept_and_none_is_lost(void **state)
{
	uint32_t expired[8], sum = 0, n;

	for (uint32_t i = 0; i < TIMERS; i++)
		kvl_wheel_arm(&wheel, i, 10 + i / 32);
	while ((n = kvl_wheel_advance(&wheel, 100, expired, 8)) != 0) {
		assert_in_range(n, 1, 8);
		sum += n;
	}
	assert_int_equal(sum, TIMERS);
	assert_int_equal(wheel.now, 100);
}

/* Against a list of deadlines: a million random steps. */
static void agrees_with_a_plain_list(void **state)
{
	uint32_t deadline[TIMERS] = {0}, expired[TIMERS], now = 0;

	srandom(7);
	for (unsigned int step = 0; step < 1000000; step++) {
		uint32_t i = random() % TIMERS, n, due = 0;

		switch (random() % 4) {
		case 0:
		case 1:
			deadline[i] = now + 1 + random() % (step % 5 == 0 ? 9000 : 60);
			kvl_wheel_arm(&wheel, i, deadline[i]);
			break;
		case 2:
			deadline[i] = 0;
			kvl_wheel_disarm(&wheel, i);
			break;
		default:
			now += random() % 10;
			n = kvl_wheel_advance(&wheel, now, expired, TIMERS);
			for (uint32_t k = 0; k < TIMERS; k++)
				due += deadline[k] != 0 && deadline[k] <= now;
			assert_int_equal(n, due);
			for (uint32_t k = 0; k < n; k++) {
				assert_in_range(deadline[expired[k]], 1, now);
				deadline[expired[k]] = 0;
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(fires_at_its_tick, begin),
		cmocka_unit_test_setup(disarmed_does_not_fire, begin),
		cmocka_unit_test_setup(armed_again_fires_once_and_later, begin),
		cmocka_unit_test_setup(armed_again_for_earlier_fires_earlier, begin),
		cmocka_unit_test_setup(deadline_beyond_a_lap, begin),
		cmocka_unit_test_setup(past_deadline_fires_next, begin),
		cmocka_unit_test_setup(ticks_wrap, begin),
		cmocka_unit_test_setup(limit_is_kept_and_none_is_lost, begin),
		cmocka_unit_test_setup(agrees_with_a_plain_list, begin),
	};

	return cmocka_run_group_tests_name("track/wheel", tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dataplane/track/sequences.h"

static struct kvl_sequence_pool pool;

static int begin(void **state)
{
	kvl_sequence_pool_init(&pool);
	return 0;
}

static void single_datagram_is_whole(void **state)
{
	struct kvl_sequences s = {0};

	assert_int_equal(kvl_sequences_add(&s, &pool, 0, 1), KVL_SEQUENCE_LAST);
	kvl_sequences_reset(&s, &pool);
	assert_int_equal(kvl_sequences_add(&s, &pool, 0, 0), KVL_SEQUENCE_LAST);
}

/* In any order, each with a duplicate: whole exactly when the last distinct one is there. */
static void whole_when_all_have_passed(void **state)
{
	static const uint16_t totals[] = {2, 3, 63, 64, 65, 128, 1000, 1024};

	srandom(5);
	for (unsigned int t = 0; t < sizeof(totals) / sizeof(totals[0]); t++) {
		uint16_t total = totals[t], order[1024];
		struct kvl_sequences s = {0};

		for (uint16_t i = 0; i < total; i++)
			order[i] = i;
		for (uint16_t i = total - 1; i > 0; i--) {
			uint16_t k = random() % (i + 1), swap = order[i];

			order[i] = order[k];
			order[k] = swap;
		}
		for (uint16_t i = 0; i < total; i++) {
			assert_int_equal(kvl_sequences_add(&s, &pool, order[i], total),
				i == total - 1 ? KVL_SEQUENCE_LAST : KVL_SEQUENCE_MORE);
			assert_int_equal(kvl_sequences_add(&s, &pool, order[i], total),
				KVL_SEQUENCE_DUPLICATE);
		}
		kvl_sequences_reset(&s, &pool);
		assert_int_equal(pool.free_count, KVL_SEQUENCES_BITMAPS);
	}
}

static void total_may_not_change(void **state)
{
	struct kvl_sequences s = {0};

	assert_int_equal(kvl_sequences_add(&s, &pool, 0, 5), KVL_SEQUENCE_MORE);
	assert_int_equal(kvl_sequences_add(&s, &pool, 1, 6), KVL_SEQUENCE_TOTAL);
	assert_int_equal(kvl_sequences_add(&s, &pool, 0, 1), KVL_SEQUENCE_TOTAL);
	assert_int_equal(kvl_sequences_add(&s, &pool, 1, 5), KVL_SEQUENCE_MORE);
}

static void total_is_bounded(void **state)
{
	struct kvl_sequences s = {0};

	assert_int_equal(
		kvl_sequences_add(&s, &pool, 0, KVL_SEQUENCES_MAX + 1), KVL_SEQUENCE_TOTAL);
	assert_int_equal(kvl_sequences_add(&s, &pool, 0, UINT16_MAX), KVL_SEQUENCE_TOTAL);
}

static void used_up_pool_lets_pass(void **state)
{
	struct kvl_sequences all[KVL_SEQUENCES_BITMAPS + 1] = {0};

	for (unsigned int i = 0; i < KVL_SEQUENCES_BITMAPS; i++)
		assert_int_equal(kvl_sequences_add(&all[i], &pool, 0, 100), KVL_SEQUENCE_MORE);
	assert_int_equal(kvl_sequences_add(&all[KVL_SEQUENCES_BITMAPS], &pool, 0, 100),
		KVL_SEQUENCE_UNTRACKED);
	/* Small ones need no bitmap. */
	kvl_sequences_reset(&all[KVL_SEQUENCES_BITMAPS], &pool);
	assert_int_equal(
		kvl_sequences_add(&all[KVL_SEQUENCES_BITMAPS], &pool, 0, 64), KVL_SEQUENCE_MORE);
	for (unsigned int i = 0; i <= KVL_SEQUENCES_BITMAPS; i++)
		kvl_sequences_reset(&all[i], &pool);
	assert_int_equal(pool.free_count, KVL_SEQUENCES_BITMAPS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(single_datagram_is_whole, begin),
		cmocka_unit_test_setup(whole_when_all_have_passed, begin),
		cmocka_unit_test_setup(total_may_not_change, begin),
		cmocka_unit_test_setup(total_is_bounded, begin),
		cmocka_unit_test_setup(used_up_pool_lets_pass, begin),
	};

	return cmocka_run_group_tests_name("track/sequences", tests, NULL, NULL);
}

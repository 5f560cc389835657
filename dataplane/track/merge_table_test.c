/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dataplane/track/merge_table.h"

static struct kvl_merge_table table;

static int table_make(void **state)
{
	const struct kvl_merge_params params = {.merges = 3, .parts = 10, .chunks = 40};
	void *memory = aligned_alloc(64, (kvl_merge_table_size(&params) + 63) & ~63ul);

	kvl_merge_table_init(&table, memory, &params);
	*state = memory;
	return 0;
}

static int table_drop(void **state)
{
	free(*state);
	return 0;
}

static void merges_and_parts_are_bounded(void **state)
{
	uint32_t m[3];

	m[0] = kvl_merge_take(&table, 4);
	m[1] = kvl_merge_take(&table, 4);
	assert_int_equal(kvl_merge_take(&table, 3), KVL_MERGE_NONE);
	m[2] = kvl_merge_take(&table, 2);
	assert_int_not_equal(m[2], KVL_MERGE_NONE);
	assert_int_equal(kvl_merge_take(&table, 0), KVL_MERGE_NONE);
	for (unsigned int i = 0; i < 4; i++)
		kvl_merge_part_add(&table, kvl_merge_at(&table, m[1]));
	kvl_merge_free(&table, m[1]);
	assert_int_equal(kvl_merge_take(&table, 4), m[1]);
	assert_int_equal(kvl_merge_at(&table, m[1])->head, KVL_PART_NONE);
}

static void parts_keep_their_order(void **state)
{
	struct kvl_merge *m = kvl_merge_at(&table, kvl_merge_take(&table, 10));
	uint32_t want[5], at;

	for (unsigned int round = 0; round < 3; round++) {
		for (unsigned int i = 0; i < 5; i++)
			want[i] = kvl_merge_part_add(&table, m);
		at = m->head;
		for (unsigned int i = 0; i < 5; i++, at = table.parts[at].next)
			assert_int_equal(at, want[i]);
		assert_int_equal(at, KVL_PART_NONE);
		kvl_merge_parts_free(&table, m);
	}
}

/* Datagrams in any order, each of some chunks, are read back in their sequence. */
static void datagrams_in_any_order(void **state)
{
	static const uint16_t orders[][4] = {
		{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}, {2, 0, 3, 1}};
	struct kvl_merge *m = kvl_merge_at(&table, kvl_merge_take(&table, 1));
	uint8_t data[4][600], whole[2400], back[2400];

	for (unsigned int i = 0; i < sizeof(whole); i++)
		whole[i] = i * 7 + i / 256;
	for (unsigned int o = 0; o < 4; o++) {
		struct kvl_part *part = &table.parts[kvl_merge_part_add(&table, m)];

		memcpy(data, whole, sizeof(whole));
		for (unsigned int i = 0; i < 4; i++)
			assert_true(
				kvl_part_keep(&table, part, orders[o][i], data[orders[o][i]], 600));
		assert_int_equal(table.chunks_used, 12);
		assert_int_equal(kvl_part_size(&table, part), 2400);
		assert_int_equal(kvl_part_read(&table, part, 0, 9999, back), 2400);
		assert_memory_equal(back, whole, 2400);
		for (unsigned int off = 0; off < 2400; off += 97) {
			assert_int_equal(kvl_part_read(&table, part, off, 50, back),
				off + 50 <= 2400 ? 50 : 2400 - off);
			assert_memory_equal(back, whole + off, off + 50 <= 2400 ? 50 : 2400 - off);
		}
		kvl_merge_parts_free(&table, m);
		assert_int_equal(table.chunks_used, 0);
	}
}

static void chunks_are_bounded(void **state)
{
	static uint8_t data[50 * KVL_CHUNK_DATA];
	struct kvl_merge *m = kvl_merge_at(&table, kvl_merge_take(&table, 2));
	struct kvl_part *a = &table.parts[kvl_merge_part_add(&table, m)];
	struct kvl_part *b = &table.parts[kvl_merge_part_add(&table, m)];

	assert_false(kvl_part_keep(&table, a, 0, data, sizeof(data)));
	assert_int_equal(table.chunks_used, 0);
	assert_true(kvl_part_keep(&table, a, 0, data, 39 * KVL_CHUNK_DATA));
	assert_false(kvl_part_keep(&table, b, 0, data, KVL_CHUNK_DATA + 1));
	assert_true(kvl_part_keep(&table, b, 0, data, KVL_CHUNK_DATA));
	assert_true(kvl_part_keep(&table, b, 1, data, 0));
	assert_false(kvl_part_keep(&table, b, 1, data, 1));
	kvl_part_forget(&table, a);
	kvl_part_forget(&table, a);
	assert_int_equal(table.chunks_used, 1);
	assert_true(kvl_part_keep(&table, b, 1, data, 39 * KVL_CHUNK_DATA));
	assert_int_equal(kvl_part_size(&table, b), 40 * KVL_CHUNK_DATA);
}

static void ready_queue(void **state)
{
	uint32_t m[3];

	for (unsigned int i = 0; i < 3; i++)
		m[i] = kvl_merge_take(&table, 1);
	assert_int_equal(kvl_merge_next_ready(&table), KVL_MERGE_NONE);
	kvl_merge_ready(&table, m[1]);
	kvl_merge_ready(&table, m[0]);
	kvl_merge_ready(&table, m[1]);
	assert_int_equal(kvl_merge_next_ready(&table), m[1]);
	kvl_merge_ready(&table, m[2]);
	kvl_merge_ready(&table, m[1]);
	assert_int_equal(kvl_merge_next_ready(&table), m[0]);
	assert_int_equal(kvl_merge_next_ready(&table), m[2]);
	assert_int_equal(kvl_merge_next_ready(&table), m[1]);
	assert_int_equal(kvl_merge_next_ready(&table), KVL_MERGE_NONE);
}

static void conflicts(void **state)
{
	struct kvl_merge *m = kvl_merge_at(&table, kvl_merge_take(&table, 1));
	const uint64_t a = 0x123456789abcdef0, b = ~a;

	assert_false(kvl_merge_conflict(m, a, true));
	kvl_merge_note(m, a, false);
	assert_false(kvl_merge_conflict(m, a, false));
	assert_true(kvl_merge_conflict(m, a, true));
	assert_false(kvl_merge_conflict(m, b, true));
	kvl_merge_note(m, b, true);
	assert_true(kvl_merge_conflict(m, b, false));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, table_make, table_drop)
	const struct CMUnitTest tests[] = {
		TEST(merges_and_parts_are_bounded),
		TEST(parts_keep_their_order),
		TEST(datagrams_in_any_order),
		TEST(chunks_are_bounded),
		TEST(ready_queue),
		TEST(conflicts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

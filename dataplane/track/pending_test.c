/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dataplane/track/pending.h"

static struct kvl_pending pending;
static void *memory;

static void table_begin(const struct kvl_pending_params *params)
{
	size_t size = kvl_pending_size(params);

	assert_true(size > 0);
	free(memory);
	memory = aligned_alloc(64, (size + 63) & ~(size_t)63);
	assert_non_null(memory);
	memset(memory, 0, size);
	assert_int_equal(kvl_pending_init(&pending, memory, params), 0);
}

static int end(void **state)
{
	free(memory);
	memory = NULL;
	return 0;
}

/* slots, first port, ports, worker, workers */
static const struct kvl_pending_params shapes[] = {
	{1024, 16384, 16384, 0, 1},
	{1024, 16384, 16384, 4, 5},
	{65536, 16384, 16384, 0, 1},
	{65536, 16384, 16384, 7, 8},
	{1u << 20, 16384, 16384, 3, 4},
	{1u << 18, 32768, 1024, 1, 2},
};

/* Whatever the shape: port and id lead back to slot, generation and owner, and to nothing else. */
static void wire_value_leads_back(void **state)
{
	srandom(3);
	for (unsigned int i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		table_begin(&shapes[i]);
		for (unsigned int k = 0; k < 20000; k++) {
			uint32_t slot = random() % shapes[i].slots;
			uint16_t generation = random() & pending.generation_mask, back;
			struct kvl_wire_id wire;

			pending.slots[slot].generation = generation;
			wire = kvl_pending_wire(&pending, slot);
			assert_true(kvl_pending_is_snat(&pending, wire.port));
			assert_in_range(wire.port, shapes[i].port_first,
				shapes[i].port_first + shapes[i].port_count - 1);
			assert_int_equal(kvl_pending_owner(&pending, wire.port), shapes[i].worker);
			assert_int_equal(
				kvl_pending_slot(&pending, wire.port, wire.id, &back), slot);
			assert_int_equal(back, generation);
		}
	}
}

static void any_wire_value_stays_in_the_table(void **state)
{
	for (unsigned int i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		table_begin(&shapes[i]);
		for (unsigned int k = 0; k < 100000; k++) {
			uint16_t generation;

			assert_true(kvl_pending_slot(&pending, random(), random(), &generation)
				    < shapes[i].slots);
		}
	}
}

static void shapes_without_room_are_refused(void **state)
{
	static const struct kvl_pending_params bad[] = {
		{1000, 16384, 16384, 0, 1}, /* not a power of two */
		{512, 16384, 16384, 0, 1}, {1u << 21, 16384, 16384, 0, 1},
		{65536, 16385, 16384, 0, 1},                             /* not on its boundary */
		{65536, 16384, 1000, 0, 1}, {65536, 16384, 16384, 1, 1}, /* no such worker */
		{65536, 16384, 16384, 0, 0},
		{1u << 20, 16384, 1024, 0, 32}, /* one bit left for the generation */
	};

	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(kvl_pending_size(&bad[i]), 0);
}

static void every_slot_is_taken_once(void **state)
{
	uint8_t seen[1024] = {0};

	table_begin(&shapes[0]);
	for (unsigned int i = 0; i < 1024; i++) {
		uint32_t slot = kvl_pending_take(&pending);

		assert_in_range(slot, 0, 1023);
		assert_int_equal(seen[slot % 1024]++, 0);
	}
	assert_int_equal(kvl_pending_take(&pending), KVL_SLOT_NONE);
}

static void answered_to_the_head_abandoned_to_the_tail(void **state)
{
	uint32_t a, b;

	table_begin(&shapes[0]);
	a = kvl_pending_take(&pending);
	b = kvl_pending_take(&pending);
	kvl_pending_abandon(&pending, a);
	kvl_pending_answered(&pending, b);
	assert_int_equal(kvl_pending_take(&pending), b);
	for (unsigned int i = 0; i < 1022; i++)
		assert_int_not_equal(kvl_pending_take(&pending), a);
	assert_int_equal(kvl_pending_take(&pending), a);
	assert_int_equal(pending.slots[a].generation, 1);
	assert_int_equal(pending.slots[b].generation, 0);
}

static void generation_wraps_within_what_travels(void **state)
{
	table_begin(&shapes[4]); /* 2^20 slots, 4 workers: 8 bits */
	for (unsigned int i = 0; i < 256; i++) {
		assert_int_equal(pending.slots[5].generation, i);
		/* As if taken: abandon needs a place in the free list only. */
		pending.free_count--;
		kvl_pending_abandon(&pending, 5);
	}
	assert_int_equal(pending.slots[5].generation, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wire_value_leads_back),
		cmocka_unit_test(any_wire_value_stays_in_the_table),
		cmocka_unit_test(shapes_without_room_are_refused),
		cmocka_unit_test(every_slot_is_taken_once),
		cmocka_unit_test(answered_to_the_head_abandoned_to_the_tail),
		cmocka_unit_test(generation_wraps_within_what_travels),
	};

	return cmocka_run_group_tests_name("track/pending", tests, NULL, end);
}

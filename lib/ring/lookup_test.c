/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/ring/internal.h"
#include "lib/ring/lookup.h"

/* The search on tokens that no hash would ever give: at the ends of buckets, equal, crowded. */
#define TOKENS_MAX 16

struct block {
	struct kvl_placement p;
	uint32_t index[4];
	uint64_t value[TOKENS_MAX + KVL_TOKEN_SENTINELS];
};

#define QUARTER (1ull << 62)

static const uint64_t rings[][TOKENS_MAX] = {
	{1, 0},
	{1, UINT64_MAX},
	{2, 0, UINT64_MAX},
	{4, 0, QUARTER, 2 * QUARTER, 3 * QUARTER},
	{3, QUARTER - 1, QUARTER, QUARTER + 1},
	{5, 7, 7, 7, 7, 8},
	{3, UINT64_MAX, UINT64_MAX, UINT64_MAX},
	{8, 1, 2, 3, 4, 5, 6, 7, 8},
	{8, 3 * QUARTER, 3 * QUARTER + 1, 3 * QUARTER + 2, 3 * QUARTER + 3, 3 * QUARTER + 4,
		3 * QUARTER + 5, 3 * QUARTER + 6, 3 * QUARTER + 7},
};

static void block_make(struct block *b, const uint64_t *values, uint32_t count)
{
	*b = (struct block){
		.p =
			{
				.index_shift = 62,
				.token_count = count,
				.index_at = offsetof(struct block, index),
				.token_at = offsetof(struct block, value),
			},
	};
	for (uint32_t i = 0; i < TOKENS_MAX + KVL_TOKEN_SENTINELS; i++)
		b->value[i] = i < count ? values[i] : UINT64_MAX;
	index_fill(b->index, 62, b->value, count);
}

static uint32_t first_at_or_above(const uint64_t *values, uint32_t count, uint64_t hash)
{
	for (uint32_t i = 0; i < count; i++)
		if (values[i] >= hash)
			return i;
	return 0;
}

static void test_find(void **state)
{
	struct block b;

	for (size_t r = 0; r < sizeof(rings) / sizeof(rings[0]); r++) {
		const uint64_t *values = rings[r] + 1;
		const uint32_t count = (uint32_t)rings[r][0];

		block_make(&b, values, count);
		for (uint64_t q = 0; q < 4; q++)
			for (uint64_t hash = q * QUARTER - 12; hash != q * QUARTER + 12; hash++)
				assert_int_equal(kvl_placement_find(&b.p, hash),
					first_at_or_above(values, count, hash));
	}
}

/* The index must point at a token that stands exactly at its bucket's start, not behind it. */
static void test_index(void **state)
{
	static const uint64_t values[] = {0, QUARTER, QUARTER, 3 * QUARTER};
	static const uint32_t want[] = {0, 1, 3, 3};
	uint32_t index[4];

	index_fill(index, 62, values, 4);
	assert_memory_equal(index, want, sizeof(want));
	index_fill(index, 62, values, 3);
	assert_int_equal(index[3], 3); /* past the last: the sentinel */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_index),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

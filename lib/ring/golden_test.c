/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/ring/hash.h"
#include "lib/ring/internal.h"
#include "lib/ring/lookup.h"

/*
 * Golden vectors (SPEC 2.1): a change here moves every key of every fleet. Made by a separate
 * program in another language from the encodings in placement.h, with the reference library's
 * XXH3_64bits_withSeed(); the empty key's hash is the one the xxHash project publishes.
 */
static void test_key_hash(void **state)
{
	static const struct {
		const char *key;
		uint64_t seed0, seed42;
	} golden[] = {
		{"", 0x2d06800538d394c2, 0xb029411ff43d84d2},
		{"a", 0xe6c632b61e964e1f, 0x4c437dd47f0716f4},
		{"key", 0xbbea0d63a05165e3, 0x67197794b225585e},
		{"user:1:profile", 0xd2b5411a2b25ff39, 0xae1e7a1cbbf838ce},
	};
	char longest[250]; /* memcached's key limit */

	for (size_t i = 0; i < sizeof(golden) / sizeof(golden[0]); i++) {
		const char *key = golden[i].key;

		assert_int_equal(kvl_key_hash(key, strlen(key), 0), golden[i].seed0);
		assert_int_equal(kvl_key_hash(key, strlen(key), 42), golden[i].seed42);
	}
	memset(longest, 'x', sizeof(longest));
	assert_int_equal(kvl_key_hash(longest, sizeof(longest), 0), 0xd915419fe826136d);
	assert_int_equal(kvl_key_hash(longest, sizeof(longest), 42), 0xbb4e62085a08b28e);
}

static struct kvl_placement *one_node(const char *id, uint32_t weight, uint64_t seed)
{
	const struct kvl_placement_params params = {
		.kind = KVL_PLACE_RING, .replication = 1, .vnodes = 100, .seed = seed};
	const struct kvl_member member = {
		.id = id, .host = "", .zone = "", .weight = weight, .number = 0};

	return kvl_placement_build(&params, &member, 1);
}

static void token_expect(const char *id, uint32_t weight, uint64_t seed, uint64_t want)
{
	struct kvl_placement *p = one_node(id, weight, seed);

	assert_int_equal(kvl_placement_token(p, kvl_placement_find(p, want)), want);
	free(p);
}

static void test_tokens(void **state)
{
	token_expect("mc-1", 1, 0, 0x763a5f85cb0cac4d);   /* index 0 */
	token_expect("mc-1", 160, 0, 0x910321d213100164); /* index 159 */
	token_expect("mc-1", 257, 0, 0x573501cac7200c0d); /* index 256: the second byte */
	token_expect("mc-1", 1, 42, 0xe27a460dbd72b883);
	token_expect("mc-11", 1, 0, 0xe0d2c5ad66932dfc);
}

static void test_placement(void **state)
{
	static const struct kvl_placement_params params = {
		.kind = KVL_PLACE_RING, .replication = 2, .vnodes = 4, .seed = 42};
	static const struct kvl_member members[] = {
		{"mc-a", "h1", "z1", 100, 0, ""},
		{"mc-b", "h1", "z2", 50, 1, ""},
		{"mc-c", "h2", "z1", 200, 2, ""},
		{"mc-d", "", "z3", 100, 3, ""},
	};
	static const struct {
		uint64_t value;
		uint16_t node[4];
	} golden[] = {
		{0x0dc6280a9ebeb25c, {2, 1, 3, 0}},
		{0x1a91ad4da8d1d6b0, {1, 2, 3, 0}},
		{0x1fd429e4acaf5365, {2, 3, 0, 1}},
		{0x214ba719a041b96e, {2, 3, 0, 1}},
		{0x2bf0c85c43183d11, {2, 3, 0, 1}},
		{0x316d57ea9642e81e, {2, 3, 0, 1}},
		{0x5589f73ef4acddaf, {3, 0, 2, 1}},
		{0x5d5774cc07162b5d, {3, 0, 2, 1}},
		{0x9c588c8b3c1c08d7, {0, 3, 2, 1}},
		{0xb242f643092db8b5, {3, 2, 0, 1}},
		{0xb623d935fa6dbf0f, {2, 1, 3, 0}},
		{0xbe36c54613090f5f, {0, 3, 2, 1}},
		{0xd0d52ad4ebcfdd17, {2, 1, 3, 0}},
		{0xd88400b113458e7d, {1, 3, 2, 0}},
		{0xd9dcd83e9c9d9a74, {0, 3, 2, 1}},
		{0xebb7f09164a03820, {0, 3, 2, 1}},
		{0xec6652ee84f93300, {3, 2, 1, 0}},
		{0xf8e7965642b21158, {2, 1, 3, 0}},
	};
	struct kvl_placement *p = kvl_placement_build(&params, members, 4);

	assert_int_equal(kvl_placement_tokens(p), sizeof(golden) / sizeof(golden[0]));
	for (uint32_t t = 0; t < kvl_placement_tokens(p); t++) {
		assert_int_equal(kvl_placement_token(p, t), golden[t].value);
		assert_memory_equal(kvl_placement_row(p, t)->node, golden[t].node, 8);
	}
	assert_int_equal(kvl_placement_digest(p), 0xdabbee0c233d74d7);
	free(p);
}

/* Two tokens of one value: the lower id's comes first. No such pair is known, so the order is
 * asked of the comparison itself; owners are in id order. */
static void test_collision(void **state)
{
	const struct token low = {.value = 7, .owner = 1}, high = {.value = 7, .owner = 2};
	const struct token larger = {.value = UINT64_MAX, .owner = 0};

	assert_true(token_compare(&low, &high) < 0);
	assert_true(token_compare(&high, &low) > 0);
	assert_true(token_compare(&low, &low) == 0);
	assert_true(token_compare(&high, &larger) < 0);
	assert_true(token_compare(&larger, &high) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_key_hash),
		cmocka_unit_test(test_tokens),
		cmocka_unit_test(test_placement),
		cmocka_unit_test(test_collision),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

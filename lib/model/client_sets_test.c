/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/model/client_sets.h"

static struct kvl_prefix prefix(const char *text)
{
	struct kvl_prefix p;

	assert_int_equal(kvl_prefix_parse(text, &p), 0);
	return p;
}

static uint64_t find(const struct kvl_client_sets *s, const char *address)
{
	struct kvl_addr a;

	assert_int_equal(kvl_addr_parse(address, &a), 0);
	return kvl_client_sets_find(s, &a);
}

/* A longer prefix of one service lies within a shorter one of another: both hold. */
static void overlapping_lists(void **state)
{
	const struct kvl_prefix a[] = {prefix("10.0.0.0/8"), prefix("2001:db8::/32")};
	const struct kvl_prefix b[] = {prefix("10.1.0.0/16"), prefix("10.1.0.0/16")};
	const struct kvl_prefix c[] = {prefix("10.1.2.3"), prefix("::/0")};
	const struct kvl_client_list lists[] = {{a, 2}, {b, 2}, {NULL, 0}, {c, 2}};
	struct kvl_client_sets *s = kvl_client_sets_new(lists, 4);

	assert_non_null(s);
	assert_int_equal(s->count, 5); /* the one given twice is there once */
	assert_int_equal(find(s, "10.2.0.1"), 1 << 0);
	assert_int_equal(find(s, "10.1.0.1"), 1 << 0 | 1 << 1);
	assert_int_equal(find(s, "10.1.2.3"), 1 << 0 | 1 << 1 | 1 << 3);
	assert_int_equal(find(s, "192.0.2.1"), 0);
	assert_int_equal(find(s, "2001:db8::1"), 1 << 0 | 1 << 3);
	assert_int_equal(find(s, "2001:db9::1"), 1 << 3);
	kvl_client_sets_free(s);
}

static void no_lists(void **state)
{
	const struct kvl_client_list lists[] = {{NULL, 0}, {NULL, 0}};
	struct kvl_client_sets *s = kvl_client_sets_new(lists, 2);

	assert_int_equal(s->count, 0);
	assert_int_equal(s->sets[KVL_CLIENT_SET_NOBODY], 0);
	kvl_client_sets_free(s);
}

static void same_or_not(void **state)
{
	const struct kvl_prefix a[] = {prefix("10.0.0.0/8")}, b[] = {prefix("10.0.0.0/9")};
	const struct kvl_client_list one = {a, 1}, other = {b, 1};
	struct kvl_client_sets *x = kvl_client_sets_new(&one, 1);
	struct kvl_client_sets *y = kvl_client_sets_new(&one, 1);
	struct kvl_client_sets *z = kvl_client_sets_new(&other, 1);

	assert_true(kvl_client_sets_same(x, y));
	assert_false(kvl_client_sets_same(x, z));
	kvl_client_sets_free(x);
	kvl_client_sets_free(y);
	kvl_client_sets_free(z);
}

static void too_many(void **state)
{
	const struct kvl_prefix p = prefix("10.0.0.0/8");
	struct kvl_client_list lists[65];

	for (size_t i = 0; i < 65; i++)
		lists[i] = (struct kvl_client_list){&p, 1};
	assert_null(kvl_client_sets_new(lists, 65));
	assert_int_equal(errno, E2BIG);
}

/* By what a set means, whatever the table: whether some prefix of the service's list fits. */
static void every_service_by_itself(void **state)
{
	static struct kvl_prefix p[8][16];
	struct kvl_client_list lists[8];
	struct kvl_client_sets *s;

	srandom(7);
	for (size_t i = 0; i < 8; i++) {
		lists[i] = (struct kvl_client_list){p[i], 16};
		for (size_t k = 0; k < 16; k++) {
			char text[KVL_PREFIX_STRLEN];

			/* few bits, so that they overlap */
			snprintf(text, sizeof(text), "10.%ld.%ld.0/%ld", random() % 4, random() % 4,
				8 + random() % 17);
			assert_int_not_equal(kvl_prefix_parse(text, &p[i][k]), -EINVAL);
		}
	}
	s = kvl_client_sets_new(lists, 8);
	for (uint32_t x = 0; x < 5 * 5 * 2; x++) {
		const struct kvl_prefix whole = {
			kvl_addr_from_v4(__builtin_bswap32(
				10u << 24 | x / 10 << 16 | x / 2 % 5 << 8 | x % 2)),
			128};
		uint64_t want = 0;

		for (size_t i = 0; i < 8; i++)
			for (size_t k = 0; k < 16; k++)
				if (kvl_prefix_covers(&p[i][k], &whole))
					want |= UINT64_C(1) << i;
		assert_int_equal(kvl_client_sets_find(s, &whole.address), want);
	}
	kvl_client_sets_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(overlapping_lists),
		cmocka_unit_test(no_lists),
		cmocka_unit_test(same_or_not),
		cmocka_unit_test(too_many),
		cmocka_unit_test(every_service_by_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/ring/tag.h"

static void part_is(struct kvl_hash_rule rule, const char *text, const char *want)
{
	const uint8_t *key = (const uint8_t *)text;
	size_t len = strlen(text);

	kvl_hash_part(&rule, &key, &len);
	assert_int_equal(len, strlen(want));
	assert_memory_equal(key, want, len);
}

static void tags(void **state)
{
	const struct kvl_hash_rule braces = {.open = '{', .close = '}', .on = 1};
	const struct kvl_hash_rule same = {.open = '$', .close = '$', .on = 1};

	part_is(braces, "user{42}name", "42");
	part_is(braces, "{42}", "42");
	part_is(braces, "a{1}{2}", "1");
	part_is(braces, "a{{1}}", "{1");
	part_is(braces, "a}b{c}", "c");
	part_is(braces, "a{}b", "a{}b");
	part_is(braces, "a{b", "a{b");
	part_is(braces, "a}b", "a}b");
	part_is(braces, "plain", "plain");
	part_is(same, "a$tag$b", "tag");
	part_is(same, "a$tag", "a$tag");
}

static void separators(void **state)
{
	const struct kvl_hash_rule colon = {.separator = ':', .on = 1};

	part_is(colon, "user:42:name", "user");
	part_is(colon, "user", "user");
	part_is(colon, ":user", ":user");
	part_is(colon, "user:", "user");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tags),
		cmocka_unit_test(separators),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "lib/model/rules.h"

static struct kvl_rule rule(const char *prefix, uint16_t target)
{
	struct kvl_rule r = {.len = (uint8_t)strlen(prefix), .target = target};

	memcpy(r.prefix, prefix, strlen(prefix));
	return r;
}

static int target_of(const struct kvl_rules *r, const char *key)
{
	unsigned int i = kvl_rules_match(r, (const uint8_t *)key, strlen(key));

	return i == KVL_RULE_NONE ? -1 : r->rules[i].target;
}

static void longest_prefix_wins(void **state)
{
	const struct kvl_rule rules[] = {rule("user:", 1), rule("u", 2), rule("user:42:", 3),
		rule("item", 4), rule("user:43", 5)};
	struct kvl_rules *r = malloc(kvl_rules_size(5));

	assert_int_equal(kvl_rules_build(r, rules, 5), 0);
	assert_int_equal(target_of(r, "user:7"), 1);
	assert_int_equal(target_of(r, "user:42:name"), 3);
	assert_int_equal(target_of(r, "user:42"), 1);
	assert_int_equal(target_of(r, "user:43"), 5);
	assert_int_equal(target_of(r, "ux"), 2);
	assert_int_equal(target_of(r, "u"), 2);
	assert_int_equal(target_of(r, "item"), 4);
	assert_int_equal(target_of(r, "ite"), -1);
	assert_int_equal(target_of(r, "\xff"), -1);
	assert_int_equal(target_of(r, "v"), -1);
	free(r);
}

static void bad_tables(void **state)
{
	const struct kvl_rule twice[] = {rule("a", 1), rule("b", 2), rule("a", 3)};
	const struct kvl_rule empty[] = {rule("", 1)};
	static struct kvl_rule many[KVL_RULES_MAX + 1];
	struct kvl_rules *r = malloc(kvl_rules_size(KVL_RULES_MAX + 1));

	assert_int_equal(kvl_rules_build(r, twice, 3), -EINVAL);
	assert_int_equal(kvl_rules_build(r, empty, 1), -EINVAL);
	assert_int_equal(kvl_rules_build(r, many, KVL_RULES_MAX + 1), -EINVAL);
	assert_int_equal(kvl_rules_build(r, NULL, 0), 0);
	assert_int_equal(target_of(r, "a"), -1);
	free(r);
}

/* Against a search through all of them. */
static void as_many_as_there_may_be(void **state)
{
	static struct kvl_rule rules[KVL_RULES_MAX];
	struct kvl_rules *r = malloc(kvl_rules_size(KVL_RULES_MAX));
	unsigned int hits = 0;

	srandom(3);
	for (unsigned int i = 0; i < KVL_RULES_MAX; i++) {
		char text[16];

		snprintf(text, sizeof(text), "%c%.*s%u", 'a' + (int)(random() % 4),
			(int)(random() % 3), "xy", i / 2);
		rules[i] = rule(text, (uint16_t)i);
		for (unsigned int k = 0; k < i; k++)
			if (rules[k].len == rules[i].len
				&& memcmp(rules[k].prefix, rules[i].prefix, rules[i].len) == 0)
				rules[i].prefix[rules[i].len++] = '!';
	}
	assert_int_equal(kvl_rules_build(r, rules, KVL_RULES_MAX), 0);
	for (unsigned int n = 0; n < 20000; n++) {
		char key[16];
		int want = -1;
		size_t best = 0;

		snprintf(key, sizeof(key), "%c%.*s%ld", 'a' + (int)(random() % 5),
			(int)(random() % 3), "xy", random() % 400);
		for (unsigned int i = 0; i < KVL_RULES_MAX; i++)
			if (rules[i].len <= strlen(key) && rules[i].len > best
				&& memcmp(rules[i].prefix, key, rules[i].len) == 0) {
				best = rules[i].len;
				want = rules[i].target;
			}
		assert_int_equal(target_of(r, key), want);
		hits += want >= 0;
	}
	assert_true(hits > 1000);
	free(r);
}

static unsigned int next(unsigned int below)
{
	return (unsigned int)random() % below;
}

/* Few letters, a zero byte among them, and long runs in common: all ties that there can be. */
static size_t string_make(uint8_t *out, size_t most)
{
	static const uint8_t letters[] = {'a', 'a', 'a', 'b', '\0'};
	size_t len = 1 + next((unsigned int)most);

	out[0] = 'a';
	for (size_t i = 1; i < len; i++)
		out[i] = i < 22 && next(30) != 0 ? 'a' : letters[next(5)];
	return len;
}

static void alike_to_the_last_byte(void **state)
{
	struct kvl_rules *r = malloc(kvl_rules_size(KVL_RULES_MAX));
	unsigned int hits = 0;

	srandom(5);
	for (unsigned int round = 0; round < 200; round++) {
		struct kvl_rule rules[KVL_RULES_MAX];
		unsigned int count = 0;

		memset(rules, 0, sizeof(rules));
		while (count < 40) {
			struct kvl_rule *fresh = &rules[count];
			bool known = false;

			memset(fresh, 0, sizeof(*fresh));
			fresh->len = (uint8_t)string_make(fresh->prefix, 40);
			fresh->target = (uint16_t)count;
			for (unsigned int i = 0; i < count; i++)
				known |= rules[i].len == fresh->len
					 && memcmp(rules[i].prefix, fresh->prefix, fresh->len) == 0;
			count += !known;
		}
		assert_int_equal(kvl_rules_build(r, rules, count), 0);
		for (unsigned int n = 0; n < 500; n++) {
			uint8_t key[64];
			size_t len = string_make(key, 50), best = 0;
			uint8_t *exact;
			unsigned int got;
			int want = -1;

			for (unsigned int i = 0; i < count; i++)
				if (rules[i].len <= len && rules[i].len > best
					&& memcmp(rules[i].prefix, key, rules[i].len) == 0) {
					best = rules[i].len;
					want = rules[i].target;
				}
			exact = malloc(len); /* what lies behind it must not matter */
			memcpy(exact, key, len);
			got = kvl_rules_match(r, exact, len);
			assert_int_equal(got == KVL_RULE_NONE ? -1 : r->rules[got].target, want);
			hits += want >= 0;
			free(exact);
		}
	}
	assert_true(hits > 1000);
	free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(longest_prefix_wins),
		cmocka_unit_test(bad_tables),
		cmocka_unit_test(as_many_as_there_may_be),
		cmocka_unit_test(alike_to_the_last_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/model/draft.h"
#include "lib/model/scoring_fields.h"

static char why[200], text[KVL_SCORING_TEXT];

static int set(struct kvl_scoring_config *c, const char *name, const char *value)
{
	int i = kvl_scoring_find(name, why, sizeof(why));

	return i < 0 ? i : kvl_scoring_set(c, (size_t)i, value, why, sizeof(why));
}

static const char *get(const struct kvl_scoring_config *c, const char *name)
{
	int i = kvl_scoring_find(name, why, sizeof(why));

	assert_true(i >= 0);
	return kvl_scoring_get(c, (size_t)i, text);
}

static void test_set(void **state)
{
	struct kvl_scoring_config c = scoring_default();

	assert_string_equal(get(&c, "cpu_threshold"), "0.7");
	assert_int_equal(set(&c, "cpu_threshold", "0.85"), 0);
	assert_string_equal(get(&c, "cpu_threshold"), "0.85");
	assert_string_equal(get(&c, "weights.load"), "profile");
	assert_int_equal(set(&c, "weights.load", "0.5"), 0);
	assert_string_equal(get(&c, "weights.load"), "0.5");
	assert_int_equal(set(&c, "weights.load", "profile"), 0);
	assert_true(isnan(c.weights.load));
	assert_int_equal(set(&c, "profile", "08:00=write-heavy"), 0);
	assert_string_equal(get(&c, "profile"), "08:00=write-heavy");
	assert_int_equal(set(&c, "model", "weighted"), 0);
	assert_int_equal(c.model, 1);
	assert_int_equal(set(&c, "choice", "best"), 0);
	assert_string_equal(get(&c, "choice"), "best");
	assert_int_equal(set(&c, "capability", "on"), 0);
	assert_true(c.capability);
}

/* What is refused changes nothing, not even itself. */
static void test_refused(void **state)
{
	static const char *const cases[][3] = {
		{"cpu_threshold", "85", "must be 0..1"},
		{"cpu_threshold", "-0.1", "must be 0..1"},
		{"cpu_threshold", "nan", "must be 0..1"},
		{"cpu_threshold", "0.5x", "must be 0..1"},
		{"cpu_threshold", "", "must be 0..1"},
		{"temperature", "0", "must be 0.001..10"},
		{"weights.hit", "inf", "must be 0..10, or profile"},
		{"model", "best", "must be penalty or weighted"},
		{"choice", "worst", "must be least, softmax, p2c or best"},
		{"capability", "true", "must be on or off"},
	};
	struct kvl_scoring_config c = scoring_default(), before = c;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(set(&c, cases[i][0], cases[i][1]), -EINVAL);
		assert_string_equal(why, cases[i][2]);
		assert_true(kvl_scoring_same(&c, &before));
	}
	assert_int_equal(set(&c, "cpu_treshold", "1"), -ENOENT);
	assert_string_equal(why, "unknown key; did you mean cpu_threshold?");
	assert_int_equal(set(&c, "weights", "1"), -ENOENT);
}

static void test_some_weight_is_left(void **state)
{
	struct kvl_scoring_config c = scoring_default();

	assert_int_equal(set(&c, "weights.capacity_free", "0"), 0);
	assert_int_equal(set(&c, "weights.load", "0"), 0);
	assert_int_equal(set(&c, "weights.latency", "0"), 0);
	assert_int_equal(kvl_scoring_check(&c, why, sizeof(why)), 0); /* the profile's */
	assert_int_equal(set(&c, "weights.hit", "0"), 0);
	assert_int_equal(kvl_scoring_check(&c, why, sizeof(why)), -EINVAL);
	assert_string_equal(
		why, "weights: capacity_free, load, latency and hit: one must be above 0");
	assert_int_equal(set(&c, "weights.load", "0.1"), 0);
	assert_int_equal(kvl_scoring_check(&c, why, sizeof(why)), 0);
}

/* Each field's own value is one that it takes; a copy differs in that field alone. */
static void test_every_field(void **state)
{
	size_t count = 0;

	for (const char *name; (name = kvl_scoring_name(count)) != NULL; count++) {
		static const char *const others[] = {
			"0.123", "weighted", "write-heavy", "best", "on"};
		struct kvl_scoring_config c = scoring_default(), to = c;
		char own[KVL_SCORING_TEXT];
		size_t changed = 0;

		strcpy(own, kvl_scoring_get(&c, count, text));
		assert_int_equal(set(&c, name, own), 0);
		assert_true(kvl_scoring_same(&c, &to));
		for (size_t k = 0; k < sizeof(others) / sizeof(others[0]); k++)
			changed += set(&c, name, others[k]) == 0;
		if (changed == 0)
			fail_msg("%s", name);
		assert_false(kvl_scoring_same(&c, &to));
		kvl_scoring_copy(&to, &c, count);
		assert_true(kvl_scoring_same(&c, &to));
	}
	assert_int_equal(count, 18);
	assert_null(kvl_scoring_name(count + 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_some_weight_is_left),
		cmocka_unit_test(test_every_field),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "lib/score/score.h"

static const struct kvl_capability a = {KVL_DISK_SSD, 10000, 0};
static const struct kvl_capability b = {KVL_DISK_HDD, 1000, 0};
static const struct kvl_capability c = {KVL_DISK_SSD, 1000, 0};

static double score_of(struct kvl_capability capability, unsigned int class)
{
	const struct kvl_fleet fleet = {KVL_UNKNOWN, KVL_UNKNOWN};
	struct kvl_score_params params = kvl_score_defaults();
	struct kvl_facts facts = kvl_facts_none();
	struct kvl_breakdown out;

	params.capability = &kvl_capability_default;
	facts.capability = capability;
	kvl_score(&params, &fleet, &facts, class, &out);
	return out.score;
}

static char best_of(unsigned int class)
{
	double sa = score_of(a, class), sb = score_of(b, class), sc = score_of(c, class);

	assert_true(sa != sb && sb != sc && sa != sc);
	return sa > sb && sa > sc ? 'A' : sb > sc ? 'B' : 'C';
}

/* SPEC 4.4's test. */
static void test_each_class_has_its_home(void **state)
{
	assert_int_equal(best_of(KVL_CLASS_WRITE | KVL_CLASS_HOT), 'A');
	assert_int_equal(best_of(KVL_CLASS_LARGE), 'C');
	assert_int_equal(best_of(KVL_CLASS_LARGE | KVL_CLASS_HOT), 'C');
	assert_int_equal(best_of(0), 'B');
	assert_int_equal(best_of(KVL_CLASS_WRITE), 'B');
}

static void test_unknown_is_neutral(void **state)
{
	for (unsigned int class = 0; class < KVL_CLASSES; class ++) {
		struct kvl_capability half = {KVL_DISK_SSD, 0, 0};

		assert_true(score_of(KVL_CAPABILITY_UNKNOWN, class) == 1);
		assert_true(score_of(half, class) == 1);
		assert_true(kvl_capability_affinity(NULL, &b, class) == 1);
	}
}

static void test_check(void **state)
{
	struct kvl_capability_tree tree = kvl_capability_default;

	assert_int_equal(kvl_capability_check(&tree), 0);
	tree.nodes[2].from = 2; /* a walk would never end */
	assert_int_equal(kvl_capability_check(&tree), -EINVAL);
	tree = kvl_capability_default;
	tree.nodes[0].below = tree.count;
	assert_int_equal(kvl_capability_check(&tree), -EINVAL);
	tree = kvl_capability_default;
	tree.nodes[1].affinity[3] = KVL_UNKNOWN;
	assert_int_equal(kvl_capability_check(&tree), -EINVAL);
	tree = kvl_capability_default;
	tree.count = 0;
	assert_int_equal(kvl_capability_check(&tree), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_class_has_its_home),
		cmocka_unit_test(test_unknown_is_neutral),
		cmocka_unit_test(test_check),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "lib/score/weights.h"

#define IN(score)                         \
	{                                 \
		(score), 1, KVL_FILTER_IN \
	}

static struct kvl_weights_params params;
static uint16_t w[4];

static int start(void **state)
{
	params = kvl_weights_defaults(3);
	params.temperature = 0.1;
	return 0;
}

static void test_softmax(void **state)
{
	const struct kvl_weighed nodes[] = {IN(0.9), IN(0.8), IN(0.7)};

	kvl_weights(&params, nodes, 3, 1, w);
	assert_int_equal(w[0], 65535);
	assert_int_equal(w[1], (int)(65535 * exp(-1) + 0.5));
	assert_int_equal(w[2], (int)(65535 * exp(-2) + 0.5));
}

/* SPEC 5.1: 90/89/88 must not send everything to one node. */
static void test_does_not_polarise(void **state)
{
	const struct kvl_weighed nodes[] = {IN(0.90), IN(0.89), IN(0.88)};

	kvl_weights(&params, nodes, 3, 1, w);
	assert_true(w[2] > 0.8 * w[0]);
}

/* `best` draws by the same weights: scores a thousandth apart at the bottom are in order still, and
 * those at the floor are equal. */
static void test_order_survives(void **state)
{
	const struct kvl_weighed nodes[] = {IN(1), IN(0.999), IN(0.004), IN(0)};

	params = kvl_weights_defaults(3);
	kvl_weights(&params, nodes, 4, 1, w);
	assert_true(w[0] > w[1] && w[1] > w[2] && w[2] > w[3]);
	assert_true(w[3] > kvl_weights_floor(&params));
	params.min_share = 0.01;
	kvl_weights(&params, nodes, 4, 1, w);
	assert_true(w[0] > w[1]);
	assert_int_equal(w[2], w[3]);
	assert_int_equal(w[3], kvl_weights_floor(&params));
}

/* In a draw against two nodes at their best it gets the minimum share, and not noticeably more. */
static void test_minimum_share(void **state)
{
	const struct kvl_weighed nodes[] = {IN(1), IN(1), IN(0)};
	double share;

	params.min_share = 0.01;
	kvl_weights(&params, nodes, 3, 1, w);
	share = (double)w[2] / (w[0] + w[1] + w[2]);
	assert_true(share >= 0.01 && share < 0.0101);
	params.min_share = 0;
	params.temperature = 0.01;
	kvl_weights(&params, nodes, 3, 1, w);
	assert_int_equal(w[2], 1); /* 0 is the filter's alone */
}

static void test_the_filter_alone_gives_zero(void **state)
{
	for (unsigned int reason = 0; reason < KVL_FILTER_COUNT; reason++) {
		const struct kvl_weighed nodes[] = {IN(1), {0, 0, reason}, {NAN, 1, reason}};

		kvl_weights(&params, nodes, 3, 1, w);
		assert_int_equal(w[0], 65535);
		assert_int_equal(w[1] == 0, reason != KVL_FILTER_IN);
		assert_int_equal(w[2] == 0, reason != KVL_FILTER_IN);
	}
}

static void test_scores_of_those_out_do_not_count(void **state)
{
	const struct kvl_weighed nodes[] = {{1, 0, KVL_FILTER_DOWN}, IN(0.2), IN(0.2)};

	kvl_weights(&params, nodes, 3, 1, w);
	assert_int_equal(w[0], 0);
	assert_int_equal(w[1], 65535);
	assert_int_equal(w[2], 65535);
}

static void test_ramp_takes_its_share(void **state)
{
	const struct kvl_weighed nodes[] = {IN(1), {1, 0.3, KVL_FILTER_IN}};

	kvl_weights(&params, nodes, 2, 1, w);
	assert_int_equal(w[1], 65535 * 0.3 + 0.5);
}

static void test_low_confidence_flattens(void **state)
{
	const struct kvl_weighed nodes[] = {IN(1), IN(0.8)};

	kvl_weights(&params, nodes, 2, 1, w);
	assert_int_equal(w[1], (int)(65535 * exp(-2) + 0.5));
	kvl_weights(&params, nodes, 2, 0.5, w);
	assert_int_equal(w[1], (int)(65535 * exp(-1) + 0.5));
	kvl_weights(&params, nodes, 2, 0, w); /* bounded */
	assert_int_equal(w[1], (int)(65535 * exp(-2 * KVL_CONFIDENCE_LEAST) + 0.5));
}

static void test_check_and_names(void **state)
{
	enum kvl_choice choice;

	assert_int_equal(kvl_weights_check(&params), 0);
	params.temperature = 0;
	assert_int_equal(kvl_weights_check(&params), -EINVAL);
	start(NULL);
	params.min_share = NAN;
	assert_int_equal(kvl_weights_check(&params), -EINVAL);
	start(NULL);
	params.replication = KVL_REPLICATION_MAX + 1;
	assert_int_equal(kvl_weights_check(&params), -EINVAL);
	for (unsigned int c = 0; c < KVL_CHOICES; c++) {
		assert_int_equal(kvl_choice_parse(kvl_choice_name(c), &choice), 0);
		assert_int_equal(choice, c);
	}
	assert_int_equal(kvl_choice_parse("lest", &choice), -EINVAL);
}

static void test_explore(void **state)
{
	params.min_share = 0.001;
	assert_true(fabs(kvl_weights_explore(&params) / 4294967296.0 - 0.003) < 1e-9);
	params.min_share = 0;
	assert_int_equal(kvl_weights_explore(&params), 0);
}

#define TEST(f) cmocka_unit_test_setup(f, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_softmax),
		TEST(test_does_not_polarise),
		TEST(test_order_survives),
		TEST(test_minimum_share),
		TEST(test_the_filter_alone_gives_zero),
		TEST(test_scores_of_those_out_do_not_count),
		TEST(test_ramp_takes_its_share),
		TEST(test_low_confidence_flattens),
		TEST(test_check_and_names),
		TEST(test_explore),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

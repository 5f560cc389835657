/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ctrl/core/scoring.h"

/* A pool from the configuration's text to what applies. */
#define NODES 3

static struct kvl_scoring *s;
static struct kvl_config *config;
static struct kvl_topology topology;
static struct kvl_topology_service services[2];
static struct kvl_diags diags;
static uint64_t now;
static uint32_t minute;

static void configure(const char *scoring)
{
	char text[512];

	snprintf(text, sizeof(text),
		"ports: [{name: p0, device: d, snat: 192.0.2.1}]\n"
		"services:\n- {name: a, address: 192.0.2.10, scoring: {%s}}\n"
		"- {name: b, address: 192.0.2.11, scoring: {queue_high: 1}}\n"
		"nodes: [{id: n, address: 10.0.0.1}]\n",
		scoring);
	kvl_config_free(config);
	config = kvl_config_parse(text, strlen(text), "f", &diags);
	if (config == NULL)
		fail_msg("%s", diags.list[0].text);
	for (int i = 0; i < 2; i++)
		services[i].config = config->services[i];
	topology = (struct kvl_topology){.service_count = 2, .services = services};
	assert_int_equal(kvl_scoring_follow(s, &topology, &config->health, 2000), 0);
}

static int start(void **state)
{
	s = kvl_scoring_new(NODES);
	now = 1000;
	minute = 600;
	return s == NULL;
}

static int stop(void **state)
{
	kvl_scoring_free(s);
	kvl_config_free(config);
	config = NULL;
	return 0;
}

static struct kvl_scoring_pool pool(void)
{
	struct kvl_scoring_pool p;

	assert_true(kvl_scoring_pool(s, 0, now, &p));
	return p;
}

static void pass(unsigned int seconds, uint64_t reads, uint64_t writes)
{
	for (unsigned int i = 0; i < seconds; i++) {
		kvl_scoring_count(s, 0, reads, writes);
		now += 1000;
		kvl_scoring_tick(s, minute, now);
	}
}

static void test_fixed(void **state)
{
	struct kvl_scoring_pool p;

	configure("profile: write-heavy, weights: {hit: 0.05}");
	p = pool();
	assert_string_equal(p.service, "a"); /* the first of those that share the pool */
	assert_true(p.params->score.queue_high == 20);
	assert_int_equal(p.profile, KVL_PROFILE_WRITE_HEAVY);
	assert_true(p.params->score.weights.capacity_free == 0.4);
	assert_true(p.params->score.weights.hit == 0.05);
	assert_null(p.params->score.capability);
	configure("capability: on");
	pass(2, 0, 0);
	p = pool();
	assert_int_equal(p.profile, KVL_PROFILE_READ_HEAVY);
	assert_true(p.params->score.weights.hit == 0.3);
	assert_non_null(p.params->score.capability);
}

static void test_schedule(void **state)
{
	configure("profile: {schedule: [{from: 08:00, profile: read-heavy}, "
		  "{from: 20:00, profile: write-heavy}]}");
	minute = 8 * 60;
	pass(2, 0, 0);
	assert_int_equal(pool().profile, KVL_PROFILE_READ_HEAVY);
	minute = 20 * 60;
	pass(2, 0, 0);
	assert_int_equal(pool().profile, KVL_PROFILE_WRITE_HEAVY);
	assert_true(pool().params->score.weights.capacity_free == 0.4);
	assert_true(pool().profile_age_ms <= 2000);
	minute = 7 * 60 + 59;
	pass(2, 0, 0);
	assert_int_equal(pool().profile, KVL_PROFILE_WRITE_HEAVY);
	minute = 8 * 60;
	pass(2, 0, 0);
	assert_int_equal(pool().profile, KVL_PROFILE_READ_HEAVY);
}

static void test_auto(void **state)
{
	configure("profile: auto");
	assert_true(kvl_scoring_join(s, 0, "default", now));
	assert_true(isnan(pool().read_share));
	pass(299, 100, 900);
	assert_int_equal(pool().profile, KVL_PROFILE_READ_HEAVY); /* not yet 5 minutes */
	assert_true(fabs(pool().read_share - 0.1) < 1e-6);
	pass(5, 100, 900);
	assert_int_equal(pool().profile, KVL_PROFILE_WRITE_HEAVY);
	assert_true(pool().params->score.weights.hit == 0.1);
	/* A reload that changes something else does not start it anew. */
	configure("profile: auto, queue_high: 7");
	assert_int_equal(pool().profile, KVL_PROFILE_WRITE_HEAVY);
	assert_true(pool().params->score.queue_high == 7);
	assert_true(pool().params->score.weights.hit == 0.1);
	pass(200, 900, 100);
	assert_int_equal(pool().profile, KVL_PROFILE_WRITE_HEAVY); /* dwells */
	pass(400, 900, 100);
	assert_int_equal(pool().profile, KVL_PROFILE_READ_HEAVY);
}

/* SPEC 6.8 as the control core sees it: scores that are blind to rejections raise the alarm. */
static void test_alarm(void **state)
{
	struct kvl_histogram latency = {0};
	struct kvl_seen seen = {.latency = &latency};
	const char *name = NULL;

	configure("reject_threshold: 1");
	for (uint16_t n = 0; n < NODES; n++)
		kvl_scoring_join(s, n, "default", now);
	latency.count[kvl_hist_bucket(500)] = 50;
	for (int i = 0; i < 20 * 30; i++) {
		now += 50;
		for (uint16_t n = 0; n < NODES; n++) {
			seen.outcomes =
				(struct kvl_outcomes){.replies = 50, .rejects = n == 0 ? 5 : 0};
			kvl_scorer_passive(kvl_scoring_of(s, n), n, &seen, now);
		}
		kvl_scoring_tick(s, minute, now);
	}
	assert_int_equal(kvl_scoring_alarms(s, &name), 1);
	assert_string_equal(name, "default");
	assert_true(pool().self_check->alarm);
}

/* The weights of small cold reads when node 0 rejects half and the others nothing. */
static void weigh(uint16_t *weights)
{
	struct kvl_histogram latency = {0};
	struct kvl_seen seen = {.latency = &latency};
	uint16_t all[KVL_CLASSES * NODES];

	for (uint16_t n = 0; n < NODES; n++)
		kvl_scoring_join(s, n, "default", now);
	latency.count[kvl_hist_bucket(500)] = 50;
	for (int i = 0; i < 20 * 5; i++) {
		now += 50;
		for (uint16_t n = 0; n < NODES; n++) {
			seen.outcomes =
				(struct kvl_outcomes){.replies = 50, .rejects = n == 0 ? 25 : 0};
			kvl_scorer_passive(kvl_scoring_of(s, n), n, &seen, now);
		}
		kvl_scoring_tick(s, minute, now);
	}
	kvl_scoring_weights(s, now, all, NODES);
	memcpy(weights, all, NODES * sizeof(*weights));
}

/* Whatever the choice of the services that share the pool, softmax draws by exp(score / T): a score
 * of 0.4 against 1 has 5%, not 40%. */
static void test_weights_know_no_choice(void **state)
{
	static const char *const choices[] = {"least", "best", "softmax", "p2c"};
	uint16_t weights[NODES];
	char text[64];

	for (size_t i = 0; i < sizeof(choices) / sizeof(*choices); i++) {
		snprintf(text, sizeof(text), "low_score: 0, choice: %s", choices[i]);
		configure(text);
		assert_string_equal(kvl_choice_name(pool().choice), choices[i]);
		weigh(weights);
		assert_true(fabs(kvl_scoring_node(s, 0)->breakdown[0].score - 0.4) < 1e-6);
		assert_in_range(
			weights[0], KVL_WEIGHT_MOST * exp(-3) - 1, KVL_WEIGHT_MOST * exp(-3) + 1);
		assert_int_equal(weights[1], KVL_WEIGHT_MOST);
	}
}

static void follow_with(unsigned int which, uint32_t replication, double min_share)
{
	services[which].config.placement.replication = replication;
	services[which].config.scoring.min_share = min_share;
	assert_int_equal(kvl_scoring_follow(s, &topology, &config->health, 2000), 0);
}

/* The floor is the highest that a service of the pool asks for, in whatever order they stand. */
static void test_largest_minimum_share(void **state)
{
	const struct kvl_weights_params *w;
	uint16_t weights[NODES];

	configure("low_score: 0, temperature: 0.05");
	w = &pool().params->weights;
	assert_int_equal(kvl_weights_floor(w), 1); /* one holder: no draw, no share */
	follow_with(1, 3, 0.05);
	assert_int_equal(kvl_weights_floor(w), (int)ceil(0.05 / 0.95 * 2 * KVL_WEIGHT_MOST));
	weigh(weights);
	assert_int_equal(weights[0], kvl_weights_floor(w));
	follow_with(0, 2, 0.06); /* more, but of fewer */
	assert_int_equal(kvl_weights_floor(w), (int)ceil(0.05 / 0.95 * 2 * KVL_WEIGHT_MOST));
	follow_with(0, 2, 0.15);
	assert_int_equal(kvl_weights_floor(w), (int)ceil(0.15 / 0.85 * KVL_WEIGHT_MOST));
	/* Another pool's is none of its business. */
	snprintf(services[1].config.pool, sizeof(services[1].config.pool), "other");
	follow_with(0, 2, 0.01);
	assert_int_equal(kvl_weights_floor(&pool().params->weights),
		(int)ceil(0.01 / 0.99 * KVL_WEIGHT_MOST));
}

static void test_no_pool(void **state)
{
	struct kvl_scoring_pool p;

	assert_false(kvl_scoring_pool(s, 0, now, &p));
	kvl_scoring_count(s, 0, 1, 1); /* of a node that no pool has */
	assert_false(kvl_scoring_tick(s, 0, now));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_fixed),
		TEST(test_schedule),
		TEST(test_auto),
		TEST(test_alarm),
		TEST(test_weights_know_no_choice),
		TEST(test_largest_minimum_share),
		TEST(test_no_pool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

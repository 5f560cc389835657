/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "lib/score/fresh.h"
#include "lib/score/scorer.h"

#define NODES 5
#define TICK  50

static struct kvl_scorer *s;
static struct kvl_scorer_params params;
static uint64_t now;
static uint16_t weights[NODES + 2];
static struct behaviour {
	uint32_t replies, rejects, timeouts; /* a tick */
	uint32_t us;
} behaves[NODES];
static uint64_t run[NODES];

static int start(void **state)
{
	params = kvl_scorer_defaults(3);
	s = kvl_scorer_new(NODES, &params);
	now = 1000;
	for (uint16_t i = 0; i < NODES; i++) {
		behaves[i] = (struct behaviour){.replies = 50, .us = 1000};
		run[i] = 0;
		kvl_scorer_join(s, i, now);
	}
	return s == NULL;
}

static int stop(void **state)
{
	kvl_scorer_free(s);
	return 0;
}

static void node_tick(uint16_t node)
{
	const struct behaviour *b = &behaves[node];
	struct kvl_histogram latency = {0};
	struct kvl_seen seen = {
		.outcomes = {.replies = b->replies, .rejects = b->rejects, .timeouts = b->timeouts},
		.latency = &latency,
	};

	run[node] = b->replies > 0 ? 0 : run[node] + b->timeouts;
	seen.timeouts_in_a_row = run[node];
	latency.count[kvl_hist_bucket(b->us)] = b->replies - b->rejects;
	kvl_scorer_passive(s, node, &seen, now);
}

static void pass(uint32_t ms)
{
	for (uint64_t end = now + ms; now < end; now += TICK) {
		for (uint16_t i = 0; i < NODES; i++)
			node_tick(i);
		if (kvl_scorer_tick(s, now))
			kvl_scorer_weights(s, 0, now, weights, NODES + 2);
	}
}

static void test_all_alike(void **state)
{
	pass(3000);
	for (int i = 0; i < NODES; i++)
		assert_int_equal(weights[i], KVL_WEIGHT_MOST);
	assert_int_equal(weights[NODES], 0);
	assert_int_equal(weights[NODES + 1], 0);
}

/* SPEC 4.9: lower, and in. */
static void test_slow_is_not_down(void **state)
{
	behaves[1].us = 50000;
	pass(60000);
	assert_true(weights[1] > 0 && weights[1] < weights[0] / 2);
	assert_int_equal(kvl_scorer_node(s, 1)->health.falls, 0);
	assert_true(kvl_scorer_node(s, 1)->breakdown[0].points[KVL_TERM_P99] == -25);
	behaves[1].us = 1000;
	pass(60000);
	assert_int_equal(weights[1], KVL_WEIGHT_MOST);
}

/* SPEC 4.8: one bad interval moves nothing. */
static void test_one_slow_interval(void **state)
{
	pass(5000 + TICK); /* from the end of a sample to the end of the next */
	behaves[1].us = 50000;
	pass(KVL_SCORER_PERIOD_MS);
	behaves[1].us = 1000;
	pass(2000);
	assert_int_equal(weights[1], KVL_WEIGHT_MOST);
}

static void test_dead_is_out_and_comes_back_by_steps(void **state)
{
	uint16_t last = 0, steps = 0;

	pass(2000);
	behaves[2] = (struct behaviour){.timeouts = 2};
	pass(200);
	assert_int_equal(weights[2], 0);
	assert_int_equal(kvl_scorer_node(s, 2)->reason[0], KVL_FILTER_DOWN);
	behaves[2] = (struct behaviour){0};
	pass(5000);
	assert_true(kvl_scorer_probe(s, 2, true, now));
	behaves[2] = (struct behaviour){.replies = 10, .us = 1000};
	for (int i = 0; i < 25; i++) {
		pass(1000);
		assert_true(weights[2] >= last);
		steps += weights[2] > last;
		last = weights[2];
	}
	assert_int_equal(last, KVL_WEIGHT_MOST);
	assert_true(steps >= KVL_HEALTH_RAMP_STEPS);
}

static void test_rejecting_cools_down(void **state)
{
	uint32_t out = 0;

	pass(2000);
	behaves[3] = (struct behaviour){.replies = 500, .rejects = 500, .us = 1};
	for (int tick = 0; tick < 60000 / TICK; tick++) {
		pass(TICK);
		out += weights[3] == 0;
		if (weights[3] == 0)
			assert_int_equal(kvl_scorer_node(s, 3)->reason[0], KVL_FILTER_COOLDOWN);
		assert_true(weights[0] > 0);
	}
	/* Tried after 1, 2, 4, 8, 16 s, for the seconds that it takes to see it again. */
	assert_true(out > 40000 / TICK && out < 58000 / TICK);
	assert_in_range(kvl_scorer_node(s, 3)->health.falls, 4, 6);
}

/* A rejection is quick, and says nothing of the latency. */
static void test_rejections_are_no_latency(void **state)
{
	pass(2000);
	behaves[3] = (struct behaviour){.replies = 500, .rejects = 500, .us = 1};
	for (int second = 0; second < 20; second++) {
		pass(1000);
		assert_false(kvl_scorer_node(s, 3)->facts.p99_us < 900);
	}
}

/* Back from its cooldown it is judged anew, not once more by what sent it there. */
static void test_forgiven_after_cooldown(void **state)
{
	pass(2000);
	behaves[3] = (struct behaviour){.replies = 500, .rejects = 500, .us = 1};
	for (int tick = 0; tick < 200 && weights[3] > 0; tick++)
		pass(TICK);
	assert_int_equal(weights[3], 0);
	behaves[3] = (struct behaviour){0};
	for (int tick = 0; tick < 200 && weights[3] == 0; tick++)
		pass(TICK);
	behaves[3] = (struct behaviour){.replies = 50, .us = 1000};
	pass(30000);
	assert_int_equal(kvl_scorer_node(s, 3)->health.falls, 1);
	assert_int_equal(weights[3], KVL_WEIGHT_MOST);
}

/* SPEC 4.10: what the node says of its latency counts only as long as the router has not seen it. */
static void test_measured_outranks_reported(void **state)
{
	struct kvl_report_figures report = {.time_ms = 5};

	for (unsigned int m = 0; m < KVL_METRIC_REPORTED; m++)
		report.value[m] = KVL_UNKNOWN;
	report.value[KVL_METRIC_RTT_P99_US] = 77000;
	behaves[0] = (struct behaviour){0};
	kvl_scorer_report(s, 0, &report, now);
	pass(1000);
	assert_true(kvl_scorer_node(s, 0)->facts.p99_us == 77000);
	behaves[0] = (struct behaviour){.replies = 50, .us = 1000};
	pass(2000);
	assert_true(kvl_scorer_node(s, 0)->facts.p99_us < 1100);
}

/* All of them reject: someone must stay. */
static void test_last_usable_stays(void **state)
{
	size_t in = 0;

	for (int i = 0; i < NODES; i++)
		behaves[i] = (struct behaviour){.replies = 500, .rejects = 500, .us = 1};
	for (int second = 0; second < 60; second++) {
		pass(1000);
		in = 0;
		for (int i = 0; i < NODES; i++)
			in += weights[i] > 0;
		assert_true(in >= NODES - NODES / 3);
	}
}

static void test_reports_from_an_earlier_time(void **state)
{
	struct kvl_report_figures report = {.time_ms = 3600000};

	for (unsigned int m = 0; m < KVL_METRIC_REPORTED; m++)
		report.value[m] = KVL_UNKNOWN;
	report.value[KVL_METRIC_CPU] = 0.95;
	assert_int_equal(kvl_scorer_report(s, 0, &report, now), 0);
	report.time_ms = 5;
	report.value[KVL_METRIC_CPU] = 0.1;
	kvl_scorer_forget_reports(s, 0);
	assert_int_equal(kvl_scorer_report(s, 0, &report, now), 0);
	assert_int_equal(kvl_scorer_report(s, 0, &report, now), -ESTALE);
	pass(1000);
	assert_true(fabs(kvl_scorer_node(s, 0)->facts.cpu - 0.1) < 1e-6);
}

static void test_a_report_counts(void **state)
{
	struct kvl_report_figures report = {.time_ms = 5};

	for (unsigned int m = 0; m < KVL_METRIC_REPORTED; m++)
		report.value[m] = KVL_UNKNOWN;
	report.value[KVL_METRIC_CPU] = 0.95;
	report.value[KVL_METRIC_IO_WAIT] = -1;
	report.flags = KVL_FACT_COMPACTING;
	assert_int_equal(kvl_scorer_report(s, 0, &report, now), 1);
	assert_int_equal(kvl_scorer_report(s, 0, &report, now), -ESTALE);
	pass(1000);
	assert_true(kvl_scorer_node(s, 0)->breakdown[0].points[KVL_TERM_COMPACTING] < -29.99);
	assert_true(fabs(kvl_scorer_node(s, 0)->breakdown[0].points[KVL_TERM_CPU] + 10) < 1e-5);
	assert_false(kvl_scorer_node(s, 0)->breakdown[0].known & (1u << KVL_TERM_IO_WAIT));
	assert_true(weights[0] < weights[1]);
	/* Nothing more is heard: used, and marked. */
	pass(KVL_FRESH_LOAD_MS + 100);
	assert_true(kvl_scorer_node(s, 0)->facts.flags & KVL_FACT_STALE);
}

static void report(uint16_t node, double cpu, uint32_t flags)
{
	struct kvl_report_figures figures = {.time_ms = now, .flags = flags};

	for (unsigned int m = 0; m < KVL_METRIC_REPORTED; m++)
		figures.value[m] = KVL_UNKNOWN;
	figures.value[KVL_METRIC_CPU] = cpu;
	assert_int_equal(kvl_scorer_report(s, node, &figures, now), 0);
}

static bool knows(uint16_t node, enum kvl_term term)
{
	return kvl_scorer_node(s, node)->breakdown[0].known & 1u << term;
}

/* How often it becomes suspect in that time. */
static unsigned int suspicions(uint16_t node, uint32_t ms)
{
	const struct kvl_health *h = &kvl_scorer_node(s, node)->health;
	unsigned int times = 0;

	for (uint64_t end = now + ms; now < end;) {
		bool before = h->state == KVL_HEALTH_SUSPECT;

		pass(TICK);
		times += !before && h->state == KVL_HEALTH_SUSPECT;
	}
	return times;
}

/* An agent's silence is suspected once, then settled by the node's replies: observation ends, and so
 * do figures of long ago. One that was never heard is as before. */
static void test_a_silent_agent(void **state)
{
	struct kvl_scored_node *n = kvl_scorer_node(s, 0);

	for (int i = 0; i < 2; i++) {
		report(0, 0.95, KVL_FACT_COMPACTING | KVL_FACT_READ_ONLY);
		assert_int_equal(suspicions(0, 9000), 1);
		assert_int_equal(n->health.silence, KVL_SILENCE_SETTLED);
		assert_true(n->facts.flags & KVL_FACT_STALE);
		assert_true(knows(0, KVL_TERM_OBSERVATION));
		assert_int_equal(suspicions(0, 45000), 0);
		/* Stale, and used still; but it is the report that counts, not the silence. */
		assert_false(knows(0, KVL_TERM_OBSERVATION));
		assert_true(knows(0, KVL_TERM_CPU) && knows(0, KVL_TERM_COMPACTING));
		assert_int_equal(suspicions(0, 300000), 0);
		assert_false(knows(0, KVL_TERM_CPU) || knows(0, KVL_TERM_COMPACTING));
		assert_int_equal(weights[0], weights[1]);
		assert_true(n->facts.flags & KVL_FACT_STALE);
		assert_true(n->facts.flags & KVL_FACT_READ_ONLY);
	}
	report(0, 0.5, 0);
	pass(1000);
	assert_false(n->facts.flags & (KVL_FACT_STALE | KVL_FACT_READ_ONLY));
	assert_true(fabs(n->facts.cpu - 0.5) < 1e-6);
	assert_int_equal(kvl_scorer_node(s, 1)->health.since_ms, 1000);
}

/* Its probes and requests fail when the agent is long gone: out as ever, and not for the silence. */
static void test_death_after_a_silent_agent(void **state)
{
	report(0, 0.1, 0);
	pass(30000);
	behaves[0] = (struct behaviour){.timeouts = 2};
	pass(200);
	assert_int_equal(weights[0], 0);
	assert_int_equal(kvl_scorer_node(s, 0)->reason[0], KVL_FILTER_DOWN);
	assert_false(knows(0, KVL_TERM_HEARTBEAT));
	/* Both at once: the silence says so too. */
	report(1, 0.1, 0);
	pass(1000);
	behaves[1] = (struct behaviour){.timeouts = 2};
	pass(10000);
	assert_int_equal(weights[1], 0);
	assert_true(knows(1, KVL_TERM_HEARTBEAT));
}

static void test_the_callers_reasons(void **state)
{
	kvl_scorer_node(s, 0)->draining = true;
	kvl_scorer_node(s, 1)->reachable = false;
	kvl_scorer_leave(s, 2);
	pass(1000);
	assert_int_equal(weights[0], 0);
	assert_int_equal(kvl_scorer_node(s, 0)->reason[0], KVL_FILTER_DRAINING);
	assert_int_equal(weights[1], 0);
	assert_int_equal(kvl_scorer_node(s, 1)->reason[0], KVL_FILTER_UNREACHABLE);
	assert_int_equal(weights[2], 0);
	assert_int_equal(weights[3], KVL_WEIGHT_MOST);
}

/* SPEC 5.3: an unconfirmed node is lowered, and low confidence in the whole lowers it by less. */
static void test_confidence(void **state)
{
	const double t = params.weights.temperature;

	kvl_scorer_node(s, 1)->unconfirmed = true;
	pass(1000);
	assert_int_equal(weights[0], KVL_WEIGHT_MOST);
	assert_int_equal(weights[1], (int)(KVL_WEIGHT_MOST * exp(-0.15 / t) + 0.5));
	kvl_scorer_confidence(s, KVL_CONFIDENCE_STALE);
	pass(TICK); /* at once */
	assert_int_equal(weights[0], KVL_WEIGHT_MOST);
	assert_int_equal(weights[1], (int)(KVL_WEIGHT_MOST * exp(-0.15 / (2 * t)) + 0.5));
	kvl_scorer_confidence(s, 1);
	pass(TICK);
	assert_int_equal(weights[1], (int)(KVL_WEIGHT_MOST * exp(-0.15 / t) + 0.5));
	kvl_scorer_node(s, 1)->unconfirmed = false;
	pass(1000);
	assert_int_equal(weights[1], KVL_WEIGHT_MOST);
}

/* SPEC 6.8: the scores follow a node that rejects a tenth, or the alarm is raised. */
static void test_self_check(void **state)
{
	behaves[1].rejects = 5;
	pass(60000);
	assert_false(kvl_scorer_self_check(s)->alarm);
	assert_true(kvl_self_check_correlation(kvl_scorer_self_check(s)) > 0.9);
	params.score.reject_threshold = 1; /* nothing counts as too many */
	kvl_scorer_configure(s, &params);
	pass(600000);
	assert_true(kvl_scorer_self_check(s)->alarm);
}

/* What was seen once is not counted again each second when the traffic has ended. */
static void test_self_check_rests(void **state)
{
	double weight;

	behaves[1].rejects = 5;
	pass(60000);
	memset(behaves, 0, sizeof(behaves));
	pass(3000);
	weight = kvl_scorer_self_check(s)->weight;
	pass(10000);
	assert_true(kvl_scorer_self_check(s)->weight < weight);
}

static void hardware(uint16_t node, uint8_t disk, uint32_t nic_mbit)
{
	struct kvl_report_figures report = {
		.time_ms = now, .capability = {.disk = disk, .nic_mbit = nic_mbit}};

	for (unsigned int m = 0; m < KVL_METRIC_REPORTED; m++)
		report.value[m] = KVL_UNKNOWN;
	assert_int_equal(kvl_scorer_report(s, node, &report, now), 0);
}

static uint16_t heaviest(unsigned int class)
{
	uint16_t of[NODES], best = 0;

	kvl_scorer_weights(s, class, now, of, NODES);
	for (uint16_t i = 0; i < NODES; i++)
		if (of[i] > of[best])
			best = i;
	return best;
}

/* SPEC 4.4's example, from the reports to the weights. */
static void test_capability_weights(void **state)
{
	enum {
		A,
		B,
		C
	};

	params.score.capability = &kvl_capability_default;
	kvl_scorer_configure(s, &params);
	kvl_scorer_leave(s, 3);
	kvl_scorer_leave(s, 4);
	hardware(A, KVL_DISK_SSD, 10000);
	hardware(B, KVL_DISK_HDD, 1000);
	hardware(C, KVL_DISK_SSD, 1000);
	pass(1000);
	assert_int_equal(heaviest(KVL_CLASS_WRITE | KVL_CLASS_HOT), A);
	assert_int_equal(heaviest(KVL_CLASS_LARGE), C);
	assert_int_equal(heaviest(KVL_CLASS_LARGE | KVL_CLASS_HOT), C);
	assert_int_equal(heaviest(0), B);
	/* Where all are alike nobody is the worse for it. */
	now += 1;
	hardware(B, KVL_DISK_SSD, 10000);
	hardware(C, KVL_DISK_SSD, 10000);
	pass(1000);
	for (uint16_t i = A; i <= C; i++)
		assert_false(kvl_scorer_node(s, i)->breakdown[0].known & 1u << KVL_TERM_CAPABILITY);
	assert_true(kvl_scorer_node(s, B)->breakdown[0].score > 0.99);
	/* And switched off again it is forgotten. */
	params.score.capability = NULL;
	kvl_scorer_configure(s, &params);
	hardware(B, KVL_DISK_HDD, 1000);
	pass(1000);
	assert_true(kvl_scorer_node(s, B)->breakdown[0].score > 0.99);
}

static void test_failing_probe_costs(void **state)
{
	memset(&behaves[0], 0, sizeof(behaves[0]));
	pass(1000);
	kvl_scorer_probe(s, 0, false, now);
	pass(500);
	assert_true(kvl_scorer_node(s, 0)->breakdown[0].known & 1u << KVL_TERM_PROBE);
	kvl_scorer_probe(s, 0, true, now);
	pass(500);
	assert_false(kvl_scorer_node(s, 0)->breakdown[0].known & 1u << KVL_TERM_PROBE);
	kvl_scorer_probe(s, 0, false, now);
	behaves[0] = behaves[1]; /* a reply says as much as an answered probe */
	pass(500);
	assert_false(kvl_scorer_node(s, 0)->breakdown[0].known & 1u << KVL_TERM_PROBE);
}

/* SPEC 6.4: at low traffic a somewhat older report is still fresh. */
static void test_calm_traffic_tolerates_staleness(void **state)
{
	struct kvl_report_figures report = {.time_ms = 5};

	for (int i = 0; i < NODES; i++)
		behaves[i].replies = 1; /* 100 a second in all */
	pass(1000);
	kvl_scorer_report(s, 0, &report, now);
	pass(KVL_FRESH_LOAD_MS * 2 - 600);
	assert_false(kvl_scorer_node(s, 0)->facts.flags & KVL_FACT_STALE);
	pass(1500);
	assert_true(kvl_scorer_node(s, 0)->facts.flags & KVL_FACT_STALE);
}

static void test_fleet_median_and_worst(void **state)
{
	struct kvl_fleet_state f;
	double p95[] = {10, KVL_UNKNOWN, 30, 20}, p99[] = {100, 500, KVL_UNKNOWN, 300};

	kvl_fleet_init(&f);
	kvl_fleet_measure(&f, p95, p99, 4, 1000);
	assert_true(f.fleet.worst_p95_us == 30);
	assert_true(f.fleet.baseline_p99_us == 300);
	kvl_fleet_init(&f);
	kvl_fleet_measure(&f, p95, (double[]){400, 100, 900, 300}, 4, 1000);
	assert_true(f.fleet.baseline_p99_us == 350);
	kvl_fleet_init(&f);
	kvl_fleet_measure(&f, p95, (double[]){300}, 1, 1000);
	/* A minute of a fleet three times slower moves the long-run baseline by a fifth or so. */
	for (int i = 0; i < 600; i++) {
		double calm[] = {300}, none[] = {KVL_UNKNOWN};

		kvl_fleet_measure(&f, none, calm, 1, 1000 + i * 1000);
	}
	for (int i = 0; i < 60; i++) {
		double slow[] = {900}, none[] = {KVL_UNKNOWN};

		kvl_fleet_measure(&f, none, slow, 1, 601000 + i * 1000);
	}
	assert_true(f.fleet.baseline_p99_us > 380 && f.fleet.baseline_p99_us < 430);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_all_alike),
		TEST(test_slow_is_not_down),
		TEST(test_one_slow_interval),
		TEST(test_dead_is_out_and_comes_back_by_steps),
		TEST(test_rejecting_cools_down),
		TEST(test_rejections_are_no_latency),
		TEST(test_forgiven_after_cooldown),
		TEST(test_measured_outranks_reported),
		TEST(test_last_usable_stays),
		TEST(test_a_report_counts),
		TEST(test_reports_from_an_earlier_time),
		TEST(test_a_silent_agent),
		TEST(test_death_after_a_silent_agent),
		TEST(test_the_callers_reasons),
		TEST(test_confidence),
		TEST(test_self_check),
		TEST(test_self_check_rests),
		TEST(test_capability_weights),
		TEST(test_failing_probe_costs),
		TEST(test_calm_traffic_tolerates_staleness),
		cmocka_unit_test(test_fleet_median_and_worst),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lib/score/health.h"
#include "lib/score/phi.h"

static const struct kvl_health_params params = {
	.timeouts_to_down = 3,
	.probe_interval_ms = 500,
	.passive_fresh_ms = 30000,
};

static struct kvl_health h;
static uint64_t now; /* virtual */

static int start(void **state)
{
	now = 1000;
	kvl_health_init(&h, now);
	return 0;
}

static bool timeouts(uint64_t count, uint64_t in_a_row)
{
	return kvl_health_passive(&h, &params, 0, count, in_a_row, now += 100);
}

static bool replies(uint64_t count)
{
	return kvl_health_passive(&h, &params, count, 0, 0, now += 100);
}

static bool probe(bool ok)
{
	kvl_health_probe_sent(&h, now);
	return kvl_health_probe(&h, &params, ok, now += 100);
}

static void take_down(void)
{
	timeouts(3, 3);
	assert_int_equal(h.state, KVL_HEALTH_DOWN);
}

/* Time passes until the cooldown is over. */
static void cool_off(void)
{
	uint64_t until = kvl_health_cooldown_until(&h, &params);

	now = until > now ? until : now;
}

static void test_three_timeouts_take_out(void **state)
{
	assert_false(timeouts(1, 1));
	assert_int_equal(h.state, KVL_HEALTH_HEALTHY);
	assert_true(timeouts(1, 2));
	assert_int_equal(h.state, KVL_HEALTH_SUSPECT);
	assert_true(kvl_health_eligible(&h));
	assert_true(timeouts(1, 3));
	assert_int_equal(h.state, KVL_HEALTH_DOWN);
	assert_false(kvl_health_eligible(&h));
	assert_int_equal(h.since_ms, now);
	assert_false(timeouts(5, 8));
}

static void test_one_lost_datagram_never_ejects(void **state)
{
	struct kvl_health_params strict = params;

	strict.timeouts_to_down = 1; /* taken as 2 */
	for (int i = 0; i < 100; i++) {
		kvl_health_passive(&h, &strict, 0, 1, 1, now += 100);
		assert_true(kvl_health_eligible(&h));
		kvl_health_passive(&h, &strict, 1, 0, 0, now += 100);
	}
	kvl_health_probe(&h, &strict, false, now += 100);
	assert_true(kvl_health_eligible(&h));
}

static void test_a_reply_between_starts_anew(void **state)
{
	timeouts(2, 2);
	assert_int_equal(h.state, KVL_HEALTH_SUSPECT);
	assert_true(replies(1));
	assert_int_equal(h.state, KVL_HEALTH_HEALTHY);
	timeouts(2, 2);
	assert_int_equal(h.state, KVL_HEALTH_SUSPECT);
	/* The same when the interval ended with a timeout: of a run it is the first. */
	assert_true(kvl_health_passive(&h, &params, 10, 1, 1, now += 100));
	assert_int_equal(h.state, KVL_HEALTH_HEALTHY);
}

/* 10,000 replies and a run of five timeouts among 1,000 in the same interval: lossy, alive. */
static void test_lossy_is_not_down(void **state)
{
	for (int i = 0; i < 10; i++) {
		kvl_health_passive(&h, &params, 10000, 1000, 5, now += 100);
		assert_int_equal(h.state, KVL_HEALTH_SUSPECT);
		assert_true(probe(true));
	}
	/* The same, and then silence: one more failure of either kind is enough. */
	kvl_health_passive(&h, &params, 10000, 1000, 5, now += 100);
	assert_true(probe(false));
	assert_int_equal(h.state, KVL_HEALTH_DOWN);
}

static void test_probes_and_timeouts_add_up(void **state)
{
	timeouts(1, 1);
	probe(false);
	assert_int_equal(h.state, KVL_HEALTH_SUSPECT);
	timeouts(1, 2); /* the workers know of two only */
	assert_int_equal(h.state, KVL_HEALTH_DOWN);
}

/* Probes get through, requests do not: probes must not cover that up for ever. */
static void test_probes_do_not_hide_timeouts(void **state)
{
	timeouts(1, 1);
	probe(true);
	timeouts(1, 2);
	probe(true);
	timeouts(1, 3);
	assert_int_equal(h.state, KVL_HEALTH_DOWN);
}

static void test_back_through_half_open(void **state)
{
	take_down();
	assert_false(replies(3)); /* late, or failed open: the probe decides */
	assert_false(probe(false));
	assert_false(probe(true)); /* not before its cooldown is over */
	cool_off();
	assert_true(probe(true));
	assert_int_equal(h.state, KVL_HEALTH_HALF_OPEN);
	assert_true(kvl_health_eligible(&h));
	assert_false(replies(KVL_HEALTH_RECOVER - 2));
	assert_false(probe(true));
	assert_true(replies(1));
	assert_int_equal(h.state, KVL_HEALTH_HEALTHY);
	/* On trial no more: one lost datagram is nothing again. */
	timeouts(1, 1);
	assert_int_equal(h.state, KVL_HEALTH_HEALTHY);
}

static void test_first_failure_on_trial(void **state)
{
	take_down();
	cool_off();
	probe(true);
	assert_true(timeouts(1, 1));
	assert_int_equal(h.state, KVL_HEALTH_DOWN);
	cool_off();
	probe(true);
	assert_true(probe(false));
	assert_int_equal(h.state, KVL_HEALTH_DOWN);
	/* Successes of an earlier trial do not count. */
	cool_off();
	probe(true);
	replies(KVL_HEALTH_RECOVER - 1);
	probe(false);
	cool_off();
	probe(true);
	assert_false(replies(1));
	assert_int_equal(h.state, KVL_HEALTH_HALF_OPEN);
}

static void test_old_requests_on_trial(void **state)
{
	struct kvl_health_params settle = params;

	settle.settle_ms = 1000;
	take_down();
	cool_off();
	probe(true);
	assert_false(kvl_health_passive(&h, &settle, 0, 7, 10, h.since_ms + 999));
	assert_int_equal(h.state, KVL_HEALTH_HALF_OPEN);
	assert_true(kvl_health_passive(&h, &settle, 0, 1, 11, h.since_ms + 1000));
	assert_int_equal(h.state, KVL_HEALTH_DOWN);
}

static void test_when_a_probe_is_wanted(void **state)
{
	assert_true(kvl_health_probe_at(&h, &params) <= now); /* never heard of */
	kvl_health_probe_sent(&h, now);
	assert_int_equal(kvl_health_probe_at(&h, &params), now + 500);
	replies(1);
	assert_int_equal(kvl_health_probe_at(&h, &params), now + 30000);
	kvl_health_probe_sent(&h, now + 30000); /* still silent */
	assert_int_equal(kvl_health_probe_at(&h, &params), now + 30500);
	timeouts(2, 2);
	kvl_health_probe_sent(&h, now);
	assert_int_equal(kvl_health_probe_at(&h, &params), now + 500); /* suspect */
	timeouts(1, 3);
	assert_int_equal(kvl_health_probe_at(&h, &params), h.probe_ms + 500); /* down */
	cool_off();
	probe(true);
	assert_int_equal(h.state, KVL_HEALTH_HALF_OPEN);
	assert_int_equal(kvl_health_probe_at(&h, &params), h.probe_ms + 500);
}

static void test_dsr_is_always_probed(void **state)
{
	struct kvl_health_params dsr = params;

	dsr.always_probe = true;
	replies(1);
	kvl_health_probe_sent(&h, now);
	assert_int_equal(kvl_health_probe_at(&h, &dsr), now + 500);
}

static void test_counts_saturate(void **state)
{
	timeouts(UINT64_MAX, UINT64_MAX);
	timeouts(UINT64_MAX, UINT64_MAX);
	probe(false);
	assert_int_equal(h.state, KVL_HEALTH_DOWN);
	cool_off();
	probe(true);
	replies(UINT64_MAX);
	assert_int_equal(h.state, KVL_HEALTH_HEALTHY);
}

static void test_cooldown_doubles_and_is_forgiven(void **state)
{
	static const uint32_t waits[] = {1000, 2000, 4000, 8000, 16000, 30000, 30000};

	take_down();
	for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++) {
		assert_int_equal(kvl_health_cooldown_until(&h, &params) - h.since_ms, waits[i]);
		now = kvl_health_cooldown_until(&h, &params) - 101;
		assert_false(probe(true));
		cool_off();
		assert_true(probe(true));
		assert_true(probe(false));
	}
	cool_off();
	probe(true);
	replies(KVL_HEALTH_RECOVER);
	for (int minute = 0; minute < 10; minute++)
		kvl_health_tick(&h, &params, now += KVL_HEALTH_FORGIVE_MS);
	assert_int_equal(h.falls, 0);
	take_down();
	assert_int_equal(kvl_health_cooldown_until(&h, &params) - h.since_ms, 1000);
}

static void low_scores(int count)
{
	for (int i = 0; i < count; i++)
		kvl_health_low(&h, &params, true, now += 1000);
}

static void test_three_low_scores_cool_down(void **state)
{
	for (int i = 0; i < 10; i++) {
		low_scores(KVL_HEALTH_LOW_SCORES - 1);
		kvl_health_low(&h, &params, false, now += 1000);
		assert_int_equal(h.state, KVL_HEALTH_HEALTHY);
	}
	low_scores(KVL_HEALTH_LOW_SCORES);
	assert_int_equal(h.state, KVL_HEALTH_COOLDOWN);
	assert_false(kvl_health_eligible(&h));
	assert_false(replies(1000)); /* alive, and that is not the question */
	assert_false(kvl_health_tick(&h, &params, h.since_ms + 999));
	assert_true(kvl_health_tick(&h, &params, h.since_ms + 1000));
	assert_int_equal(h.state, KVL_HEALTH_HALF_OPEN);
	low_scores(KVL_HEALTH_LOW_SCORES);
	assert_int_equal(h.state, KVL_HEALTH_COOLDOWN);
	assert_int_equal(kvl_health_cooldown_until(&h, &params) - h.since_ms, 2000);
}

/* Neither replies nor a failure or two bring it back sooner. */
static void test_cooldown_is_sat_out(void **state)
{
	low_scores(KVL_HEALTH_LOW_SCORES);
	assert_false(probe(false));
	assert_false(probe(true));
	assert_false(timeouts(1, 1));
	assert_false(timeouts(1, 2));
	assert_false(replies(5));
	assert_int_equal(h.state, KVL_HEALTH_COOLDOWN);
}

/* A node in cooldown that dies is dead: it needs a probe's word then. */
static void test_failures_outrank_scores(void **state)
{
	low_scores(KVL_HEALTH_LOW_SCORES);
	timeouts(3, 3);
	assert_int_equal(h.state, KVL_HEALTH_DOWN);
	assert_int_equal(h.falls, 1);
	low_scores(KVL_HEALTH_LOW_SCORES);
	assert_int_equal(h.state, KVL_HEALTH_DOWN);
	assert_false(kvl_health_tick(&h, &params, now += 100000));
}

static void test_phi_and_signs_of_life(void **state)
{
	now += 10000;
	replies(1);
	assert_false(kvl_health_phi(&h, &params, KVL_PHI_DOWN, now));
	assert_true(kvl_health_phi(&h, &params, 9, now)); /* its agent is gone: probe */
	assert_int_equal(h.state, KVL_HEALTH_SUSPECT);
	replies(1);
	/* Settled: not suspected for that again. */
	assert_false(kvl_health_phi(&h, &params, 300, now += 100));
	assert_false(kvl_health_phi(&h, &params, 300, now += KVL_HEALTH_OBSERVE_MS + 1));
	assert_int_equal(h.state, KVL_HEALTH_HEALTHY);
	/* No sign of life, but nobody has asked for one: probes first. */
	assert_false(kvl_health_phi(&h, &params, 1, now += 1));
	assert_true(kvl_health_phi(&h, &params, 9, now));
	assert_int_equal(h.state, KVL_HEALTH_SUSPECT);
	assert_true(kvl_health_probe_at(&h, &params) <= now);
	assert_false(kvl_health_phi(&h, &params, 9, now += KVL_HEALTH_ALIVE_MS));
	assert_true(kvl_health_phi(&h, &params, 9, now += 1));
	assert_int_equal(h.state, KVL_HEALTH_DOWN);
	cool_off();
	probe(true);
	assert_int_equal(h.state, KVL_HEALTH_HALF_OPEN);
	assert_false(kvl_health_phi(&h, &params, 9, now));
}

/* Five minutes without its agent and nearly without traffic, which puts off the routine probes:
 * the first that suspicion asks for finds the node alive, and that is that. */
static void test_idle_node_outlives_its_agent(void **state)
{
	uint64_t asked = 0;
	unsigned int suspected = 0;

	now += KVL_HEALTH_OBSERVE_MS + 1;
	for (uint64_t end = now + 300000; now < end; now += 200) {
		if (now - asked > 20000) {
			asked = now;
			replies(1);
		}
		suspected += kvl_health_phi(&h, &params, 9, now);
		assert_true(kvl_health_eligible(&h));
		if (kvl_health_probe_at(&h, &params) > now)
			continue;
		kvl_health_probe_sent(&h, now);
		probe(true);
	}
	assert_int_equal(suspected, 1);
	assert_int_equal(h.falls, 0);
	assert_int_equal(h.silence, KVL_SILENCE_SETTLED);
	assert_false(kvl_health_observed(&h, now));
}

static void fall_silent(void)
{
	now += KVL_HEALTH_OBSERVE_MS + 1;
	assert_true(kvl_health_phi(&h, &params, 9, now));
	assert_int_equal(h.state, KVL_HEALTH_SUSPECT);
}

/* An agent that is heard and falls silent again says something new. */
static void test_each_silence_is_suspected_once(void **state)
{
	for (int i = 0; i < 5; i++) {
		fall_silent();
		if (i % 2)
			assert_true(probe(true));
		else
			assert_true(replies(1));
		for (int minute = 0; minute < 10; minute++)
			assert_false(kvl_health_phi(&h, &params, 300, now += 60000));
		assert_false(kvl_health_phi(&h, &params, 0, now += 100));
		assert_int_equal(h.silence, KVL_SILENCE_NONE);
	}
}

/* A lossy node's replies show life, though it stays suspect for its run of failures. */
static void test_lossy_replies_settle_silence(void **state)
{
	fall_silent();
	kvl_health_passive(&h, &params, 100, 5, 5, now += 100);
	assert_int_equal(h.state, KVL_HEALTH_SUSPECT);
	assert_int_equal(h.silence, KVL_SILENCE_SETTLED);
	assert_false(kvl_health_phi(&h, &params, 300, now += 60000));
	assert_true(probe(true));
	assert_int_equal(h.state, KVL_HEALTH_HEALTHY);
}

/* Precedence 1: a settled silence covers nothing up. */
static void test_failures_count_during_settled_silence(void **state)
{
	fall_silent();
	replies(1);
	kvl_health_phi(&h, &params, 300, now += 60000);
	assert_false(probe(false));
	assert_true(probe(false));
	assert_int_equal(h.state, KVL_HEALTH_SUSPECT);
	assert_true(probe(false));
	assert_int_equal(h.state, KVL_HEALTH_DOWN);
	/* And back it comes without its agent, trusted as before. */
	cool_off();
	probe(true);
	replies(KVL_HEALTH_RECOVER);
	assert_int_equal(h.state, KVL_HEALTH_HEALTHY);
	assert_false(kvl_health_phi(&h, &params, 300, now += 60000));
}

/* Node and agent gone at once: the probes fail, and it is out after three of them. */
static void test_silence_and_failing_probes(void **state)
{
	fall_silent();
	assert_false(probe(false));
	assert_false(kvl_health_phi(&h, &params, 20, now));
	assert_false(probe(false)); /* the second makes it suspect, which it is */
	assert_true(probe(false));
	assert_int_equal(h.state, KVL_HEALTH_DOWN);
	assert_int_equal(h.silence, KVL_SILENCE_DOUBTED);
	/* An answered probe brings it back, and settles the silence too. */
	cool_off();
	assert_true(probe(true));
	assert_int_equal(h.silence, KVL_SILENCE_SETTLED);
	assert_false(kvl_health_phi(&h, &params, 300, now += 60000));
	assert_int_equal(h.state, KVL_HEALTH_HALF_OPEN);
}

static void test_ramp(void **state)
{
	assert_true(kvl_health_share(&h, &params, now) == 1); /* new is not recovering */
	take_down();
	assert_true(kvl_health_share(&h, &params, now) == 0);
	cool_off();
	probe(true);
	assert_true(kvl_health_share(&h, &params, now) == KVL_HEALTH_TRIAL_SHARE);
	replies(KVL_HEALTH_RECOVER);
	for (int step = 1; step <= 10; step++, now += 1000) {
		assert_true(kvl_health_share(&h, &params, now) == step / 10.0);
		assert_true(kvl_health_share(&h, &params, now + 999) == step / 10.0);
	}
	/* Suspicion and its end are no absence. */
	timeouts(2, 2);
	replies(1);
	assert_true(kvl_health_share(&h, &params, now) == 1);
}

static void test_observation(void **state)
{
	assert_false(kvl_health_observed(&h, now));
	timeouts(1, 1); /* one lost datagram is no anomaly */
	assert_false(kvl_health_observed(&h, now));
	timeouts(1, 2);
	assert_true(kvl_health_observed(&h, now));
	replies(1);
	assert_true(kvl_health_observed(&h, now + KVL_HEALTH_OBSERVE_MS - 1));
	assert_false(kvl_health_observed(&h, now + KVL_HEALTH_OBSERVE_MS));
	now += 60000;
	low_scores(1);
	assert_true(kvl_health_observed(&h, now));
}

/* Comings and goings of a node, and the most of them in any minute from a time on. */
struct changes {
	uint64_t at[4096];
	size_t count;
};

static size_t changes_most(const struct changes *c, uint64_t from)
{
	size_t most = 0, first = 0;

	for (size_t last = 0; last < c->count; last++) {
		while (c->at[last] - c->at[first] >= 60000 || c->at[first] < from)
			if (++first > last)
				break;
		if (first <= last && last - first + 1 > most)
			most = last - first + 1;
	}
	return most;
}

/* A node that lives and dies by turns: 100 requests a second, a timeout of 100 ms, probes. */
static void flap(uint32_t up_ms, uint32_t down_ms, bool by_score, struct changes *c)
{
	const uint64_t begin = now, end = now + 20 * 60000;
	uint64_t run = 0;
	bool was_in = true;

	c->count = 0;
	for (; now < end; now += 50) {
		bool up = (now - begin) % (up_ms + down_ms) < up_ms;

		if (kvl_health_eligible(&h) && (up || by_score)) {
			run = 0;
			kvl_health_passive(&h, &params, 5, 0, 0, now);
		} else if (kvl_health_eligible(&h)) {
			kvl_health_passive(&h, &params, 0, 5, run += 5, now);
		}
		if (by_score && now % 1000 == 0)
			kvl_health_low(&h, &params, !up, now);
		if (kvl_health_probe_at(&h, &params) <= now) {
			kvl_health_probe_sent(&h, now);
			kvl_health_probe(&h, &params, up || by_score, now);
		}
		kvl_health_tick(&h, &params, now);
		if (kvl_health_eligible(&h) != was_in && c->count < 4096)
			c->at[c->count++] = now;
		was_in = kvl_health_eligible(&h);
	}
}

/* No oscillation (SPEC 6.6): the stated bound, over flaps of many lengths. */
static void test_flapping_is_bounded(void **state)
{
	static const uint32_t lengths[] = {
		50, 150, 300, 500, 1000, 2000, 3000, 5000, 10000, 15000, 30000, 70000};
	static struct changes c;
	size_t peak = 0, lasting = 0;

	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
		for (size_t j = 0; j < sizeof(lengths) / sizeof(*lengths); j++)
			for (int by_score = 0; by_score < 2; by_score++) {
				uint64_t begin;
				size_t most;

				start(NULL);
				begin = now;
				flap(lengths[i], lengths[j], by_score, &c);
				most = changes_most(&c, 0);
				peak = most > peak ? most : peak;
				most = changes_most(&c, begin + 120000);
				lasting = most > lasting ? most : lasting;
			}
	print_message("flapping: at most %zu changes in any minute, %zu lasting\n", peak, lasting);
	assert_true(peak <= KVL_HEALTH_CHANGES_PEAK);
	assert_true(peak > KVL_HEALTH_CHANGES_PEAK / 2); /* it did flap */
	assert_true(lasting <= KVL_HEALTH_CHANGES_LASTING);
}

#define TEST(f) cmocka_unit_test_setup(f, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_three_timeouts_take_out),
		TEST(test_one_lost_datagram_never_ejects),
		TEST(test_a_reply_between_starts_anew),
		TEST(test_lossy_is_not_down),
		TEST(test_probes_and_timeouts_add_up),
		TEST(test_probes_do_not_hide_timeouts),
		TEST(test_back_through_half_open),
		TEST(test_first_failure_on_trial),
		TEST(test_old_requests_on_trial),
		TEST(test_when_a_probe_is_wanted),
		TEST(test_dsr_is_always_probed),
		TEST(test_counts_saturate),
		TEST(test_cooldown_doubles_and_is_forgiven),
		TEST(test_three_low_scores_cool_down),
		TEST(test_cooldown_is_sat_out),
		TEST(test_failures_outrank_scores),
		TEST(test_phi_and_signs_of_life),
		TEST(test_idle_node_outlives_its_agent),
		TEST(test_each_silence_is_suspected_once),
		TEST(test_lossy_replies_settle_silence),
		TEST(test_failures_count_during_settled_silence),
		TEST(test_silence_and_failing_probes),
		TEST(test_ramp),
		TEST(test_observation),
		TEST(test_flapping_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

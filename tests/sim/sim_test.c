/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * That the decision is worth what docs/decision.md says, in a smaller version of it: shorter runs,
 * one seed. The bounds are the aims, not what was measured.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "tests/sim/sim.h"

static const struct sim_policy *policy(const char *name)
{
	for (size_t i = 0; i < sim_policy_count; i++)
		if (strcmp(sim_policies[i].name, name) == 0)
			return &sim_policies[i];
	fail_msg("no policy %s", name);
	return NULL;
}

static const struct sim_scenario *scenario(const char *name)
{
	for (size_t i = 0; i < sim_scenario_count; i++)
		if (strcmp(sim_scenarios[i].name, name) == 0)
			return &sim_scenarios[i];
	fail_msg("no scenario %s", name);
	return NULL;
}

static struct sim_result run(const char *in, const char *by, double load)
{
	struct sim_params params = sim_defaults();
	struct sim_result result;

	params.scenario = scenario(in);
	params.policy = policy(by);
	params.load = load;
	params.end = params.warm_up + 15 * SIM_SECOND;
	sim_run(&params, &result);
	return result;
}

/* An idle fleet shows the service time's own distribution: exponential of mean 4 ms, and two hops. */
static void test_the_simulator_itself(void **state)
{
	struct sim_result r = run("uniform", "random", 0.1);

	assert_true(fabs(r.p50_ms - (4 * log(2) + 0.5)) < 0.1);
	assert_true(fabs(r.p99_ms - (4 * log(100) + 0.5)) < 1);
	assert_true(fabs(r.mean_ms - 4.5) < 0.1);
	assert_true(r.success == 1);
	/* 12 nodes of 1000 requests a second */
	assert_true(fabs((double)r.requests / (15 * 1200) - 1) < 0.03);
}

static void test_deterministic(void **state)
{
	struct sim_result a = run("late", "kvlane", 0.7), b = run("late", "kvlane", 0.7);

	assert_memory_equal(&a, &b, sizeof(a));
}

/* All policies see the same requests. */
static void test_same_traffic(void **state)
{
	struct sim_params params = sim_defaults();
	struct sim_result a, b;

	params.scenario = scenario("uniform");
	params.end = params.warm_up + 3 * SIM_SECOND;
	params.load = 0.3;
	params.policy = policy("oracle");
	sim_run(&params, &a);
	params.policy = policy("kvlane");
	sim_run(&params, &b);
	assert_in_range(a.requests, b.requests - 20, b.requests + 20); /* under way at the end */
}

static void test_near_the_oracle(void **state)
{
	for (size_t i = 0; i < sim_scenario_count; i++) {
		const char *name = sim_scenarios[i].name;
		double best = run(name, "oracle", 0.7).p99_ms,
		       got = run(name, "kvlane", 0.7).p99_ms;

		print_message("%s: p99 %.2f ms, %.2f of the oracle's\n", name, got, got / best);
		assert_true(got <= 1.25 * best);
	}
}

static void test_never_worse_than_random(void **state)
{
	static const double loads[] = {0.5, 0.85};

	for (size_t i = 0; i < sim_scenario_count; i++)
		for (size_t l = 0; l < 2; l++) {
			struct sim_result chance = run(sim_scenarios[i].name, "random", loads[l]);
			struct sim_result got = run(sim_scenarios[i].name, "kvlane", loads[l]);

			assert_true(got.p99_ms <= chance.p99_ms);
			assert_true(got.success >= chance.success);
		}
}

/* As docs/decision.md compares: whole runs, the mean of some seeds. */
static double mean_p99(const struct sim_scenario *scenario, const char *by)
{
	struct sim_params params = sim_defaults();
	struct sim_result result;
	double sum = 0;

	params.scenario = scenario;
	params.policy = policy(by);
	for (params.seed = 1; params.seed <= 4; params.seed++) {
		sim_run(&params, &result);
		sum += result.p99_ms;
	}
	return sum / 4;
}

/*
 * Than p2c and Prequal in at least 7 of the 9, and nowhere by more than 1% worse. C3 is told the
 * servers' queues: in uniform, death and flapping the two are within half a percent, which four
 * seeds do not tell apart (docs/decision.md has ten).
 */
static void test_better_than_others(void **state)
{
	static const struct {
		const char *name;
		size_t least;
	} others[] = {{"p2c", 7}, {"prequal", 7}, {"c3", 6}};
	size_t won[3] = {0};

	for (size_t i = 0; i < sim_scenario_count; i++) {
		const struct sim_scenario *s = &sim_scenarios[i];
		double ours = mean_p99(s, "kvlane");

		for (size_t o = 0; o < 3; o++) {
			double theirs = mean_p99(s, others[o].name);

			print_message("%s: p99 %.2f ms, %s %.2f\n", s->name, ours, others[o].name,
				theirs);
			won[o] += ours < theirs;
			assert_true(ours < 1.01 * theirs);
		}
	}
	for (size_t o = 0; o < 3; o++)
		assert_in_range(won[o], others[o].least, sim_scenario_count);
}

/* SPEC 6.6, seen from the routes. */
static void test_flapping_changes_few_routes(void **state)
{
	struct sim_result r = run("flapping", "kvlane", 0.7);

	assert_true(r.changes <= KVL_HEALTH_CHANGES_PEAK);
	assert_true(r.changes > 0);
}

/* SPEC 4.3: a node that rejects half at once must not be taken for a fast one. */
static void test_rejecting_is_avoided(void **state)
{
	struct sim_result naive = run("rejecting", "leastinflight", 0.7);
	struct sim_result got = run("rejecting", "kvlane", 0.7);

	assert_true(naive.success < 0.97);
	assert_true(got.success > 0.998);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_simulator_itself),
		cmocka_unit_test(test_deterministic),
		cmocka_unit_test(test_same_traffic),
		cmocka_unit_test(test_near_the_oracle),
		cmocka_unit_test(test_never_worse_than_random),
		cmocka_unit_test(test_better_than_others),
		cmocka_unit_test(test_flapping_changes_few_routes),
		cmocka_unit_test(test_rejecting_is_avoided),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/sim/sim.h"

static double env(const char *name, double otherwise)
{
	const char *v = getenv(name);
	return v ? atof(v) : otherwise;
}

int main(int argc, char **argv)
{
	double loads[] = {0.5, 0.7, 0.85};
	double only = env("LOAD", 0);
	struct sim_params p = {.seed = (uint64_t)env("SEED", 1), .warm_up = 5 * SIM_SECOND,
		.end = (uint64_t)(env("SECONDS", 40) * 1e9), .scorer = kvl_scorer_defaults(3),.hot = (uint32_t)env("HOT", 0)};
	p.scorer.weights.temperature = env("T", p.scorer.weights.temperature);
	p.scorer.weights.min_share = env("MIN", p.scorer.weights.min_share);
	p.scorer.health.settle_ms = 200;
	p.scorer.score.cpu_threshold = env("CPU", p.scorer.score.cpu_threshold);
	struct timespec t0, t1;

	for (size_t l = 0; l < 3; l++) {
		if (only && loads[l] != only)
			continue;
		for (size_t s = 0; s < sim_scenario_count; s++) {
			if (getenv("SCENARIO") && strcmp(getenv("SCENARIO"), sim_scenarios[s].name))
				continue;
			for (size_t i = 0; i < sim_policy_count; i++) {
				struct sim_result r;
				if (getenv("POLICY") && strcmp(getenv("POLICY"), sim_policies[i].name))
					continue;
				p.load = loads[l];
				p.scenario = &sim_scenarios[s];
				p.policy = &sim_policies[i];
				clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t0);
				sim_run(&p, &r);
				clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t1);
				printf("%.2f %-11s %-13s p50 %6.2f p99 %6.2f p999 %7.2f share %.3f chg %5.1f ok %.5f  n %lu  %.2fs\n",
					p.load, p.scenario->name, p.policy->name, r.p50_ms, r.p99_ms,
					r.p999_ms, r.node_share, r.changes, r.success, r.requests,
					(t1.tv_sec - t0.tv_sec) + (t1.tv_nsec - t0.tv_nsec) / 1e9);
			}
		}
	}
	return 0;
}

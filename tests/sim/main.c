/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kvsim: every policy in every scenario, as a table and as CSV. docs/decision.md says what it is
 * for and what came out.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/sim.h"

#define LOADS_MAX 8

struct options {
	double loads[LOADS_MAX];
	size_t load_count;
	const char *scenario, *policy; /* NULL = all */
	unsigned int seeds;
	struct sim_params params;
	FILE *csv;
};

static void usage(FILE *to)
{
	fputs("usage: kvsim [-l LOAD[,LOAD...]] [-s SCENARIO] [-p POLICY] [-t SECONDS] [-n SEEDS]\n"
	      "             [-c CSV] [-T TEMPERATURE] [-m MIN_SHARE] [-H HOT]\n"
	      "Loads are shares of the fleet's capacity; latencies in the table are means over "
	      "the\n"
	      "seeds of each run's percentile, in ms; a failed request counts as 200 ms.\n",
		to);
}

static void loads_parse(struct options *o, char *text)
{
	o->load_count = 0;
	for (char *at = strtok(text, ","); at != NULL && o->load_count < LOADS_MAX;
		at = strtok(NULL, ","))
		o->loads[o->load_count++] = atof(at);
}

static int option_take(struct options *o, int option)
{
	switch (option) {
	case 'l':
		loads_parse(o, optarg);
		return 0;
	case 's':
		o->scenario = optarg;
		return 0;
	case 'p':
		o->policy = optarg;
		return 0;
	case 't':
		o->params.end = o->params.warm_up + (uint64_t)(atof(optarg) * 1e9);
		return 0;
	case 'n':
		o->seeds = (unsigned int)atoi(optarg);
		return o->seeds > 0 ? 0 : -1;
	case 'c':
		o->csv = fopen(optarg, "w");
		return o->csv == NULL ? -1 : 0;
	case 'T':
		o->params.scorer.weights.temperature = atof(optarg);
		return kvl_weights_check(&o->params.scorer.weights);
	case 'm':
		o->params.scorer.weights.min_share = atof(optarg);
		return kvl_weights_check(&o->params.scorer.weights);
	case 'H':
		o->params.hot = (uint32_t)atoi(optarg);
		return 0;
	default:
		return -1;
	}
}

static void add(struct sim_result *sum, const struct sim_result *r, unsigned int seeds)
{
	sum->p50_ms += r->p50_ms / seeds;
	sum->p99_ms += r->p99_ms / seeds;
	sum->p999_ms += r->p999_ms / seeds;
	sum->mean_ms += r->mean_ms / seeds;
	sum->success += r->success / seeds;
	sum->node_share += r->node_share / seeds;
	sum->changes += r->changes / seeds;
	sum->requests += r->requests;
}

static struct sim_result run(const struct options *o)
{
	struct sim_params params = o->params;
	struct sim_result sum = {0}, one;

	for (unsigned int seed = 1; seed <= o->seeds; seed++) {
		params.seed = seed;
		sim_run(&params, &one);
		add(&sum, &one, o->seeds);
	}
	return sum;
}

static void print(const struct options *o, const struct sim_result *r, double oracle_p99)
{
	const struct sim_params *p = &o->params;

	printf("  %-14s %8.2f %8.2f %6.2f %8.2f %8.1f%% %8.1f %10.4f%%\n", p->policy->name,
		r->p50_ms, r->p99_ms, r->p99_ms / oracle_p99, r->p999_ms, 100 * r->node_share,
		r->changes, 100 * r->success);
	if (o->csv != NULL)
		fprintf(o->csv, "%.2f,%s,%s,%.3f,%.3f,%.3f,%.3f,%.3f,%.4f,%.2f,%.6f,%lu\n", p->load,
			p->scenario->name, p->policy->name, r->p50_ms, r->p99_ms,
			r->p99_ms / oracle_p99, r->p999_ms, r->mean_ms, r->node_share, r->changes,
			r->success, r->requests);
}

static void scenario_run(struct options *o, const struct sim_scenario *scenario)
{
	double oracle_p99;

	o->params.scenario = scenario;
	o->params.policy = &sim_policies[sim_policy_count - 1];
	oracle_p99 = run(o).p99_ms;
	printf("\n%s at %.0f%%: %s\n", scenario->name, 100 * o->params.load, scenario->title);
	printf("  %-14s %8s %8s %6s %8s %9s %8s %11s\n", "policy", "p50", "p99", "/orcl", "p99.9",
		"max node", "chg/min", "success");
	for (size_t i = 0; i < sim_policy_count; i++) {
		struct sim_result result;

		if (o->policy != NULL && strcmp(o->policy, sim_policies[i].name) != 0)
			continue;
		o->params.policy = &sim_policies[i];
		result = run(o);
		print(o, &result, oracle_p99);
	}
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct options o = {
		.loads = {0.5, 0.7, 0.85}, .load_count = 3, .seeds = 1, .params = sim_defaults()};
	int option;

	while ((option = getopt(argc, argv, "l:s:p:t:n:c:T:m:H:")) != -1)
		if (option_take(&o, option) != 0) {
			usage(stderr);
			return 2;
		}
	if (o.csv != NULL)
		fputs("load,scenario,policy,p50_ms,p99_ms,p99_over_oracle,p999_ms,mean_ms,"
		      "max_node_share,route_changes_per_minute,success,requests\n",
			o.csv);
	for (size_t l = 0; l < o.load_count; l++) {
		o.params.load = o.loads[l];
		for (size_t s = 0; s < sim_scenario_count; s++)
			if (o.scenario == NULL || strcmp(o.scenario, sim_scenarios[s].name) == 0)
				scenario_run(&o, &sim_scenarios[s]);
	}
	return o.csv != NULL && fclose(o.csv) != 0 ? 1 : 0;
}

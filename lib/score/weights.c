/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "lib/score/weights.h"

struct kvl_weights_params kvl_weights_defaults(uint32_t replication)
{
	return (struct kvl_weights_params){
		.temperature = 0.2,
		.min_share = 0.001,
		.replication = replication,
	};
}

int kvl_weights_check(const struct kvl_weights_params *params)
{
	if (!(params->temperature >= 0.001 && params->temperature <= 10))
		return -EINVAL;
	if (!(params->min_share >= 0 && params->min_share <= 0.2))
		return -EINVAL;
	return params->replication >= 1 && params->replication <= KVL_REPLICATION_MAX ? 0 : -EINVAL;
}

/* w / (w + (N-1) * most) = m  =>  w = m / (1-m) * (N-1) * most */
uint16_t kvl_weights_floor(const struct kvl_weights_params *params)
{
	double m = params->min_share;
	double floor = m / (1 - m) * (params->replication - 1) * KVL_WEIGHT_MOST;

	return floor < 1 ? 1 : floor > KVL_WEIGHT_MOST ? KVL_WEIGHT_MOST : (uint16_t)ceil(floor);
}

uint32_t kvl_weights_explore(const struct kvl_weights_params *params)
{
	return (uint32_t)(params->min_share * params->replication * UINT32_MAX); /* <= 0.2 * 5 */
}

static double best_score(const struct kvl_weighed *nodes, size_t count)
{
	double best = 0;

	for (size_t i = 0; i < count; i++)
		if (nodes[i].reason == KVL_FILTER_IN && nodes[i].score > best)
			best = nodes[i].score;
	return best;
}

static uint16_t quantise(double weight, uint16_t floor)
{
	double scaled = weight * KVL_WEIGHT_MOST + 0.5;

	if (!(scaled > floor)) /* NAN too */
		return floor;
	return scaled >= KVL_WEIGHT_MOST ? KVL_WEIGHT_MOST : (uint16_t)scaled;
}

void kvl_weights(const struct kvl_weights_params *params, const struct kvl_weighed *nodes,
	size_t count, double confidence, uint16_t *weights)
{
	double best = best_score(nodes, count);
	double t =
		params->temperature
		/ (confidence > KVL_CONFIDENCE_LEAST ? fmin(confidence, 1) : KVL_CONFIDENCE_LEAST);
	uint16_t floor = kvl_weights_floor(params);

	for (size_t i = 0; i < count; i++) {
		double w = exp((nodes[i].score - best) / t);

		/* A node that was let in though its health says no (fail-open) has no share. */
		if (nodes[i].share > 0)
			w *= nodes[i].share;
		weights[i] = nodes[i].reason == KVL_FILTER_IN ? quantise(w, floor) : 0;
	}
}

static const char *const choices[KVL_CHOICES] = {
	[KVL_CHOOSE_SOFTMAX] = "softmax",
	[KVL_CHOOSE_BEST] = "best",
	[KVL_CHOOSE_P2C] = "p2c",
	[KVL_CHOOSE_LEAST] = "least",
};

const char *kvl_choice_name(enum kvl_choice choice)
{
	return choice < KVL_CHOICES ? choices[choice] : "unknown";
}

int kvl_choice_parse(const char *name, enum kvl_choice *choice)
{
	for (unsigned int c = 0; c < KVL_CHOICES; c++)
		if (strcmp(name, choices[c]) == 0) {
			*choice = c;
			return 0;
		}
	return -EINVAL;
}

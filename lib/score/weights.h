/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/score/filter.h"

/*
 * From scores to the weights that the data plane draws by (SPEC 5; docs/architecture.md, "The
 * decision"):
 *   w = exp((score - best score) / T), the published u16 being 65535 * w * share
 * whatever the choice, since services and rules with different choices share a pool's weights. `best`
 * takes the largest of the row: only the order counts, and it survives quantisation above the floor
 * (at T = 0.2 of scores 0.00001 apart near the best, 0.0005 apart a whole point below it). Of nodes
 * that are all at the floor `best` takes the first of the row.
 * A weight is 0 for nodes that the hard filter took out, and for them only: any other is at least
 * 1, and at least what gives it the minimum share of a draw in which all others are at their best. A
 * node on trial or ramping up has its `share` of the weight, with the minimum beneath.
 */
enum kvl_choice {
	KVL_CHOOSE_SOFTMAX, /* draw by weight */
	KVL_CHOOSE_BEST,    /* the largest weight of the row */
	KVL_CHOOSE_P2C,     /* two by weight, fewer in flight (pick.h) */
	KVL_CHOOSE_LEAST,   /* of all, the least expected delay per weight (pick.h); the default */
	KVL_CHOICES,
};

#define KVL_WEIGHT_MOST 65535u

struct kvl_weights_params {
	double temperature; /* in score, 0.001..10; default 0.2 */
	double min_share;   /* of a draw among `replication` candidates, 0..0.2; default 0.001 */
	uint32_t replication;
};

struct kvl_weights_params kvl_weights_defaults(uint32_t replication);

/* 0 or -EINVAL. */
int kvl_weights_check(const struct kvl_weights_params *params);

/* One node as the weights see it. */
struct kvl_weighed {
	double score; /* 0..1 */
	double share; /* kvl_health_share() */
	enum kvl_filter reason;
};

/*
 * `confidence` 0..1 (SPEC 5.3): 1 = topology and reports are fresh; the temperature is divided by
 * it (no less than KVL_CONFIDENCE_LEAST), so that what is not known well is not acted on sharply.
 */
#define KVL_CONFIDENCE_LEAST 0.1
#define KVL_CONFIDENCE_STALE 0.5 /* of a topology that is stale: twice the temperature */

void kvl_weights(const struct kvl_weights_params *params, const struct kvl_weighed *nodes,
	size_t count, double confidence, uint16_t *weights);

/* The floor that `min_share` puts under a weight. */
uint16_t kvl_weights_floor(const struct kvl_weights_params *params);

/* KVL_WEIGHT_MOST / weight, from 1 on, so that `least` multiplies (pick.h); 0: the node is out. */
static inline float kvl_handicap(uint16_t weight)
{
	return weight == 0 ? 0 : (float)KVL_WEIGHT_MOST / (float)weight;
}

/* What `least` draws by chance, of 2^32: the minimum share for each candidate. */
uint32_t kvl_weights_explore(const struct kvl_weights_params *params);

const char *kvl_choice_name(enum kvl_choice choice); /* "softmax", "best", "p2c", "least" */

/* 0 or -EINVAL. */
int kvl_choice_parse(const char *name, enum kvl_choice *choice);

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lib/score/breakdown.h"
#include "lib/score/facts.h"

/*
 * The two score models (SPEC 4). Pure functions of facts, parameters and what the fleet looks like
 * as a whole. Chosen per service; both end in 0..1.
 */
enum kvl_score_model {
	KVL_SCORE_PENALTY,  /* 100 points, less what is wrong; the default */
	KVL_SCORE_WEIGHTED, /* four weighted terms */
};

/* The weights of SPEC 4.1. They need not add up to 1; a profile (profile.h) chooses them. */
struct kvl_score_weights {
	double capacity_free, load, latency, hit;
	/* Taken times facts.network_cost (SPEC 4.4): for writes, and for reads across sites. */
	double network;
};

/* Every figure is a default of SPEC 4.1-4.3, changeable at run time. Rates and shares are 0..1. */
struct kvl_score_params {
	enum kvl_score_model model;
	struct kvl_score_weights weights;
	double ceiling_us;       /* weighted: latency that scores 0; 0 = the fleet's worst p95 */
	double baseline_us;      /* penalty: the p99 that costs nothing; 0 = the fleet's */
	double cpu_threshold;    /* penalty: 2 points for each 5% over, at most 30; 0.70 */
	double io_threshold;     /* the same for I/O wait; 0.20 */
	double queue_high;       /* penalty: 10 points above it; 20 */
	double reject_threshold; /* both: a share of rejects above it costs 20%; 0.01 */
	const struct kvl_capability_tree *capability; /* borrowed; NULL (default) = all alike */
};

/* What the nodes of a service look like together (fleet.h). NAN = unknown. */
struct kvl_fleet {
	double worst_p95_us;
	double baseline_p99_us;
	/* The best of the nodes' affinities by class, by which each is divided; 0 = take them as
	 * they are. */
	double best_affinity[KVL_CLASSES];
};

extern const struct kvl_score_weights kvl_weights_read_heavy;  /* 0.2 0.3 0.2 0.3 */
extern const struct kvl_score_weights kvl_weights_write_heavy; /* 0.4 0.3 0.2 0.1 */

/* SPEC's figures, read-heavy. */
struct kvl_score_params kvl_score_defaults(void);

/* The score of one node for one request class (KVL_CLASS_* bits), with its breakdown. */
void kvl_score(const struct kvl_score_params *params, const struct kvl_fleet *fleet,
	const struct kvl_facts *facts, unsigned int class, struct kvl_breakdown *b);

/* The models' own part, before what both share; for kvl_score() and the worked examples. */
void kvl_score_weighted(const struct kvl_score_params *params, const struct kvl_fleet *fleet,
	const struct kvl_facts *facts, struct kvl_breakdown *b);
void kvl_score_penalty(const struct kvl_score_params *params, const struct kvl_fleet *fleet,
	const struct kvl_facts *facts, struct kvl_breakdown *b);

const char *kvl_score_model_name(enum kvl_score_model model); /* "penalty", "weighted" */

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lib/score/scorer.h"

/* Of scorer*.c only. */
struct kvl_scorer {
	struct kvl_scorer_params params;
	uint32_t max;
	struct kvl_scored_node *nodes;
	struct kvl_fleet_state fleet;
	struct kvl_self_check self_check;
	double confidence;
	uint64_t requests; /* since the last scoring */
	double rate;       /* requests a second of the whole pool, as of then */
	bool dirty;        /* weights have changed since the last tick */
	uint64_t scored_ms, judged_ms;
	/* room for one pass over the nodes */
	double *scratch; /* 2 * max */
	enum kvl_filter *reasons;
	struct kvl_weighed *weighed;
};

/* Adds to the history, and to the sample that is being gathered. */
void kvl_gather(struct kvl_scored_node *n, const struct kvl_seen *seen, uint64_t now_ms);

/* Facts, fleet, breakdowns, low scores, of all nodes. */
void kvl_rescore(struct kvl_scorer *s, uint64_t now_ms);

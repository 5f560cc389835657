/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lib/score/histogram.h"

/*
 * What a node did in the last 5 minutes, as the router saw it (SPEC 4.8), in ten slots of 30 s, the
 * oldest of which is dropped whole. 14 KB a node; no allocation.
 */
#define KVL_HISTORY_SLOTS   10
#define KVL_HISTORY_SLOT_MS 30000

struct kvl_outcomes {
	uint64_t replies, errors, rejects, timeouts; /* errors and rejects are replies too */
};

struct kvl_history {
	uint64_t slot; /* number of the newest: time / KVL_HISTORY_SLOT_MS */
	struct kvl_outcomes outcomes[KVL_HISTORY_SLOTS];
	struct kvl_histogram latency[KVL_HISTORY_SLOTS];
};

struct kvl_history_sum {
	struct kvl_outcomes outcomes;
	double average_us, p99_us; /* NAN = no reply */
};

void kvl_history_clear(struct kvl_history *h);

/* What was counted since the last call; `latency` may be NULL. A time before the newest slot counts
 * in the newest. */
void kvl_history_add(struct kvl_history *h, const struct kvl_outcomes *outcomes,
	const struct kvl_histogram *latency, uint64_t now_ms);

void kvl_history_read(struct kvl_history *h, uint64_t now_ms, struct kvl_history_sum *sum);

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>

#include "lib/score/score.h"

/*
 * What the nodes of a pool look like together: the worst p95, for the weighted model's ceiling, and
 * the long-run median of their p99, for the penalty model's baseline. Long-run, so that a fleet
 * that slows down as a whole for a while does not redefine what is good; the median, so that a few
 * bad nodes do not.
 */
#define KVL_FLEET_LONG_MS 300000.0

struct kvl_fleet_state {
	struct kvl_fleet fleet;
	uint64_t last_ms;
	uint32_t measured; /* times */
};

void kvl_fleet_init(struct kvl_fleet_state *f);

/* `p95_us`, `p99_us`: of the eligible nodes, NAN = unknown; reordered. */
void kvl_fleet_measure(
	struct kvl_fleet_state *f, double *p95_us, double *p99_us, size_t count, uint64_t now_ms);

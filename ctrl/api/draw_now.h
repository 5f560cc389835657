/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "ctrl/core/router.h"
#include "lib/score/weights.h"

/*
 * What the workers would do with a read of one row now, for `route`: by their own code, on copies of
 * their pulses, since `least` and `p2c` look at what no weight tells.
 */
struct draw_now {
	double probability[KVL_ROW_MAX]; /* by place; the mean of all workers */
	uint32_t in_flight[KVL_ROW_MAX]; /* of all workers */
	double latency_us[KVL_ROW_MAX];  /* mean of the workers that have an average; 0: none has */
};

/* `weights`: of each place of the row, 0 where it is out. A read is drawn among the first `n` that
 * are in. */
void draw_now(const struct kvl_router *r, const struct kvl_row *row,
	const uint16_t weights[KVL_ROW_MAX], unsigned int n, enum kvl_choice choice,
	uint32_t explore, struct draw_now *now);

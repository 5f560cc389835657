/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Do the scores still tell good nodes from bad (SPEC 6.8)? Pearson's correlation between score and
 * observed success, over the nodes of a pool and the last KVL_SELF_CHECK_LIVES rounds or so. When
 * some nodes succeed visibly less than others and the scores do not follow, the alarm is raised
 * after KVL_SELF_CHECK_ROUNDS such rounds in a row, and falls after as many good ones.
 */
#define KVL_SELF_CHECK_LIVES  120 /* rounds: at one a second, 2 minutes */
#define KVL_SELF_CHECK_ROUNDS 10
#define KVL_SELF_CHECK_LEAST  0.2   /* a correlation below is none */
#define KVL_SELF_CHECK_SPREAD 0.005 /* deviation of success that is worth telling apart: 0.5% */

struct kvl_self_check {
	double weight, sum_x, sum_y, sum_xx, sum_yy, sum_xy; /* decayed; x score, y success */
	uint32_t parted, met;                                /* rounds in a row */
	bool alarm;
};

void kvl_self_check_clear(struct kvl_self_check *c);

/* One round: each node's score and its share of requests that succeeded, both 0..1; pairs with a
 * NAN (a node without traffic) are left out. Returns true when the alarm was raised or fell. */
bool kvl_self_check_round(
	struct kvl_self_check *c, const double *scores, const double *success, size_t count);

/* -1..1; NAN while either side does not vary. */
double kvl_self_check_correlation(const struct kvl_self_check *c);

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <jansson.h>

#include "ctrl/core/router.h"

/* Parts of what `scores` tells. */

/* Each pool: model, profile and why it applies, weights, what its nodes look like together, and the
 * self check (SPEC 6.8). */
json_t *score_pools(const struct kvl_router *r, uint64_t now_ms);

/* The node's state machine: where it is, since when, what was counted, when it is probed. */
json_t *score_health(const struct kvl_router *r, uint16_t number, uint64_t now_ms);

/* Each metric's window: what it amounts to, its newest sample, how many there are (SPEC 4.8). */
json_t *score_windows(const struct kvl_scored_node *n);

/* The last 5 minutes as the router saw them. */
json_t *score_history(struct kvl_scored_node *n, uint64_t now_ms);

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

/*
 * Feeds the nodes' health (lib/score/health.h) with what the workers counted, and probes where
 * that is not enough. Reads the counters KVL_HEALTH_TICK_MS apart.
 */
#define KVL_HEALTH_TICK_MS 50

struct kvl_router;
struct kvl_health_watch;

/* NULL with errno. */
struct kvl_health_watch *kvl_health_watch_new(struct kvl_router *router);
void kvl_health_watch_free(struct kvl_health_watch *watch);

/* The node number has become free, or another node's: what is under way is not about it. */
void kvl_health_watch_follow(struct kvl_health_watch *watch, uint16_t number);

/* The configuration's health section may have changed. */
void kvl_health_watch_configure(struct kvl_health_watch *watch);

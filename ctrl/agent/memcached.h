/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/model/endpoint.h"

/*
 * What memcached says of itself, by `stats` over TCP. Rates are since the call before. A memcached
 * is always "full" and never compacts: what tells of room is whether storing something had to throw
 * something else out (SPEC 4).
 */
#define MEMCACHED_TIMEOUT_MS 500

struct memcached {
	struct kvl_endpoint address;
	/* the call before */
	bool known;
	uint64_t gets, hits, sets, evictions, time_ms;
	double qps_1m, qps_5m; /* moving averages */
};

struct memcached_figures {
	double capacity_free; /* share of sets that evicted nothing; else free memory; 0..1 */
	double hit_rate;
	double qps_1m, qps_5m;
};

/* 0, or negative errno: no connection, no answer in time, no stats. Figures are then NAN. */
int memcached_read(struct memcached *m, uint64_t now_ms, struct memcached_figures *figures);

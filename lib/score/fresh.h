/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * How long what is known is trusted (SPEC 6.4). Stale data is still used, and marked; its refresh
 * is asked for in the background; no decision waits.
 */
#define KVL_FRESH_KEYS_MS     30000
#define KVL_FRESH_TOPOLOGY_MS 60000
#define KVL_FRESH_LOAD_MS     5000
#define KVL_FRESH_LOAD_FORGET 12   /* times as long: stale load is used no more; 60 s */
#define KVL_FRESH_CALM_FACTOR 2    /* at low traffic, this much longer is tolerated */
#define KVL_FRESH_CALM_RPS    1000 /* "low": requests a second to the whole service */

/* Of a node's load: max(5 s, 2.5 report intervals). */
static inline uint32_t kvl_fresh_load_ms(uint32_t report_interval_ms)
{
	uint64_t limit = (uint64_t)report_interval_ms * 5 / 2;

	if (limit > UINT32_MAX)
		limit = UINT32_MAX;
	return limit > KVL_FRESH_LOAD_MS ? (uint32_t)limit : KVL_FRESH_LOAD_MS;
}

/* Older than this they count as unknown, which is neutral: what a node's CPU was at minutes ago
 * must not weigh on it for as long as its agent is away. */
static inline uint64_t kvl_fresh_load_forget_ms(uint32_t report_interval_ms)
{
	return (uint64_t)KVL_FRESH_LOAD_FORGET * kvl_fresh_load_ms(report_interval_ms);
}

/* Whether a figure of that time is stale; never seen (0) is. A time ahead of now is fresh. */
static inline bool kvl_fresh_stale(uint64_t seen_ms, uint64_t limit_ms, uint64_t now_ms)
{
	return seen_ms == 0 || (now_ms > seen_ms && now_ms - seen_ms > limit_ms);
}

/* The limit at this traffic: few requests do little harm by somewhat older figures. */
static inline uint64_t kvl_fresh_limit(uint64_t limit_ms, double requests_per_second)
{
	return requests_per_second < KVL_FRESH_CALM_RPS ? limit_ms * KVL_FRESH_CALM_FACTOR
							: limit_ms;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * A node's health as a function of what was seen of it and of time (SPEC 6.3, 6.6): no clock, no
 * I/O, no allocation in here. Inputs are what the workers counted (passive) and what probes found.
 *
 *   HEALTHY --2 failures--> SUSPECT --3 (timeouts_to_down)--> DOWN
 *      ^  ^------success------'                                | a probe succeeds
 *      |                                                       v
 *      `--------- KVL_HEALTH_RECOVER successes ------------ HALF_OPEN --first failure--> DOWN
 *
 * "Failures" are in a row: a success between them starts the count anew. Only the run counts, so a
 * lossy path keeps its node; and a run that ended in an interval that brought replies too does not
 * take a node out by itself: a dead node is silent for one whole request timeout before its first
 * timeout is noticed, so such an interval shows a living one. It stays one failure short of DOWN,
 * and the probe that SUSPECT asks for, or the next interval, decides.
 */
#define KVL_HEALTH_SUSPECT_AFTER 2
#define KVL_HEALTH_RECOVER       5 /* replies or probes answered in HALF_OPEN */

enum kvl_health_state {
	KVL_HEALTH_HEALTHY,
	KVL_HEALTH_SUSPECT,   /* still in */
	KVL_HEALTH_DOWN,      /* out */
	KVL_HEALTH_HALF_OPEN, /* in again, on trial */
};

/* Times in milliseconds. One per service policy; borrowed by the nodes, may change at any time. */
struct kvl_health_params {
	uint32_t timeouts_to_down; /* failures in a row; less than 2 is taken as 2 (SPEC 6.6) */
	uint32_t probe_interval_ms;
	uint32_t passive_fresh_ms; /* without passive data for this long: probe */
	/* The longest request timeout. Timeouts noticed within it after a node came back are of
	 * requests sent before it went, and no failure on trial. */
	uint32_t settle_ms;
	bool always_probe; /* dsr: there is no passive data */
};

struct kvl_health {
	enum kvl_health_state state;
	uint32_t failures;             /* in a row */
	uint32_t successes;            /* since HALF_OPEN began */
	uint64_t since_ms;             /* when the state began */
	uint64_t passive_ms, probe_ms; /* last passive data, last probe sent; 0 = never */
};

#define KVL_HEALTH_NEVER UINT64_MAX

/* A node not heard of yet is HEALTHY and wants a probe at once. now_ms: a monotonic clock, > 0. */
void kvl_health_init(struct kvl_health *h, uint64_t now_ms);

/*
 * What the workers counted since the last call: replies in time, timeouts, and how many timeouts
 * the node has had in a row by now (since its last reply, whenever that was). A call with neither
 * replies nor timeouts changes nothing. Returns true when the state changed.
 */
bool kvl_health_passive(struct kvl_health *h, const struct kvl_health_params *params,
	uint64_t replies, uint64_t timeouts, uint64_t consecutive_timeouts, uint64_t now_ms);

/* A probe was sent: the next is not due before the interval has passed. */
void kvl_health_probe_sent(struct kvl_health *h, uint64_t now_ms);

/* A probe was answered, or failed (timeout, ICMP error). Returns true when the state changed. */
bool kvl_health_probe(
	struct kvl_health *h, const struct kvl_health_params *params, bool ok, uint64_t now_ms);

/* When the next probe is wanted: a time, in the past if it is due, or KVL_HEALTH_NEVER as long as
 * the passive data tells enough (the answer changes with every call above). */
uint64_t kvl_health_probe_at(const struct kvl_health *h, const struct kvl_health_params *params);

/* Whether requests may go there. */
static inline bool kvl_health_eligible(const struct kvl_health *h)
{
	return h->state != KVL_HEALTH_DOWN;
}

/* "healthy", "suspect", "down", "half_open": in the control socket's answers. */
const char *kvl_health_name(enum kvl_health_state state);

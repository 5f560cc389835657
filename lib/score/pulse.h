/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

/*
 * What a core knows of a node by itself: how many of its own requests are there, and how long its
 * last answers took. That is exact and at once, and tells of a stalled node within a round trip,
 * long before any score can. No counters are shared between cores, and so there is no herd: no two
 * cores act on the same stale figure.
 *
 * Kept in the form in which the choice multiplies it (pick.h), since a node's pulse is read by three
 * draws for each request that it gets. 16 bytes: a thousand nodes stay in the first level cache.
 */
struct kvl_pulse {
	float queue;       /* requests in flight + 1: the next one's place; exact up to 2^24 */
	float latency;     /* microseconds, from the floor to the most; 0: no answer yet */
	uint32_t blur;     /* KVL_BLUR_IDLE, or KVL_BLUR_BUSY when anything is in flight */
	uint32_t answered; /* ms, the core's clock: when it last replied, whatever */
};
_Static_assert(sizeof(struct kvl_pulse) == 16, "four a cache line");

/*
 * Bits of a cost, an IEEE 754 single, that are left to chance (pick.h). The lower 22 of the mantissa
 * add a third to a half at most: with nothing in flight there is no queue to avoid, and a score of
 * 95 against 100 would send all of a row's reads to one node. The lower 17 add up to 1/64, so that
 * equals share.
 */
#define KVL_BLUR_IDLE ((1u << 22) - 1)
#define KVL_BLUR_BUSY ((1u << 17) - 1)

/*
 * Latencies below the floor count as it: differences of a few microseconds are the hosts' noise, and
 * the luckiest node would get all reads of its rows.
 */
#define KVL_LATENCY_FLOOR 250.0f     /* microseconds */
#define KVL_LATENCY_MOST  (1u << 22) /* microseconds */

/*
 * The average is over time, not over answers: of three quarters of a second, but of no more than the
 * last 128 answers. So a node that is seldom asked, because it was slow, is believed when it is fast
 * again, and one that is asked all the time is not judged by the luck of its last few.
 */
#define KVL_LATENCY_WINDOW_MS 768
#define KVL_LATENCY_LEAST_MS  (KVL_LATENCY_WINDOW_MS / 128)

static inline void kvl_pulse_init(struct kvl_pulse *p)
{
	*p = (struct kvl_pulse){.queue = 1, .blur = KVL_BLUR_IDLE};
}

static inline void kvl_pulse_sent(struct kvl_pulse *p)
{
	p->queue += 1;
	p->blur = KVL_BLUR_BUSY;
}

/* A request that was sent is waited for no more. */
static inline void kvl_pulse_left(struct kvl_pulse *p)
{
	p->queue -= 1;
	p->blur = p->queue > 1 ? KVL_BLUR_BUSY : KVL_BLUR_IDLE;
}

static inline uint32_t kvl_pulse_in_flight(const struct kvl_pulse *p)
{
	return (uint32_t)p->queue - 1;
}

/*
 * Of an answer; or, as the time waited, of a timeout; not of a rejection, which says nothing of how
 * fast a node works (SPEC 4.3). `us` at most KVL_LATENCY_MOST. Before p->answered is set to now_ms.
 */
static inline void kvl_pulse_latency(struct kvl_pulse *p, uint32_t us, uint32_t now_ms)
{
	uint32_t since = now_ms - p->answered;
	float took = us > (uint32_t)KVL_LATENCY_FLOOR ? (float)(int32_t)us : KVL_LATENCY_FLOOR;

	since = since > KVL_LATENCY_LEAST_MS ? since : KVL_LATENCY_LEAST_MS;
	if (since > KVL_LATENCY_WINDOW_MS || p->latency == 0)
		since = KVL_LATENCY_WINDOW_MS;
	p->latency += (took - p->latency) * ((float)(int32_t)since / KVL_LATENCY_WINDOW_MS);
}

/*
 * About once a second for each node. What was known of a node that has not answered anything for so long
 * is forgotten, so that one bad answer, or a time when it was slow, does not keep it from being asked
 * for good: it counts as the slowest of its row then, and is asked sooner or later.
 */
#define KVL_LATENCY_FORGET_MS 8000

static inline void kvl_pulse_age(struct kvl_pulse *p, uint32_t now_ms)
{
	if (p->queue == 1 && now_ms - p->answered >= KVL_LATENCY_FORGET_MS)
		p->latency = 0;
}

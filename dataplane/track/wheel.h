/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A hashed timing wheel (Varghese and Lauck, SOSP'87, scheme 6) of one-millisecond ticks over
 * timers that lie inside an array of larger things. It is lazy: disarming only clears a flag, and
 * arming again leaves the timer where it is linked when that comes no later than the new deadline.
 * The common life of a pending slot (armed, answered, armed again) so costs one store, touches no
 * neighbour, and the wheel meets the slot once per lap of its timeout.
 *
 * One thread. Ticks are 32 bits and wrap; a deadline lies less than 2^31 ticks ahead.
 */
#define KVL_WHEEL_BUCKETS 4096u /* later deadlines are linked at the horizon and moved on there */
#define KVL_TIMER_NONE    UINT32_MAX

struct kvl_timer {
	uint32_t next, prev; /* indices in the same bucket */
	uint32_t at;         /* the tick at which the bucket it is linked in is visited */
	uint32_t deadline;
	bool linked, armed;
} __attribute__((packed, aligned(2))); /* 18 bytes: the slot it lies in has none to spare */

struct kvl_wheel {
	char *base;    /* first timer */
	size_t stride; /* bytes from one to the next */
	uint32_t now;  /* last tick fully visited */
	uint32_t heads[KVL_WHEEL_BUCKETS];
};

static inline struct kvl_timer *kvl_wheel_timer(const struct kvl_wheel *w, uint32_t index)
{
	return (struct kvl_timer *)(w->base + index * w->stride);
}

/* Zeroes `count` timers. */
void kvl_wheel_init(struct kvl_wheel *w, void *first, size_t stride, uint32_t count);

static inline bool kvl_tick_before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

/* Of kvl_wheel_arm(): a timer that has to be linked elsewhere. */
void kvl_wheel_link(struct kvl_wheel *w, uint32_t index, uint32_t deadline);

/* deadline: a tick after w->now; an earlier one fires at the next tick. */
static inline void kvl_wheel_arm(struct kvl_wheel *w, uint32_t index, uint32_t deadline)
{
	struct kvl_timer *t = kvl_wheel_timer(w, index);

	if (!kvl_tick_before(w->now, deadline))
		deadline = w->now + 1;
	t->deadline = deadline;
	t->armed = true;
	if (!t->linked || kvl_tick_before(deadline, t->at))
		kvl_wheel_link(w, index, deadline);
}

static inline void kvl_wheel_disarm(struct kvl_wheel *w, uint32_t index)
{
	kvl_wheel_timer(w, index)->armed = false;
}

/*
 * Visits buckets up to tick `to` and writes the indices of the expired (now disarmed) timers to
 * `expired`. Stops early when `max` are found: then w->now stays behind `to`, and the next call
 * goes on. Returns their number.
 */
uint32_t kvl_wheel_advance(struct kvl_wheel *w, uint32_t to, uint32_t *expired, uint32_t max);

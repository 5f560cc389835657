/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Token bucket in integers, for budgets (SPEC 7, 3.2): `rate` tokens a second flow in up to
 * `burst`. Credit is kept in units of 1/KVL_BUCKET_UNIT token so that slow rates lose nothing to
 * rounding. Any monotonic clock in milliseconds. No lock: one owner.
 */
#define KVL_BUCKET_UNIT 1000

struct kvl_bucket {
	uint64_t credit; /* in 1/KVL_BUCKET_UNIT token */
	uint64_t last_ms;
	uint32_t rate, burst;
};

/* Starts full. */
static inline void kvl_bucket_init(
	struct kvl_bucket *b, uint32_t rate, uint32_t burst, uint64_t now_ms)
{
	*b = (struct kvl_bucket){(uint64_t)burst * KVL_BUCKET_UNIT, now_ms, rate, burst};
}

/* `rate` tokens a second are rate units a millisecond, as a unit is a thousandth. */
static inline void kvl_bucket_refill(struct kvl_bucket *b, uint64_t now_ms)
{
	uint64_t full = (uint64_t)b->burst * KVL_BUCKET_UNIT, passed;

	if (now_ms <= b->last_ms)
		return;
	passed = now_ms - b->last_ms;
	b->last_ms = now_ms;
	if (b->credit >= full || b->rate == 0)
		return;
	if (passed > (full - b->credit) / b->rate)
		b->credit = full;
	else
		b->credit += passed * b->rate;
}

static inline bool kvl_bucket_take(struct kvl_bucket *b, uint64_t now_ms)
{
	kvl_bucket_refill(b, now_ms);
	if (b->credit < KVL_BUCKET_UNIT)
		return false;
	b->credit -= KVL_BUCKET_UNIT;
	return true;
}

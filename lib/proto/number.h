/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lib/proto/line.h"

/*
 * Numbers of a command line. What is taken is what both memcached 1.6.18 (strtol and friends) and
 * 1.6.45 (its own digit loops) take and read alike: digits, with a minus for signed ones; no plus,
 * no blanks, no empty number. 1.6.18 would truncate a length of 2^32+5 to 5.
 */
#define NUMBER_DIGITS_32 10 /* 1.6.45 takes 11 characters, the sign included */
#define NUMBER_DIGITS_64 20

/* Digits up to `max`, at most `digits` of them, then a gap. */
static inline bool number_unsigned(struct line *l, unsigned digits, uint64_t max, uint64_t *value)
{
	const uint8_t *p = l->p;
	uint64_t sum = 0;
	uint8_t digit;

	for (; p < l->end && (digit = *p - '0') < 10; p++) {
		if (digits-- == 0 || __builtin_mul_overflow(sum, 10, &sum)
			|| __builtin_add_overflow(sum, digit, &sum))
			return false;
	}
	if (p == l->p || sum > max)
		return false;
	l->p = p;
	*value = sum;
	return line_at_gap(l);
}

/* -max-1..max */
static inline bool number_signed(struct line *l, unsigned digits, int64_t max)
{
	bool negative = l->p < l->end && *l->p == '-';
	uint64_t value;

	l->p += negative;
	return number_unsigned(l, digits, (uint64_t)max + negative, &value);
}

/* An expiry where both versions insist on 32 bits: touch, gat, meta. */
static inline bool number_exptime(struct line *l)
{
	return number_signed(l, NUMBER_DIGITS_32, INT32_MAX);
}

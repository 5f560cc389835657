/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/*
 * The search for a token's end. A stop byte is any byte <= 0x20: space, CR, LF and NUL all are,
 * and the control characters that may be part of a key are too rare to be worth a second compare.
 */
#define SCAN_STOP_MAX 0x20

/* Eight bytes at a time; the lowest flagged byte is exact, higher ones may be borrow noise. */
static inline const uint8_t *scan_stop_portable(const uint8_t *p, const uint8_t *end)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	const uint64_t ones = UINT64_C(0x0101010101010101);

	for (; end - p >= 8; p += 8) {
		uint64_t word;

		memcpy(&word, p, sizeof(word));
		uint64_t hit = (word - ones * (SCAN_STOP_MAX + 1)) & ~word & (ones << 7);

		if (hit != 0)
			return p + __builtin_ctzll(hit) / 8;
	}
#endif
	while (p<end && * p> SCAN_STOP_MAX)
		p++;
	return p;
}

#ifdef __SSE2__
/* The stop bytes among 16, as bits. */
static inline unsigned stops16(const uint8_t *p)
{
	__m128i v = _mm_loadu_si128((const __m128i *)p);
	__m128i least = _mm_min_epu8(v, _mm_set1_epi8(SCAN_STOP_MAX));

	return _mm_movemask_epi8(_mm_cmpeq_epi8(least, v));
}
#endif

/*
 * The first stop byte in [p, end), or end. `base` <= p is the start of readable memory: the last
 * bytes are read with a load that ends at `end` and begins before p, so that nothing beyond the
 * datagram is touched and nothing is walked byte by byte.
 */
static inline const uint8_t *scan_stop(const uint8_t *base, const uint8_t *p, const uint8_t *end)
{
#ifdef __SSE2__
	while (end - p >= 16) {
		unsigned hit = stops16(p);

		if (hit != 0)
			return p + __builtin_ctz(hit);
		p += 16;
	}
	if (__builtin_expect(end - base >= 16, 1)) {
		unsigned hit = stops16(end - 16) >> (16 - (end - p));

		return hit != 0 ? p + __builtin_ctz(hit) : end;
	}
#endif
	return scan_stop_portable(p, end);
}

/* True if [p, p + len) holds no stop byte. The 16 bytes before p + len must be readable. */
static inline bool scan_clear(const uint8_t *p, size_t len)
{
#ifdef __SSE2__
	const uint8_t *end = p + len;

	for (; len > 16; p += 16, len -= 16) {
		if (stops16(p) != 0)
			return false;
	}
	return stops16(end - 16) >> (16 - len) == 0;
#else
	return scan_stop_portable(p, p + len) == p + len;
#endif
}

static inline uint64_t load64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint32_t load32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Four characters as load32 sees them; a constant, so that it can label a switch case. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define WORD4(a, b, c, d) \
	((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)
#else
#define WORD4(a, b, c, d) \
	((uint32_t)(d) | (uint32_t)(c) << 8 | (uint32_t)(b) << 16 | (uint32_t)(a) << 24)
#endif

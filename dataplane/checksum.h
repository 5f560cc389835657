/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

/*
 * Incremental Internet checksums (RFC 1624, equation 3: HC' = ~(~HC + ~m + m')). The differences of
 * all changed fields are gathered in one wide accumulator, in 32-bit words where they are
 * that wide: one's-complement addition does not care, since 2^16 = 1 modulo 65535. Fields are
 * taken as they lie in memory; the sum is the same in either byte order (RFC 1071, 2(B)).
 */
typedef uint64_t kvl_csum_delta;

static inline kvl_csum_delta kvl_csum_change32(uint32_t from, uint32_t to)
{
	return (uint64_t)(uint32_t)~from + to;
}

static inline kvl_csum_delta kvl_csum_change16(uint16_t from, uint16_t to)
{
	return (uint64_t)(uint16_t)~from + to;
}

static inline uint16_t kvl_csum_apply(uint16_t checksum, kvl_csum_delta delta)
{
	uint64_t sum = delta + (uint16_t)~checksum;

	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

/* UDP: 0 means that the sender made none (stays so); a computed 0 is sent as 0xffff (RFC 768). */
static inline uint16_t kvl_csum_apply_udp(uint16_t checksum, kvl_csum_delta delta)
{
	uint16_t sum;

	if (checksum == 0)
		return 0;
	sum = kvl_csum_apply(checksum, delta);
	return sum == 0 ? 0xffff : sum;
}

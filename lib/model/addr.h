/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * An IP address, always 16 bytes in network order. IPv4 is kept as ::ffff:a.b.c.d (RFC 4291,
 * 2.5.5.2), so that one comparison and one hash serve both families.
 */
struct kvl_addr {
	uint8_t bytes[16];
};

#define KVL_ADDR_STRLEN 46 /* INET6_ADDRSTRLEN */

/* For what there is one of for each family. */
enum kvl_family {
	KVL_IPV4,
	KVL_IPV6,
	KVL_FAMILIES,
};

/* The halves as they lie in memory: what comparisons and hashes on the hot path take. */
static inline uint64_t kvl_addr_high(const struct kvl_addr *a)
{
	uint64_t half;

	memcpy(&half, a->bytes, sizeof(half));
	return half;
}

static inline uint64_t kvl_addr_low(const struct kvl_addr *a)
{
	uint64_t half;

	memcpy(&half, a->bytes + 8, sizeof(half));
	return half;
}

/* kvl_addr_low(kvl_addr_from_v4(be)), whose other half is 0, without the detour by memory. */
static inline uint64_t kvl_addr_low_v4(uint32_t be)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (uint64_t)be << 32 | 0xffff0000u;
#else
	return 0x0000ffffull << 32 | be;
#endif
}

/* By halves, not bytes: what is then read whole must not wait for its pieces to be stored. */
static inline struct kvl_addr kvl_addr_from_v4(uint32_t be)
{
	const uint64_t halves[2] = {0, kvl_addr_low_v4(be)};
	struct kvl_addr a;

	memcpy(a.bytes, halves, sizeof(a.bytes));
	return a;
}

/* The IPv4 part in network order; meaningful only when kvl_addr_is_v4(). */
static inline uint32_t kvl_addr_v4(const struct kvl_addr *a)
{
	uint32_t be;

	memcpy(&be, a->bytes + 12, sizeof(be));
	return be;
}

static inline bool kvl_addr_is_v4(const struct kvl_addr *a)
{
	static const uint8_t middle[4] = {0, 0, 0xff, 0xff};

	return kvl_addr_high(a) == 0 && memcmp(a->bytes + 8, middle, sizeof(middle)) == 0;
}

static inline enum kvl_family kvl_addr_family(const struct kvl_addr *a)
{
	return kvl_addr_is_v4(a) ? KVL_IPV4 : KVL_IPV6;
}

static inline bool kvl_addr_eq(const struct kvl_addr *a, const struct kvl_addr *b)
{
	return kvl_addr_high(a) == kvl_addr_high(b) && kvl_addr_low(a) == kvl_addr_low(b);
}

/* Numeric addresses only, never a name. Returns 0, or -EINVAL and leaves *out alone. */
int kvl_addr_parse(const char *text, struct kvl_addr *out);

/* Writes at most KVL_ADDR_STRLEN bytes with the NUL; returns buf. */
const char *kvl_addr_format(const struct kvl_addr *a, char buf[KVL_ADDR_STRLEN]);

/* Six bytes from "aa:bb:cc:dd:ee:ff". Returns 0 or -EINVAL. */
int kvl_mac_parse(const char *text, uint8_t mac[6]);

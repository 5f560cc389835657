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

static inline struct kvl_addr kvl_addr_from_v4(uint32_t be)
{
	struct kvl_addr a = {.bytes = {[10] = 0xff, [11] = 0xff}};

	memcpy(a.bytes + 12, &be, sizeof(be));
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
	static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

	return memcmp(a->bytes, prefix, sizeof(prefix)) == 0;
}

static inline bool kvl_addr_eq(const struct kvl_addr *a, const struct kvl_addr *b)
{
	return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

/* Numeric addresses only, never a name. Returns 0, or -EINVAL and leaves *out alone. */
int kvl_addr_parse(const char *text, struct kvl_addr *out);

/* Writes at most KVL_ADDR_STRLEN bytes with the NUL; returns buf. */
const char *kvl_addr_format(const struct kvl_addr *a, char buf[KVL_ADDR_STRLEN]);

/* Six bytes from "aa:bb:cc:dd:ee:ff". Returns 0 or -EINVAL. */
int kvl_mac_parse(const char *text, uint8_t mac[6]);

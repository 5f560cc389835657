/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lib/model/addr.h"

/* An address prefix. As in kvl_addr, IPv4 lies behind ::ffff:0:0/96, so 10.0.0.0/8 is of 104 bits. */
struct kvl_prefix {
	struct kvl_addr address; /* bits behind the prefix are 0 */
	uint8_t len;             /* of 128 */
};

#define KVL_PREFIX_V4     96 /* bits in front of an IPv4 address */
#define KVL_PREFIX_STRLEN (KVL_ADDR_STRLEN + 4)

/*
 * "10.0.0.0/8", "2001:db8::/32"; an address alone is itself. Returns 0; -EINVAL: no prefix; -ERANGE:
 * bits are set behind its length (*out is then the prefix that was meant).
 */
int kvl_prefix_parse(const char *text, struct kvl_prefix *out);

const char *kvl_prefix_format(const struct kvl_prefix *p, char buf[KVL_PREFIX_STRLEN]);

static inline bool kvl_prefix_is_v4(const struct kvl_prefix *p)
{
	return p->len >= KVL_PREFIX_V4 && kvl_addr_is_v4(&p->address);
}

/* Is all of `inner` within `outer`? IPv6's ::/0 holds no IPv4 address. */
bool kvl_prefix_covers(const struct kvl_prefix *outer, const struct kvl_prefix *inner);

static inline bool kvl_prefix_eq(const struct kvl_prefix *a, const struct kvl_prefix *b)
{
	return a->len == b->len && kvl_addr_eq(&a->address, &b->address);
}

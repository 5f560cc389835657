/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "lib/model/addr.h"

/* An address and a UDP or TCP port, and the form in which the kernel takes them. */
struct kvl_endpoint {
	struct kvl_addr address;
	uint16_t port; /* host order */
};

union kvl_sockaddr {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

static inline bool kvl_endpoint_eq(const struct kvl_endpoint *a, const struct kvl_endpoint *b)
{
	return a->port == b->port && kvl_addr_eq(&a->address, &b->address);
}

/* Fills *out for the endpoint's family; returns the length to hand to the kernel. */
socklen_t kvl_sockaddr_write(const struct kvl_endpoint *endpoint, union kvl_sockaddr *out);

/* Returns 0, or -EAFNOSUPPORT and leaves *out alone. */
int kvl_sockaddr_read(const struct sockaddr *from, struct kvl_endpoint *out);

/*
 * A non-blocking UDP socket bound to the endpoint, or a negative errno. IPv6 is for IPv6 alone but
 * for an address that is all zero with `both`: that is any address of either family.
 */
int kvl_endpoint_bind(const struct kvl_endpoint *endpoint, bool both);

/* "10.0.0.1:11211", "[2001:db8::1]:11211"; the port may be missing when `port` is not 0. Returns 0
 * or -EINVAL. */
int kvl_endpoint_parse(const char *text, uint16_t port, struct kvl_endpoint *out);

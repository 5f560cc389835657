/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

#include "ctrl/core/netlink.h"

/* What the kernel would do with a datagram to an address: `ip route get`. */
struct kvl_route {
	bool local;              /* it is one of this host's own */
	bool unicast;            /* false too for broadcast, multicast, unreachable, blackhole */
	bool has_gateway;        /* else on-link */
	int ifindex;             /* where it would leave */
	struct kvl_addr gateway; /* may be of the other family (RFC 5549) */
	struct kvl_addr source;  /* the kernel's choice; all zero = none */
};

/* 0, or the kernel's refusal: -ENETUNREACH, -EHOSTUNREACH, -EACCES, -EINVAL for the route types. */
int kvl_route_get(struct kvl_netlink *nl, const struct kvl_addr *addr, struct kvl_route *route);

/* True when the error of kvl_route_get() means "no way there", false when it means "no answer". */
bool kvl_route_refused(int error);

/* Whether the interface is set up and has carrier. -ENODEV: there is none of that index. */
int kvl_link_get(struct kvl_netlink *nl, int ifindex, bool *up);

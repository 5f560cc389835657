/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

#include "ctrl/core/netlink.h"

/* What an rtnetlink event may have changed, so that only that is asked about again. */
enum kvl_neigh_event_kind {
	KVL_NEIGH_EVENT_NONE,
	KVL_NEIGH_EVENT_ENTRY,  /* the neighbour addr on ifindex */
	KVL_NEIGH_EVENT_PREFIX, /* the way to all of addr/prefix_len */
	KVL_NEIGH_EVENT_ALL,    /* a link, an address, a rule: anything */
};

struct kvl_neigh_event {
	enum kvl_neigh_event_kind kind;
	int ifindex;
	struct kvl_addr addr;
	unsigned int prefix_len; /* in the 128 bits of struct kvl_addr: IPv4's /24 is 120 */
};

void kvl_neigh_event_read(const struct nlmsghdr *nlh, struct kvl_neigh_event *event);

bool kvl_neigh_prefix_covers(
	const struct kvl_addr *prefix, unsigned int len, const struct kvl_addr *addr);

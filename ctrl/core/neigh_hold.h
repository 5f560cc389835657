/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

#include "ctrl/core/neigh_entry.h"

/*
 * The neighbour entries this process keeps fresh. The router's traffic bypasses the kernel, so
 * nothing else would: an entry that the kernel sees no use of goes stale and is collected. Each
 * is made `managed`, so that the kernel probes it by itself; where the kernel cannot, every
 * kvl_hold_refresh() of an entry that is going stale starts a probe.
 *
 * An entry is counted: several addresses may lie behind one gateway. When the last user lets go it
 * is put back as it was: an entry created here is removed, one found here is no longer managed.
 * Entries of others (permanent, no-ARP, externally learned, managed already) are only read.
 */
struct kvl_hold; /* one entry */

#define KVL_HOLD_BUCKETS 1024

struct kvl_holds {
	struct kvl_netlink *netlink; /* borrowed */
	bool no_managed;             /* the kernel does not know it */
	struct kvl_hold *buckets[KVL_HOLD_BUCKETS];
};

/* NULL with errno ENOMEM. Touches nothing in the kernel yet. */
struct kvl_hold *kvl_hold_get(struct kvl_holds *holds, int ifindex, const struct kvl_addr *addr);

/* NULL is allowed. */
void kvl_hold_put(struct kvl_holds *holds, struct kvl_hold *hold);

bool kvl_hold_is(const struct kvl_hold *hold, int ifindex, const struct kvl_addr *addr);

/*
 * Has the kernel make sure of the entry's MAC, which may be another's by now: a managed one is
 * looked at only when it is about to expire, half a minute after its last confirmation. When the
 * MAC it has does not answer, the next refresh asks all on the link at once. At most every
 * KVL_HOLD_RENEW_MS an entry: several nodes may lie behind it. Returns whether it did anything.
 */
#define KVL_HOLD_RENEW_MS 5000
bool kvl_hold_renew(struct kvl_holds *holds, struct kvl_hold *hold, uint64_t now_ms);

/* Makes sure that the entry is there and kept, and reads it. */
int kvl_hold_refresh(struct kvl_holds *holds, struct kvl_hold *hold, struct kvl_neigh_entry *entry);

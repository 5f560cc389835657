/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/model/addr.h"

/*
 * Next hops and MAC addresses of the nodes, from the kernel's own routes and neighbours (SPEC 1.7),
 * so that a host is set up with ordinary `ip` commands. For each watched address: the route, the
 * neighbour entry of the gateway or of the address itself, kept fresh (neigh_hold.h), and every
 * change to them followed.
 *
 * The kernel is asked, never mirrored: an event only marks which addresses to ask about again,
 * KVL_NEIGH_DEBOUNCE_MS later, KVL_NEIGH_BATCH at a time. Events that were lost (ENOBUFS) mark all.
 * Some changes have no event (IPv4 routes that go with an address), so all are asked about again
 * every KVL_NEIGH_SWEEP_S as well.
 *
 * Control core only, one thread; bound to the network namespace it was created in. Needs
 * CAP_NET_ADMIN to keep entries fresh; without, it follows what the kernel happens to know. The
 * kernel's table holds net.ipv{4,6}.neigh.default.gc_thresh3 entries (1024): raise it for more
 * on-link nodes, those beyond it stay UNRESOLVED.
 */
#define KVL_NEIGH_DEBOUNCE_MS    50
#define KVL_NEIGH_BATCH          64 /* addresses a turn of the loop; about 15 us each */
#define KVL_NEIGH_SWEEP_S        30
#define KVL_NEIGH_SWEEP_FAILED_S 5 /* the same for hops that are not OK */

struct event_base;
struct kvl_neighbours;

enum kvl_hop_status {
	KVL_HOP_OK,
	KVL_HOP_NO_ROUTE,
	KVL_HOP_LOCAL,      /* an address of this host: the data plane cannot send there */
	KVL_HOP_UNRESOLVED, /* no answer to ARP or ND, or not yet; or the address is not watched */
	KVL_HOP_DOWN,       /* the interface is down or has no carrier */
};

struct kvl_hop {
	int ifindex;            /* 0 = not known */
	uint8_t mac[6];         /* all zero unless KVL_HOP_OK */
	bool on_link;           /* no gateway on the way */
	struct kvl_addr source; /* the source address the kernel would use; all zero = none */
};

/*
 * `changed` (may be NULL) is called from the loop, never from within a call below, after one or
 * more watched hops have changed; it may call anything here but kvl_neighbours_free().
 * Returns NULL with errno.
 */
struct kvl_neighbours *kvl_neighbours_new(
	struct event_base *base, void (*changed)(void *ctx), void *ctx);

/* Puts the kernel's entries back as they were found; neighbours may be NULL. */
void kvl_neighbours_free(struct kvl_neighbours *neighbours);

/*
 * Replaces the set of watched addresses; duplicates are fine, those kept keep their state.
 * Returns 0, or -ENOMEM and leaves the set alone.
 */
int kvl_neighbours_watch(
	struct kvl_neighbours *neighbours, const struct kvl_addr *addrs, size_t count);

/*
 * The hop as last seen; the first question about an address asks the kernel on the spot (well
 * under a millisecond). *hop is always written. A new neighbour is UNRESOLVED until it has
 * answered ARP or ND; changed() tells when.
 */
enum kvl_hop_status kvl_neighbours_hop(
	struct kvl_neighbours *neighbours, const struct kvl_addr *addr, struct kvl_hop *hop);

/*
 * A node does not answer: its MAC may have changed without a word (a failover, a replaced card).
 * The kernel is made to look (kvl_hold_renew()), which finds a new one in about three seconds
 * instead of thirty. Call it as often as you like: an entry is looked at every KVL_HOLD_RENEW_MS at
 * most, and KVL_NEIGH_RENEWALS of them a second, so that a fleet's death costs the loop little.
 */
#define KVL_NEIGH_RENEWALS 64
void kvl_neighbours_renew(struct kvl_neighbours *neighbours, const struct kvl_addr *addr);

/* "no route", ... for people; "ok" for KVL_HOP_OK. */
const char *kvl_hop_status_text(enum kvl_hop_status status);

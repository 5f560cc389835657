/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/core/neighbours.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>

#include <event2/event.h>

#include "ctrl/core/clock.h"
#include "ctrl/core/neigh_event.h"
#include "ctrl/core/neigh_hold.h"
#include "ctrl/core/route.h"

#define EVENTS_A_TURN 64 /* receive calls; the rest waits for the next turn of the loop */

struct watch {
	struct kvl_addr addr;
	enum kvl_hop_status status;
	struct kvl_hop hop;    /* padding is zero: compared as bytes */
	struct kvl_hold *hold; /* of the next hop's entry; NULL = none */
	bool resolved;         /* asked at least once */
	bool dirty;
};

struct kvl_neighbours {
	struct kvl_netlink ask, listen;
	struct event *readable, *resolve, *sweep;
	struct kvl_holds holds;
	void (*changed)(void *ctx);
	void *ctx;
	struct watch *watches; /* sorted by address */
	size_t count;
	size_t cursor; /* where the batch goes on */
	uint32_t tick;
	unsigned int renewals; /* left in this second */
	bool again;            /* marked behind the cursor: another pass is owed */
	bool news;             /* changed() is owed */
};

const char *kvl_hop_status_text(enum kvl_hop_status status)
{
	switch (status) {
	case KVL_HOP_OK:
		return "ok";
	case KVL_HOP_NO_ROUTE:
		return "no route";
	case KVL_HOP_LOCAL:
		return "the address is this host's own";
	case KVL_HOP_UNRESOLVED:
		return "no answer to ARP or neighbour discovery";
	case KVL_HOP_DOWN:
		return "interface is down";
	}
	return "unknown";
}

/* ---- asking ---- */

static int hold_next_hop(
	struct kvl_neighbours *n, struct watch *w, int ifindex, const struct kvl_addr *next)
{
	struct kvl_hold *hold;

	if (w->hold != NULL && kvl_hold_is(w->hold, ifindex, next))
		return 0;
	hold = kvl_hold_get(&n->holds, ifindex, next);
	if (hold == NULL)
		return -errno;
	kvl_hold_put(&n->holds, w->hold);
	w->hold = hold;
	return 0;
}

static void let_go(struct kvl_neighbours *n, struct watch *w)
{
	kvl_hold_put(&n->holds, w->hold);
	w->hold = NULL;
}

/* The status, or a negative errno when the kernel gave no answer. */
static int ask_neighbour(struct kvl_neighbours *n, struct watch *w, const struct kvl_route *route,
	struct kvl_hop *hop)
{
	struct kvl_neigh_entry entry;
	int rc;

	rc = hold_next_hop(n, w, route->ifindex, route->has_gateway ? &route->gateway : &w->addr);
	if (rc < 0)
		return rc;
	rc = kvl_hold_refresh(&n->holds, w->hold, &entry);
	if (rc == -ENODEV || rc == -ENETDOWN)
		return KVL_HOP_DOWN;
	/* ENOBUFS: the neighbour table is full, see the header. */
	if (rc < 0 && rc != -ENOENT && rc != -EPERM && rc != -ENOBUFS)
		return rc;
	if (rc < 0 || !kvl_neigh_entry_usable(&entry))
		return KVL_HOP_UNRESOLVED;
	memcpy(hop->mac, entry.mac, sizeof(hop->mac));
	return KVL_HOP_OK;
}

static int ask_hop(struct kvl_neighbours *n, struct watch *w, struct kvl_hop *hop)
{
	struct kvl_route route;
	bool up;
	int rc = kvl_route_get(&n->ask, &w->addr, &route);

	if (rc < 0 && !kvl_route_refused(rc))
		return rc;
	if (rc < 0 || (!route.local && !route.unicast)) {
		let_go(n, w);
		return KVL_HOP_NO_ROUTE;
	}
	hop->ifindex = route.ifindex;
	hop->on_link = !route.has_gateway;
	hop->source = route.source;
	if (route.local) {
		let_go(n, w);
		return KVL_HOP_LOCAL;
	}
	rc = kvl_link_get(&n->ask, route.ifindex, &up);
	if (rc < 0 && rc != -ENODEV)
		return rc;
	return up ? ask_neighbour(n, w, &route, hop) : KVL_HOP_DOWN;
}

/* Without an answer the last result stands until the sweep comes round. */
static void resolve_watch(struct kvl_neighbours *n, struct watch *w)
{
	struct kvl_hop hop;
	int status;

	memset(&hop, 0, sizeof(hop));
	status = ask_hop(n, w, &hop);
	w->dirty = false;
	if (status < 0)
		return;
	n->news |= !w->resolved || w->status != (enum kvl_hop_status)status
		   || memcmp(&w->hop, &hop, sizeof(hop)) != 0;
	w->status = (enum kvl_hop_status)status;
	w->hop = hop;
	w->resolved = true;
}

/* ---- what to ask about, and when ---- */

static void start_timer(struct event *timer, int ms)
{
	struct timeval tv = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};

	evtimer_add(timer, &tv);
}

/* Not put off again by the events that follow: the delay stays bounded. */
static void mark_dirty(struct kvl_neighbours *n, struct watch *w)
{
	w->dirty = true;
	n->again |= n->cursor > 0;
	if (!evtimer_pending(n->resolve, NULL))
		start_timer(n->resolve, KVL_NEIGH_DEBOUNCE_MS);
}

static void mark_all(struct kvl_neighbours *n)
{
	for (size_t i = 0; i < n->count; i++)
		mark_dirty(n, &n->watches[i]);
}

static bool concerns(const struct kvl_neigh_event *event, const struct watch *w)
{
	switch (event->kind) {
	case KVL_NEIGH_EVENT_NONE:
		return false;
	case KVL_NEIGH_EVENT_ALL:
		return true;
	case KVL_NEIGH_EVENT_ENTRY:
		return w->hold != NULL && kvl_hold_is(w->hold, event->ifindex, &event->addr);
	case KVL_NEIGH_EVENT_PREFIX:
		return kvl_neigh_prefix_covers(&event->addr, event->prefix_len, &w->addr);
	}
	return false;
}

static int on_event(const struct nlmsghdr *nlh, void *data)
{
	struct kvl_neighbours *n = data;
	struct kvl_neigh_event event;

	kvl_neigh_event_read(nlh, &event);
	for (size_t i = 0; i < n->count; i++) {
		if (concerns(&event, &n->watches[i]))
			mark_dirty(n, &n->watches[i]);
	}
	return MNL_CB_OK;
}

static void on_readable(evutil_socket_t fd, short what, void *ctx)
{
	struct kvl_neighbours *n = ctx;
	int rc = 0;

	for (int i = 0; i < EVENTS_A_TURN && rc != -EAGAIN; i++) {
		rc = kvl_netlink_events(&n->listen, on_event, n);
		if (rc == -ENOBUFS)
			mark_all(n);
	}
}

static void on_resolve(evutil_socket_t fd, short what, void *ctx)
{
	struct kvl_neighbours *n = ctx;
	int budget = KVL_NEIGH_BATCH;

	for (; n->cursor < n->count && budget > 0; n->cursor++) {
		if (n->watches[n->cursor].dirty) {
			resolve_watch(n, &n->watches[n->cursor]);
			budget--;
		}
	}
	if (n->cursor < n->count) {
		start_timer(n->resolve, 0);
		return;
	}
	n->cursor = 0;
	if (n->again)
		start_timer(n->resolve, KVL_NEIGH_DEBOUNCE_MS);
	n->again = false;
	if (n->news && n->changed != NULL) {
		n->news = false;
		n->changed(n->ctx);
	}
}

/* Each second a share of the watches, so that all have had their turn in the sweep's period. */
static void on_sweep(evutil_socket_t fd, short what, void *ctx)
{
	struct kvl_neighbours *n = ctx;

	n->tick++;
	n->renewals = KVL_NEIGH_RENEWALS;
	for (size_t i = 0; i < n->count; i++) {
		struct watch *w = &n->watches[i];
		uint32_t period = w->resolved && w->status == KVL_HOP_OK ? KVL_NEIGH_SWEEP_S
									 : KVL_NEIGH_SWEEP_FAILED_S;

		if ((i + n->tick) % period == 0)
			mark_dirty(n, w);
	}
}

/* ---- the set ---- */

static int compare_addrs(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct kvl_addr));
}

static struct watch *find_watch(struct kvl_neighbours *n, const struct kvl_addr *addr)
{
	/* The address is a watch's first member. */
	return n->count == 0
		       ? NULL
		       : bsearch(addr, n->watches, n->count, sizeof(*n->watches), compare_addrs);
}

/* Sorts, and drops duplicates; the holds stay with the old array until it is replaced. */
static size_t fill_watches(struct watch *watches, const struct kvl_addr *addrs, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		watches[i].addr = addrs[i];
	qsort(watches, count, sizeof(*watches), compare_addrs);
	for (size_t i = 0; i < count; i++) {
		if (kept == 0 || !kvl_addr_eq(&watches[kept - 1].addr, &watches[i].addr))
			watches[kept++].addr = watches[i].addr;
	}
	return kept;
}

int kvl_neighbours_watch(struct kvl_neighbours *n, const struct kvl_addr *addrs, size_t count)
{
	struct watch *watches = calloc(count + 1, sizeof(*watches)), *old;

	if (watches == NULL)
		return -ENOMEM;
	count = fill_watches(watches, addrs, count);
	for (size_t i = 0; i < count; i++) {
		old = find_watch(n, &watches[i].addr);
		if (old != NULL) {
			watches[i] = *old;
			old->hold = NULL; /* moved */
		}
	}
	for (size_t i = 0; i < n->count; i++)
		let_go(n, &n->watches[i]);
	free(n->watches);
	n->watches = watches;
	n->count = count;
	n->cursor = 0;
	for (size_t i = 0; i < count; i++) {
		if (!watches[i].resolved)
			mark_dirty(n, &watches[i]);
	}
	return 0;
}

enum kvl_hop_status kvl_neighbours_hop(
	struct kvl_neighbours *n, const struct kvl_addr *addr, struct kvl_hop *hop)
{
	struct watch *w = find_watch(n, addr);
	bool news = n->news;

	memset(hop, 0, sizeof(*hop));
	if (w == NULL)
		return KVL_HOP_UNRESOLVED;
	if (!w->resolved) {
		resolve_watch(n, w);
		n->news = news; /* the caller has it: no news */
	}
	if (!w->resolved)
		return KVL_HOP_UNRESOLVED;
	*hop = w->hop;
	return w->status;
}

void kvl_neighbours_renew(struct kvl_neighbours *n, const struct kvl_addr *addr)
{
	struct watch *w = find_watch(n, addr);

	if (w == NULL || w->hold == NULL || n->renewals == 0)
		return;
	if (kvl_hold_renew(&n->holds, w->hold, kvl_now_ms()))
		n->renewals--;
}

/* ---- life ---- */

static int open_sockets(struct kvl_neighbours *n)
{
	static const unsigned int groups[] = {RTNLGRP_NEIGH, RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR,
		RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE, RTNLGRP_IPV4_RULE,
		RTNLGRP_IPV6_RULE, RTNLGRP_NEXTHOP, 0};
	int rc = kvl_netlink_open(&n->ask);

	return rc < 0 ? rc : kvl_netlink_listen(&n->listen, groups);
}

static int add_events(struct kvl_neighbours *n, struct event_base *base)
{
	static const struct timeval second = {.tv_sec = 1};

	n->readable = event_new(
		base, mnl_socket_get_fd(n->listen.socket), EV_READ | EV_PERSIST, on_readable, n);
	n->resolve = evtimer_new(base, on_resolve, n);
	n->sweep = event_new(base, -1, EV_PERSIST, on_sweep, n);
	if (n->readable == NULL || n->resolve == NULL || n->sweep == NULL)
		return -ENOMEM;
	if (event_add(n->readable, NULL) < 0 || evtimer_add(n->sweep, &second) < 0)
		return -EIO;
	return 0;
}

struct kvl_neighbours *kvl_neighbours_new(
	struct event_base *base, void (*changed)(void *ctx), void *ctx)
{
	struct kvl_neighbours *n = calloc(1, sizeof(*n));
	int rc;

	if (n == NULL)
		return NULL;
	n->changed = changed;
	n->ctx = ctx;
	n->holds.netlink = &n->ask;
	n->renewals = KVL_NEIGH_RENEWALS;
	rc = open_sockets(n);
	if (rc == 0)
		rc = add_events(n, base);
	if (rc < 0) {
		kvl_neighbours_free(n);
		errno = -rc;
		return NULL;
	}
	return n;
}

static void free_event(struct event *event)
{
	if (event != NULL)
		event_free(event);
}

void kvl_neighbours_free(struct kvl_neighbours *n)
{
	if (n == NULL)
		return;
	for (size_t i = 0; i < n->count; i++)
		let_go(n, &n->watches[i]);
	free(n->watches);
	free_event(n->readable);
	free_event(n->resolve);
	free_event(n->sweep);
	kvl_netlink_close(&n->listen);
	kvl_netlink_close(&n->ask);
	free(n);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

#include <rte_rcu_qsbr.h>

#include "lib/model/endpoint.h"
#include "lib/model/root.h"

/*
 * Requests that the fast path does not take: fragmented ones (large sets) and those with IP options.
 * The kernel reassembles them; an ordinary UDP socket on each service's address and port receives
 * them (and keeps the kernel from answering port unreachable); a thread of its own sends them on
 * through another ordinary socket, by the same parser, root and weights as the workers (SPEC 1.8).
 *
 * Bounds: KVL_SLOW_IN_FLIGHT requests wait for a reply, one more is answered "router busy"; a
 * datagram at a time is in memory. Everything is counted by name:
 *
 *	received = forwarded + answered + splits + drops of requests
 *	replies in = replies + replies to parts + drops of replies
 *
 * (drop_amplification is of either, and of what is told.) A client address, a tenant at a node, and
 * all requests at a node have here what they may have of one more worker.
 */
#define KVL_SLOW_IN_FLIGHT 1024
#define KVL_SLOW_QUIET_MS  250 /* how long a quiet request keeps its place, at most */

#define KVL_SLOW_COUNTERS(X)                                                                         \
	X(received)                                                                                  \
	X(forwarded)                                                                                 \
	X(answered) /* refused with an error */                                                      \
	X(splits)   /* datagrams of several keys or commands, taken apart */                         \
	X(parts)    /* of them: asked of nodes */                                                    \
	X(merged)   /* datagrams to clients that came of their replies */                            \
	X(replies)  /* datagrams passed to clients */                                                \
	X(timeouts)                                                                                  \
	X(told) /* of timeouts and drop_send: the client was told that no node answered */           \
	X(quiet_expired)                                                                             \
	X(masked)      /* requests and parts that went elsewhere: a node lags, or has too much */    \
	X(lag_open)    /* that all holders lag too far for, and went to one all the same */          \
	X(over_rate)   /* that were refused: beyond the tenant's rate */                             \
	X(over_share)  /* each holder has had its share of the tenant's rate */                      \
	X(shed)        /* or has max_in_flight */                                                    \
	X(drop_silent) /* requests that may not be answered: frame faults, noreply */                \
	X(drop_no_service)    /* came for a service that has just gone */                            \
	X(drop_client_denied) /* the source is not in the service's list of clients */               \
	X(drop_client_rate)   /* it has asked too often */                                           \
	X(drop_amplification) /* a reply or answer: more than may be sent there */                   \
	X(drop_reflection) /* the source is a node's or a service's port: it would run the answer */ \
	X(drop_send)       /* the kernel did not take it: no route, no buffers; told as well */      \
	X(drop_reply_frame)                                                                          \
	X(drop_reply_late)                                                                           \
	X(drop_reply_source)                                                                         \
	X(drop_reply_total)                                                                          \
	X(drop_reply_duplicate)

/* Written by the slow path's thread, read by the control core. */
struct kvl_slow_counters {
#define X(name) uint64_t name;
	KVL_SLOW_COUNTERS(X)
#undef X
};

static inline void kvl_slow_count(uint64_t *counter)
{
	__atomic_store_n(counter, *counter + 1, __ATOMIC_RELAXED);
}

struct kvl_slow_path;

/*
 * Starts the thread. `reader` is its number in rcu. NULL with errno. All calls are the control
 * core's.
 */
struct kvl_slow_path *kvl_slow_path_new(struct rte_rcu_qsbr *rcu, unsigned int reader);
void kvl_slow_path_free(struct kvl_slow_path *slow);

/* As kvl_worker_publish(): the root that the thread uses from its next request on. */
void kvl_slow_path_publish(struct kvl_slow_path *slow, const struct kvl_root *root);

/*
 * Opens and closes sockets so that they are those of the services of the list. One that cannot be
 * opened (the address is not this host's, or somebody has the port) is logged, once, and tried
 * again at the next call.
 */
void kvl_slow_path_services(
	struct kvl_slow_path *slow, const struct kvl_endpoint *list, unsigned int count);

void kvl_slow_path_counters(const struct kvl_slow_path *slow, struct kvl_slow_counters *counters);

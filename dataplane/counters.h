/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

#include "lib/proto/reply.h"
#include "lib/proto/request.h"
#include "lib/score/retry.h"

/*
 * Counters of one worker: written by that worker only, read by the control core at any time.
 *
 * The conservation law, per worker and hence in sum:
 *
 *	rx + exception_in + inbox_in + created
 *		= tx + exception_out + inbox_out + absorbed + sum(drops) + held
 *
 * where held is what sits in the mailbox (inbox_out of all peers - inbox_in) or in a transmit
 * buffer (nothing, between bursts). A packet that the router answers itself is in tx, and in
 * answered[] by its reason. A datagram of several keys or commands is absorbed and its parts are
 * created; the replies to the parts are absorbed and the client's datagrams are created. What a
 * port's tap takes and gives is exception_out and exception_in. Between workers inbox_out and
 * inbox_in cancel, so for the router:
 * in + exception_in + created = out + exception_out + absorbed + drops + held.
 */
#define KVL_DROPS(X)                                                                               \
	X(KVL_DROP_NOT_OURS, "not_ours")   /* no service's traffic; the kernel has its own copy */ \
	X(KVL_DROP_TRUNCATED, "truncated") /* shorter than its headers say */                      \
	X(KVL_DROP_IP_HEADER, "ip_header") /* version, length */                                   \
	X(KVL_DROP_IP_OPTIONS, "ip_options")                                                       \
	X(KVL_DROP_FRAGMENT, "fragment")                                                           \
	X(KVL_DROP_TTL, "ttl_expired")                                                             \
	X(KVL_DROP_UDP_LENGTH, "udp_length")                                                       \
	X(KVL_DROP_CHECKSUM, "checksum") /* the NIC says so; otherwise the receiver's business */  \
	X(KVL_DROP_PORT_ZERO, "port_zero") /* source port 0: nobody to answer */                   \
	X(KVL_DROP_REFLECTION,                                                                     \
		"reflection")        /* source is a server's port: it would run the answer */      \
	X(KVL_DROP_SOURCE, "source") /* no host's address: the answer would be everybody's */      \
	X(KVL_DROP_CLIENT_DENIED, "client_denied") /* not in the service's list of clients */      \
	X(KVL_DROP_CLIENT_RATE, "client_rate")     /* this address has asked too often */          \
	X(KVL_DROP_AMPLIFICATION,                                                                  \
		"amplification") /* more bytes toward an address than it may be sent */            \
	X(KVL_DROP_SEGMENTS, "multi_segment") /* the port gave a chained mbuf */                   \
	X(KVL_DROP_FRAME_SHORT, "frame_short")                                                     \
	X(KVL_DROP_FRAME_TOTAL, "frame_total")                                                     \
	X(KVL_DROP_QUIET,                                                                          \
		"quiet_error") /* a bad request that asked for silence, or cannot be answered */   \
	X(KVL_DROP_NO_NODE, "no_node_quiet")                                                       \
	X(KVL_DROP_OVER_QUOTA, "over_quota_quiet")                                                 \
	X(KVL_DROP_SHED, "shed_quiet")                                                             \
	X(KVL_DROP_PENDING_FULL, "pending_full_quiet")                                             \
	X(KVL_DROP_REPLY_FRAME, "reply_frame")   /* not a reply: short, sequence beyond total */   \
	X(KVL_DROP_REPLY_LATE, "reply_late")     /* the slot's generation has moved on */          \
	X(KVL_DROP_REPLY_SOURCE, "reply_source") /* not from the node that was asked */            \
	X(KVL_DROP_REPLY_TOTAL,                                                                    \
		"reply_total") /* total changed within a reply, or beyond the bound */             \
	X(KVL_DROP_REPLY_DUPLICATE, "reply_duplicate") /* this sequence has passed already */      \
	X(KVL_DROP_REPLY_OWNER, "reply_owner") /* the port names a worker that is not there */     \
	X(KVL_DROP_ICMP_QUOTE,                                                                     \
		"icmp_quote") /* too little quoted to tell whose it is, or damaged */              \
	X(KVL_DROP_ICMP_STALE, "icmp_stale") /* about no request that waits */                     \
	X(KVL_DROP_ICMP_OTHER, "icmp_other") /* not that the node cannot be reached */             \
	X(KVL_DROP_NO_ROOM, "no_room")       /* longer headers do not fit into the buffer */       \
	X(KVL_DROP_MAILBOX_FULL, "mailbox_full")                                                   \
	X(KVL_DROP_FOREIGN_MAC,                                                                    \
		"foreign_mac") /* to another host's MAC: from a switch that floods */              \
	X(KVL_DROP_MTU, "mtu") /* longer than the port it would leave by takes */                  \
	X(KVL_DROP_TX_FULL, "tx_full")                                                             \
	X(KVL_DROP_EXCEPTION_FULL,                                                                 \
		"exception_full") /* the kernel's, faster than it takes them: see exception.h */

enum kvl_drop {
#define X(e, name) e,
	KVL_DROPS(X)
#undef X
	KVL_DROP_COUNT
};

const char *kvl_drop_name(enum kvl_drop drop);

/* What the services' policies did. */
#define KVL_POLICY_COUNTERS(X)                                                                   \
	X(clients_evicted) /* forgotten though just seen: too many clients at once */            \
	X(ruled)           /* keys that a prefix rule took */                                    \
	X(hints)           /* P and L tokens that said something */                              \
	X(hints_ignored)   /* and that did not */                                                \
	X(masked)          /* draws replaced: lag, tenant's share, bound on what is in flight */ \
	X(lag_open)        /* all holders lag by more than allowed: asked all the same */        \
	X(over_quota)      /* requests beyond their tenant's quota */                            \
	X(shed)            /* requests whose nodes have as much in flight as they may */         \
	X(withheld)        /* merged replies not made: amplification */

struct kvl_counters {
	uint64_t rx, tx;
	uint64_t inbox_in, inbox_out;
	uint64_t exception_in, exception_out; /* frames from and to the kernel, by a port's tap */
	uint64_t requests;                    /* forwarded to a node */
	uint64_t replies;                     /* forwarded to a client, or kept for a merge */
	uint64_t fallbacks; /* sent to a candidate that is not the first of its row */
	uint64_t drops[KVL_DROP_COUNT];
	uint64_t verdicts[KVL_VERDICT_COUNT]; /* of client requests, by kvl_request_parse() */
	uint64_t answered[KVL_VERDICT_COUNT]; /* answered by the router itself */
	uint64_t created, absorbed;
	uint64_t splits;      /* datagrams of several keys or commands that were taken apart */
	uint64_t parts;       /* of them: asked of nodes, among requests */
	uint64_t unanswered;  /* keys and commands of them that got no good reply in time */
	uint64_t merges_full; /* datagrams refused: no merge, or too few parts, were left */
	uint64_t chunks_full; /* replies to parts given up: no room to keep them */
	uint64_t pool_empty;  /* datagrams not created: no mbuf was left */
	uint64_t merges;      /* in use (a gauge) */
#define X(name) uint64_t name;
	KVL_POLICY_COUNTERS(X)
#undef X
	uint64_t timeouts;      /* requests and parts given up without a whole reply */
	uint64_t refused;       /* of them: because ICMP said that their node cannot be reached */
	uint64_t quiet_expired; /* slots of quiet requests let go: neither timeout nor loss */
	uint64_t
		big_untracked; /* replies too large to count datagram by datagram: slot kept to its end */
	uint64_t pending;                     /* slots in use (a gauge) */
	uint64_t retries[KVL_RETRY_VERDICTS]; /* [KVL_RETRY_YES]: asked again; else why not */
	uint64_t loops, busy_loops;
	uint64_t busy_cycles; /* TSC cycles of loops that found work */
};

/* Per node; written by one worker. Two cache lines: the first is touched for each request. */
struct kvl_node_counters {
	uint64_t requests;
	uint64_t replies; /* complete ones */
	uint64_t bytes_out, bytes_in;
	uint64_t hits, misses;
	uint64_t writes;            /* of requests; the rest are reads */
	uint32_t timeouts_in_a_row; /* since the last reply */
	uint32_t spare;
	/* second line */
	uint64_t timeouts;
	uint64_t errors;     /* the request's fault */
	uint64_t rejects;    /* SERVER_ERROR: the node's */
	uint64_t late;       /* replies after their time; never counted elsewhere */
	uint64_t refused;    /* ICMP errors believed */
	uint64_t refused_at; /* TSC: nothing sent to it before is waited for any more */
	uint64_t spares[2];
};
_Static_assert(sizeof(struct kvl_node_counters) == 128, "two cache lines");

/* One writer, any reader: a plain add whose store cannot tear. */
static inline void kvl_count(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

static inline uint64_t kvl_counter_read(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

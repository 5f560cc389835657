/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_udp.h>

#include "dataplane/worker.h"
#include "lib/proto/reply.h"
#include "lib/proto/request.h"
#include "lib/score/draw.h"
#include "lib/score/pick.h"

/*
 * A burst on its way through the stages. Each stage walks a list of packets and keeps in it those
 * that go on: a packet is in exactly one list, or dropped and counted.
 *
 *	requests: classify -> (admit) -> parse -> lookup -> choose -> track -> rewrite -> transmit
 *	replies:  classify -> match -> account -> (admit) -> rewrite -> transmit
 *	errors:   classify -> refuse (ICMP errors about requests)
 *	answers:  (parse, choose, track) -> answer -> transmit
 *	odd:      parse -> odd: split, answered locally, or back among the requests
 *
 * What a split makes is not of the burst: it is built and transmitted one by one (datagram.h).
 *
 * After classify every frame is untagged Ethernet, IPv4 without options or IPv6 without extension
 * headers, UDP, in one segment, so that the headers lie at fixed distances from UDP's.
 */
struct kvl_packet {
	struct rte_mbuf *mbuf;                  /* its data: the frame, without a tag */
	uint8_t *udp;                           /* UDP header */
	const struct kvl_root_service *service; /* requests */
	const struct kvl_row *row;              /* requests, after lookup */
	uint64_t hash;                          /* requests: of the key */
	union {
		uint32_t token; /* requests, within lookup */
		uint32_t slot;  /* after track, match */
	};
	uint16_t payload_len; /* UDP's, from the headers */
	uint16_t vlan;        /* tag it came with, or KVL_VLAN_NONE */
	uint16_t node;        /* requests, after choose */
	uint8_t port;         /* lane it came in by; after rewrite the one it leaves by */
	uint8_t verdict : 7;  /* requests: enum kvl_verdict */
	uint8_t v6 : 1;       /* IPv6, else IPv4 */
	union {
		struct kvl_request request;
		struct kvl_reply reply;
	};
};
_Static_assert(sizeof(struct kvl_packet) <= 64, "a cache line");
_Static_assert(KVL_VERDICT_COUNT <= 128, "seven bits");

struct kvl_list {
	unsigned int count;
	struct kvl_packet *packets[KVL_BURST];
};

struct kvl_burst {
	unsigned int count;
	struct kvl_list requests, replies, errors, answers, odd;
	struct kvl_packet packets[KVL_BURST];
};

#define KVL_IP_OFFSET sizeof(struct rte_ether_hdr)
/* Bytes before the UDP payload. */
#define KVL_HEADERS_V4 (KVL_IP_OFFSET + sizeof(struct rte_ipv4_hdr) + sizeof(struct rte_udp_hdr))
#define KVL_HEADERS_V6 (KVL_IP_OFFSET + sizeof(struct rte_ipv6_hdr) + sizeof(struct rte_udp_hdr))

/* Where the UDP header lies, as far as the frame's own start is concerned. */
static inline void kvl_packet_locate(struct kvl_packet *p, bool v6)
{
	p->v6 = v6;
	p->udp = rte_pktmbuf_mtod_offset(p->mbuf, uint8_t *,
		(v6 ? KVL_HEADERS_V6 : KVL_HEADERS_V4) - sizeof(struct rte_udp_hdr));
}

/* UDP's header and GUE's, in an outer packet of a dsr request. */
#define KVL_GUE_BYTES (sizeof(struct rte_udp_hdr) + 4)

/* As received on lane `port`; IPv4 until classify knows better. */
static inline void kvl_packet_begin(struct kvl_packet *p, struct rte_mbuf *mbuf, uint8_t port)
{
	p->mbuf = mbuf;
	kvl_packet_locate(p, false);
	p->port = port;
	p->vlan = KVL_VLAN_NONE;
}

static inline void kvl_list_add(struct kvl_list *list, struct kvl_packet *p)
{
	list->packets[list->count++] = p;
}

#define KVL_LANE_ANY UINT8_MAX /* handed over: which lane it came by does not matter any more */

static inline struct rte_ether_hdr *kvl_packet_ether(const struct kvl_packet *p)
{
	return rte_pktmbuf_mtod(p->mbuf, struct rte_ether_hdr *);
}

static inline struct rte_ipv4_hdr *kvl_packet_ipv4(const struct kvl_packet *p)
{
	return (struct rte_ipv4_hdr *)p->udp - 1;
}

static inline struct rte_ipv6_hdr *kvl_packet_ipv6(const struct kvl_packet *p)
{
	return (struct rte_ipv6_hdr *)p->udp - 1;
}

static inline struct rte_udp_hdr *kvl_packet_udp(const struct kvl_packet *p)
{
	return (struct rte_udp_hdr *)p->udp;
}

static inline uint8_t *kvl_packet_payload(const struct kvl_packet *p)
{
	return p->udp + sizeof(struct rte_udp_hdr);
}

/* All headers: what lies before the payload. */
static inline uint16_t kvl_packet_headers(const struct kvl_packet *p)
{
	return p->v6 ? KVL_HEADERS_V6 : KVL_HEADERS_V4;
}

/* Addresses in the header, of either family; `v6` is p->v6, or the constant it is known to be. */
static inline struct kvl_addr kvl_addr_from_v6(const uint8_t *bytes)
{
	struct kvl_addr a;

	memcpy(a.bytes, bytes, sizeof(a.bytes));
	return a;
}

static inline struct kvl_addr kvl_packet_source(const struct kvl_packet *p, bool v6)
{
	return v6 ? kvl_addr_from_v6(kvl_packet_ipv6(p)->src_addr)
		  : kvl_addr_from_v4(kvl_packet_ipv4(p)->src_addr);
}

static inline struct kvl_addr kvl_packet_destination(const struct kvl_packet *p, bool v6)
{
	return v6 ? kvl_addr_from_v6(kvl_packet_ipv6(p)->dst_addr)
		  : kvl_addr_from_v4(kvl_packet_ipv4(p)->dst_addr);
}

/* IPv6 has no datagram without a checksum (RFC 8200, 8.1). */
static inline bool kvl_packet_lacks_checksum(const struct kvl_packet *p, bool v6)
{
	return v6 && kvl_packet_udp(p)->dgram_cksum == 0;
}

/* Of what UDP's own length covers, which IP's may exceed: a receiver cuts off the rest. */
static inline uint16_t kvl_packet_sum(const struct kvl_packet *p, bool v6)
{
	const struct rte_udp_hdr *udp = kvl_packet_udp(p);
	const size_t addresses = 2 * (v6 ? sizeof(struct kvl_addr) : sizeof(rte_be32_t));
	uint32_t sum = __rte_raw_cksum(p->udp - addresses, addresses, 0);

	sum += RTE_BE16(IPPROTO_UDP) + udp->dgram_len;
	return __rte_raw_cksum_reduce(__rte_raw_cksum(udp, sizeof(*udp) + p->payload_len, sum));
}

/*
 * Whether the checksum says so, where neither NIC nor kernel has looked at it. What is only passed on
 * keeps a wrong one, which its receiver finds; what is taken apart would get a right one.
 */
static inline bool kvl_packet_is_damaged(const struct kvl_packet *p, bool v6)
{
	if (kvl_packet_udp(p)->dgram_cksum == 0)
		return kvl_packet_lacks_checksum(p, v6);
	if ((p->mbuf->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) != RTE_MBUF_F_RX_L4_CKSUM_UNKNOWN)
		return false;
	return kvl_packet_sum(p, v6) != 0xffff;
}

/* Puts p->vlan's tag (back) before the EtherType; false: there is no room. */
bool kvl_packet_tag_insert(struct kvl_packet *p);

/* A call, so that the stages hold nothing but the way of packets that go on. */
void kvl_packet_drop(struct kvl_worker *w, struct kvl_packet *p, enum kvl_drop why);

/*
 * The stages, in the order of a packet's way; one file each. All run on the worker's lcore and
 * see one root for the whole burst.
 */
void kvl_classify(struct kvl_worker *w, const struct kvl_root *root, struct kvl_burst *b);
void kvl_parse(struct kvl_worker *w, const struct kvl_root *root, struct kvl_burst *b);
void kvl_lookup(struct kvl_worker *w, struct kvl_burst *b);
void kvl_odd(struct kvl_worker *w, const struct kvl_root *root, struct kvl_burst *b);
void kvl_choose(struct kvl_worker *w, const struct kvl_root *root, struct kvl_burst *b);
void kvl_track(struct kvl_worker *w, const struct kvl_root *root, struct kvl_burst *b);
void kvl_refuse(struct kvl_worker *w, const struct kvl_root *root, struct kvl_burst *b);
void kvl_match(struct kvl_worker *w, struct kvl_burst *b);
void kvl_account(struct kvl_worker *w, struct kvl_burst *b);
void kvl_rewrite_requests(struct kvl_worker *w, const struct kvl_root *root, struct kvl_burst *b);
void kvl_rewrite_replies(struct kvl_worker *w, struct kvl_burst *b);
void kvl_answer(struct kvl_worker *w, struct kvl_burst *b);

/* To the worker that owns a port: by its mailbox. */
void kvl_hand_over(struct kvl_worker *w, struct kvl_packet *p, uint16_t owner);

/* Turns a request round, with `len` bytes of payload that stand in the place of its own. */
void kvl_answer_turn(struct kvl_packet *p, uint16_t len);
bool kvl_answer_fits(const struct kvl_packet *p, uint16_t len);

/*
 * dsr across routers: puts the packet, unchanged, into one to its node. False: there is no room for
 * the outer headers.
 */
bool kvl_encapsulate(struct kvl_packet *p, const struct kvl_root_node *node);

/* The candidate for a request of which service, row and request are set; KVL_NODE_NONE: p->verdict
 * says why. */
struct kvl_draw kvl_choose_node(
	struct kvl_worker *w, const struct kvl_root *root, struct kvl_packet *p);

/* A read of a replicated service, by its rule, with no regard to its policies. */
struct kvl_draw kvl_choose_read(
	struct kvl_worker *w, const struct kvl_root *root, const struct kvl_packet *p);

/* Whether it will be in flight: replies of dsr pass the router by, and quiet ones need not come. */
static inline bool kvl_packet_is_awaited(const struct kvl_packet *p)
{
	return p->service->mode == KVL_MODE_NAT && !(p->request.flags & KVL_REQ_QUIET);
}

/*
 * The request's class as far as writes are concerned. A read with a cas token is one when there are
 * several holders: its first holder may take no writes, and the cas will go to another. A lone holder
 * that takes none still has the value.
 */
static inline unsigned int kvl_write_class(const struct kvl_packet *p)
{
	const bool writes = p->request.kind == KVL_KIND_WRITE
			    || (p->request.kind == KVL_KIND_TOKEN && p->service->replication > 1);

	return (writes ? KVL_CLASS_WRITE : 0)
	       | (p->request.value_len >= KVL_LARGE_VALUE ? KVL_CLASS_LARGE : 0);
}

/* The service whose terms a key has, by the prefix rules of its service (KVL_POLICY_RULES). */
static inline const struct kvl_root_service *kvl_rule_apply(struct kvl_worker *w,
	const struct kvl_root *root, const struct kvl_root_service *service, const uint8_t *key,
	size_t len)
{
	const struct kvl_root_service *s = kvl_root_rule_service(root, service, key, len);

	if (s != service)
		kvl_count(&w->counters.ruled, 1);
	return s;
}
void kvl_transmit(struct kvl_worker *w, const struct kvl_list *list);
void kvl_transmit_mbuf(struct kvl_worker *w, struct rte_mbuf *mbuf, unsigned int port);
void kvl_transmit_flush(struct kvl_worker *w);

/* All of the above on `count` (at most KVL_BURST) mbufs received on lane `port`. */
void kvl_pipeline(struct kvl_worker *w, const struct kvl_root *root, struct rte_mbuf **mbufs,
	uint16_t count, uint8_t port);

/*
 * Takes up merges whose parts have all been answered, or given up: sends what the client gets and
 * asks for what comes next in its datagram.
 */
void kvl_merge_run(struct kvl_worker *w, const struct kvl_root *root);

/* Slots whose time is up: tried elsewhere, or given up. Returns their number. */
uint32_t kvl_expire(struct kvl_worker *w, const struct kvl_root *root);

/* A slot's node did not answer in time, or is `refused`: asks another one, or ends the request. */
void kvl_give_up(struct kvl_worker *w, const struct kvl_root *root, uint32_t slot, bool refused);

/* What is in flight to refused nodes is given up, a share of the slots a call. */
void kvl_refuse_sweep(struct kvl_worker *w, const struct kvl_root *root);

/* Since the slot's request was sent; at most KVL_LATENCY_MOST, microseconds. */
static inline uint32_t kvl_slot_age_us(const struct kvl_worker *w, const struct kvl_slot *s)
{
	return RTE_MIN(((w->now - s->sent) * w->us_per_tsc) >> 32, (uint64_t)KVL_LATENCY_MOST);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_udp.h>

#include "dataplane/worker.h"
#include "lib/proto/reply.h"
#include "lib/proto/request.h"
#include "lib/score/draw.h"

/*
 * A burst on its way through the stages. Each stage walks a list of packets and keeps in it those
 * that go on: a packet is in exactly one list, or dropped and counted.
 *
 *	requests: classify -> parse -> lookup -> choose -> track -> rewrite -> transmit
 *	replies:  classify -> match -> account -> rewrite -> transmit
 *	answers:  (parse, choose, track) -> answer -> transmit
 *	odd:      parse -> odd: split, answered locally, or back among the requests
 *
 * What a split makes is not of the burst: it is built and transmitted one by one (datagram.h).
 *
 * After classify every frame is untagged Ethernet, IPv4 without options, UDP, in one segment, so
 * that the headers lie at fixed offsets.
 */
struct kvl_packet {
	struct rte_mbuf *mbuf;
	uint8_t *data;                          /* the frame, without a tag */
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
	uint8_t verdict;      /* requests: enum kvl_verdict */
	union {
		struct kvl_request request;
		struct kvl_reply reply;
	};
};
_Static_assert(sizeof(struct kvl_packet) <= 64, "a cache line");

struct kvl_list {
	unsigned int count;
	struct kvl_packet *packets[KVL_BURST];
};

struct kvl_burst {
	unsigned int count;
	struct kvl_list requests, replies, answers, odd;
	struct kvl_packet packets[KVL_BURST];
};

/* As received on lane `port`. */
static inline void kvl_packet_begin(struct kvl_packet *p, struct rte_mbuf *mbuf, uint8_t port)
{
	p->mbuf = mbuf;
	p->data = rte_pktmbuf_mtod(mbuf, uint8_t *);
	p->port = port;
	p->vlan = KVL_VLAN_NONE;
}

static inline void kvl_list_add(struct kvl_list *list, struct kvl_packet *p)
{
	list->packets[list->count++] = p;
}

#define KVL_LANE_ANY UINT8_MAX /* handed over: which lane it came by does not matter any more */

#define KVL_IP_OFFSET      sizeof(struct rte_ether_hdr)
#define KVL_UDP_OFFSET     (KVL_IP_OFFSET + sizeof(struct rte_ipv4_hdr))
#define KVL_PAYLOAD_OFFSET (KVL_UDP_OFFSET + sizeof(struct rte_udp_hdr))

static inline struct rte_ether_hdr *kvl_packet_ether(const struct kvl_packet *p)
{
	return (struct rte_ether_hdr *)p->data;
}

static inline struct rte_ipv4_hdr *kvl_packet_ipv4(const struct kvl_packet *p)
{
	return (struct rte_ipv4_hdr *)(p->data + KVL_IP_OFFSET);
}

static inline struct rte_udp_hdr *kvl_packet_udp(const struct kvl_packet *p)
{
	return (struct rte_udp_hdr *)(p->data + KVL_UDP_OFFSET);
}

static inline uint8_t *kvl_packet_payload(const struct kvl_packet *p)
{
	return p->data + KVL_PAYLOAD_OFFSET;
}

/* A call, so that the stages hold nothing but the way of packets that go on. */
void kvl_packet_drop(struct kvl_worker *w, struct kvl_packet *p, enum kvl_drop why);

/*
 * The stages, in the order of a packet's way; one file each. All run on the worker's lcore and
 * see one root for the whole burst.
 */
void kvl_classify(struct kvl_worker *w, const struct kvl_root *root, struct kvl_burst *b);
void kvl_parse(struct kvl_worker *w, struct kvl_burst *b);
void kvl_lookup(struct kvl_worker *w, struct kvl_burst *b);
void kvl_odd(struct kvl_worker *w, const struct kvl_root *root, struct kvl_burst *b);
void kvl_choose(struct kvl_worker *w, const struct kvl_root *root, struct kvl_burst *b);
void kvl_track(struct kvl_worker *w, const struct kvl_root *root, struct kvl_burst *b);
void kvl_match(struct kvl_worker *w, struct kvl_burst *b);
void kvl_account(struct kvl_worker *w, struct kvl_burst *b);
void kvl_rewrite_requests(struct kvl_worker *w, const struct kvl_root *root, struct kvl_burst *b);
void kvl_rewrite_replies(struct kvl_worker *w, struct kvl_burst *b);
void kvl_answer(struct kvl_worker *w, struct kvl_burst *b);

/* Turns a request round, with `len` bytes of payload that stand in the place of its own. */
void kvl_answer_turn(struct kvl_packet *p, uint16_t len);
bool kvl_answer_fits(const struct kvl_packet *p, uint16_t len);

/* The candidate for a request of which service, row and request are set. */
struct kvl_draw kvl_choose_node(
	struct kvl_worker *w, const struct kvl_root *root, const struct kvl_packet *p);
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

/* Slots whose time is up: counts, and lets go. Returns their number. */
uint32_t kvl_expire(struct kvl_worker *w, const struct kvl_root *root);

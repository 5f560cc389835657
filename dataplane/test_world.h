/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "dataplane/burst.h"
#include "tests/packets/packet.h"

/*
 * A small world for tests of the stages: workers without ports (what they would transmit stays in
 * their buffers, KVL_TX_BUFFER - 1 datagrams of them at most), six nodes, one nat and one dsr
 * service. One world a process.
 *
 *	client 10.1.0.9:5000, 02:00:00:00:01:09      lane 0, 02:00:00:00:00:c0
 *	nat service 10.1.0.100:11211, dsr service 10.1.0.101:11211
 *	node i: 10.2.0.i:11211, 02:00:00:00:02:0i    lane 1, 02:00:00:00:00:d0, snat 10.2.0.254
 *	the same in IPv6: client [2001:db8:1::9]:5000, services 2001:db8:1::100 (nat) and ::101 (dsr);
 *	with world_nodes_v6 node i is 2001:db8:2::i, snat 2001:db8:2::fe
 */
#define WORLD_NODES   6
#define WORLD_WORKERS 2
#define WORLD_TIMEOUT 100 /* ms, both services */
#define WORLD_MTU     1500
#define WORLD_MERGES  8
#define WORLD_PARTS   256
#define WORLD_CHUNKS  64

#define CLIENT_MAC "02:00:00:00:01:09"
#define LANE0_MAC  "02:00:00:00:00:c0"
#define LANE1_MAC  "02:00:00:00:00:d0"
#define CLIENT     "10.1.0.9:5000"
#define NAT_VIP    "10.1.0.100:11211"
#define DSR_VIP    "10.1.0.101:11211"
#define CLIENT6    "[2001:db8:1::9]:5000"
#define NAT_VIP6   "[2001:db8:1::100]:11211"
#define DSR_VIP6   "[2001:db8:1::101]:11211"
#define SNAT       "10.2.0.254"
#define SNAT6      "2001:db8:2::fe"

/* What most packets are, for the initializer of a struct packet: a client's request to the nat
 * service, and the router's own answer to it. */
#define REQUEST .from_mac = CLIENT_MAC, .to_mac = LANE0_MAC, .from = CLIENT, .to = NAT_VIP, .id = 7
#define ANSWER                                                                               \
	.from_mac = LANE0_MAC, .to_mac = CLIENT_MAC, .from = NAT_VIP, .to = CLIENT, .id = 7, \
	.dont_fragment = true

extern struct kvl_worker *world_workers[WORLD_WORKERS];
extern uint16_t world_weights[WORLD_NODES]; /* set, then world_publish() */
/* Policies of both services: keyless, partial, hash_rule; set, then world_publish(). */
extern struct kvl_root_service world_service;
/*
 * Policies of the nat service ([0]; world_service.policy says which hold), and of up to
 * WORLD_RULES rules of it: rule i has prefix world_rules[i], policy [i + 1] and, where they are not
 * zero, the terms of world_terms[i]. Set, then world_publish().
 */
#define WORLD_RULES   3
#define WORLD_TENANTS 2
extern struct kvl_root_policy world_policy[1 + WORLD_RULES];
extern const char *world_rules[WORLD_RULES]; /* NULL: no more */
extern struct kvl_root_service world_terms[WORLD_RULES];
extern struct kvl_root_tenant world_tenants[WORLD_TENANTS];
extern const struct kvl_clients *world_clients;
extern uint32_t world_lag[WORLD_NODES];
extern bool world_read_only[WORLD_NODES]; /* out for writes */
extern uint16_t world_try_ms;             /* of every node; set, then world_publish() */
extern bool world_nodes_v6;               /* set, then world_publish() */

/* cmocka group set-up and tear-down. */
int world_begin(void **state);
int world_end(void **state);

/* cmocka test set-up: empty tables, zero counters, all nodes in. */
int world_reset(void **state);

void world_publish(void);
const struct kvl_root *world_root(void);

/* The nodes of a key's row at the nat service, 1.., first the N that hold it. */
void world_holders(const char *key, unsigned int holders[WORLD_NODES]);

/* A packet as received; the mbuf's data begins with its bytes. */
struct rte_mbuf *world_mbuf(const struct packet *p);

/* Sends packets through worker w's pipeline as one burst. */
void world_run(unsigned int w, unsigned int lane, const struct packet *packets, unsigned int count);

void world_run_mbuf(unsigned int w, unsigned int lane, struct rte_mbuf *mbuf);

/* Worker w takes what is in its mailbox; returns how much that was. */
unsigned int world_inbox(unsigned int w);

/* Time goes by: w's clock advances by ms and its timers run. */
void world_wait(unsigned int w, unsigned int ms);

/* Takes the oldest packet that worker w would transmit on a lane; NULL when there is none. */
struct rte_mbuf *world_sent(unsigned int w, unsigned int lane);

/* Fails the test unless the mbuf's bytes are exactly this packet; frees it. */
void world_expect(struct rte_mbuf *mbuf, const struct packet *p);

/* Number of the node a packet goes to, by its destination address (1..6); frees it. With `wire`,
 * the source port and request id that it carries. */
unsigned int world_node_of(struct rte_mbuf *mbuf, struct kvl_wire_id *wire);

/* A request on its way to a node: what the node needs for its reply. */
struct world_asked {
	unsigned int node; /* 1..6 */
	struct kvl_wire_id wire;
	char mac[32], node_text[40], snat_text[40]; /* the node's MAC, its address, the router's */
};

/* Takes the oldest one that worker w would transmit. */
void world_asked(unsigned int w, struct world_asked *a);

/* Fills in the addresses by node and wire. */
void world_asked_fill(struct world_asked *a);

/* The node's reply to it. */
struct packet world_reply(const struct world_asked *a, const char *payload);

/* in + created = out + absorbed + drops + held, over all workers; and in flight at each node is what
 * slots wait for. */
void world_check_conservation(void);

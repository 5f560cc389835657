/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "dataplane/burst.h"

/*
 * Datagrams that a worker makes itself, in mbufs of its own pool: parts of split requests, merged
 * replies. (The pool is not a port's: net_af_xdp copies such mbufs into its UMEM.)
 */
struct kvl_way {
	const uint8_t *from_mac, *to_mac;
	struct kvl_addr from, to;    /* of one family */
	uint16_t from_port, to_port; /* network order */
	uint16_t vlan;               /* KVL_VLAN_NONE */
	uint8_t port;                /* lane it leaves by */
};

#define KVL_DATAGRAM_DATA 1392u /* bytes behind the frame, as memcached fills its datagrams */

struct kvl_datagram {
	struct rte_mbuf *mbuf;
	/* Behind the frame, with room for what the largest MTU of the lanes takes; the headers are
	 * put before it at the end. */
	uint8_t *data;
};

/* To a node, from where its replies come back to this slot's port (kvl_pending_wire()). */
struct kvl_way kvl_way_to_node(const struct kvl_root_node *node, uint16_t port);

/* Takes an mbuf; false, and counted, when none is left. */
bool kvl_datagram_begin(struct kvl_worker *w, struct kvl_datagram *d);

/* Headers around `len` bytes of data that are in place; id in network order. Transmits. */
void kvl_datagram_send(struct kvl_worker *w, struct kvl_datagram *d, const struct kvl_way *way,
	uint16_t id, uint16_t sequence, uint16_t total, uint16_t len);

/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <string.h>

#include "dataplane/burst.h"
#include "dataplane/checksum.h"

/*
 * New headers for a packet that goes on. All fields are exchanged first, the differences gathered,
 * and each checksum is corrected once.
 */

/* New addresses and ports of a packet, network order. */
struct endpoints {
	uint32_t source, destination;
	uint16_t source_port, destination_port;
};

/*
 * The checksum sees the TTL as the upper half of a word, so one less is always the same change:
 * minus 0x0100. Not computed from the word before and after, since reading it back just behind the
 * byte's store would stall.
 */
static kvl_csum_delta ttl_decrement(struct rte_ipv4_hdr *ip)
{
	ip->time_to_live--;
	return (uint16_t)~RTE_BE16(0x0100);
}

/* nat, either way: addresses, ports and the frame's request id. */
static void translate(struct kvl_packet *p, const struct endpoints *to, uint16_t id)
{
	struct rte_ipv4_hdr *ip = kvl_packet_ipv4(p);
	struct rte_udp_hdr *udp = kvl_packet_udp(p);
	struct kvl_frame *frame = (void *)kvl_packet_payload(p);
	kvl_csum_delta addresses = kvl_csum_change32(ip->src_addr, to->source)
				   + kvl_csum_change32(ip->dst_addr, to->destination);
	kvl_csum_delta rest = kvl_csum_change16(udp->src_port, to->source_port)
			      + kvl_csum_change16(udp->dst_port, to->destination_port)
			      + kvl_csum_change16(frame->id, id);

	ip->src_addr = to->source;
	ip->dst_addr = to->destination;
	ip->hdr_checksum = kvl_csum_apply(ip->hdr_checksum, addresses + ttl_decrement(ip));
	udp->src_port = to->source_port;
	udp->dst_port = to->destination_port;
	frame->id = id;
	/* The UDP checksum covers the addresses too (the pseudo-header). */
	udp->dgram_cksum = kvl_csum_apply_udp(udp->dgram_cksum, addresses + rest);
}

/* Both addresses, which lie side by side as in the frame: one copy. */
static void ether_set(struct kvl_packet *p, const uint8_t *addresses)
{
	memcpy(p->data, addresses, 2 * RTE_ETHER_ADDR_LEN);
}

_Static_assert(offsetof(struct kvl_root_node, source_mac)
		       == offsetof(struct kvl_root_node, mac) + RTE_ETHER_ADDR_LEN,
	"destination, source");
_Static_assert(offsetof(struct kvl_slot, router_mac)
		       == offsetof(struct kvl_slot, client_mac) + RTE_ETHER_ADDR_LEN,
	"destination, source");

static void request_nat(
	struct kvl_worker *w, struct kvl_packet *p, const struct kvl_root_node *node)
{
	struct kvl_wire_id wire = kvl_pending_wire(&w->pending, p->slot);
	struct endpoints to = {
		.source = kvl_addr_v4(&node->snat),
		.destination = kvl_addr_v4(&node->address),
		.source_port = rte_cpu_to_be_16(wire.port),
		.destination_port = rte_cpu_to_be_16(node->port),
	};

	translate(p, &to, rte_cpu_to_be_16(wire.id));
}

/*
 * dsr: the destination MAC only; the node holds the service's address itself. With the TTL alone
 * changed, the checksum grows by 0x0100, with the carry round the end (RFC 1141); 0xffff becomes
 * 0, as RFC 1624 has it.
 */
static void request_dsr(struct kvl_packet *p)
{
	struct rte_ipv4_hdr *ip = kvl_packet_ipv4(p);
	uint32_t sum = ip->hdr_checksum + RTE_BE16(0x0100);

	ip->time_to_live--;
	ip->hdr_checksum = sum + (sum >= 0xffff);
}

void kvl_rewrite_requests(struct kvl_worker *w, const struct kvl_root *root, struct kvl_burst *b)
{
	const struct kvl_root_node *nodes = kvl_root_nodes(root);

	for (unsigned int i = 0; i < b->requests.count; i++) {
		struct kvl_packet *p = b->requests.packets[i];
		const struct kvl_root_node *node = &nodes[p->node];

		if (p->service->mode == KVL_MODE_NAT)
			request_nat(w, p, node);
		else
			request_dsr(p);
		ether_set(p, node->mac);
		p->port = node->egress;
		p->vlan = KVL_VLAN_NONE;
	}
}

void kvl_rewrite_replies(struct kvl_worker *w, struct kvl_burst *b)
{
	for (unsigned int i = 0; i < b->replies.count; i++) {
		struct kvl_packet *p = b->replies.packets[i];
		const struct kvl_slot *s = &w->pending.slots[p->slot];
		struct endpoints to = {
			.source = kvl_addr_v4(&s->vip),
			.destination = kvl_addr_v4(&s->client),
			.source_port = s->vip_port,
			.destination_port = s->client_port,
		};

		translate(p, &to, s->client_id);
		ether_set(p, s->client_mac);
		p->port = s->port;
		p->vlan = s->vlan;
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <string.h>

#include "dataplane/burst.h"
#include "dataplane/checksum.h"
#include "dataplane/translate.h"

/*
 * New headers for a packet that goes on. All fields are exchanged first, the differences gathered,
 * and each checksum is corrected once.
 */

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

static __rte_always_inline void translate_v4(
	struct kvl_packet *p, const struct kvl_endpoints *to, uint16_t id)
{
	struct rte_ipv4_hdr *ip = kvl_packet_ipv4(p);
	uint32_t source = kvl_addr_v4(to->source), destination = kvl_addr_v4(to->destination);
	kvl_csum_delta addresses = kvl_csum_change32(ip->src_addr, source)
				   + kvl_csum_change32(ip->dst_addr, destination);

	ip->src_addr = source;
	ip->dst_addr = destination;
	ip->hdr_checksum = kvl_csum_apply(ip->hdr_checksum, addresses + ttl_decrement(ip));
	kvl_translate_udp(p, to, id, addresses);
}

/* nat, either way. False: there is no room for the longer header of the other family. */
static __rte_always_inline bool translate(
	struct kvl_packet *p, const struct kvl_endpoints *to, uint16_t id)
{
	struct kvl_endpoints copy;

	if (likely(!p->v6 && kvl_addr_is_v4(to->destination))) {
		translate_v4(p, to, id);
		return true;
	}
	copy = *to; /* so that *to itself need not be in memory */
	return kvl_translate_v6(p, &copy, id);
}

/* Both addresses, which lie side by side as in the frame: one copy. */
static void ether_set(struct kvl_packet *p, const uint8_t *addresses)
{
	memcpy(p->udp + sizeof(struct rte_udp_hdr) - kvl_packet_headers(p), addresses,
		2 * RTE_ETHER_ADDR_LEN);
}

_Static_assert(offsetof(struct kvl_root_node, source_mac)
		       == offsetof(struct kvl_root_node, mac) + RTE_ETHER_ADDR_LEN,
	"destination, source");
_Static_assert(offsetof(struct kvl_slot, router_mac)
		       == offsetof(struct kvl_slot, client_mac) + RTE_ETHER_ADDR_LEN,
	"destination, source");

static bool request_nat(
	struct kvl_worker *w, struct kvl_packet *p, const struct kvl_root_node *node)
{
	struct kvl_wire_id wire = kvl_pending_wire(&w->pending, p->slot);
	struct kvl_endpoints to = {
		.source = &node->snat,
		.destination = &node->address,
		.source_port = rte_cpu_to_be_16(wire.port),
		.destination_port = rte_cpu_to_be_16(node->port),
	};

	return translate(p, &to, rte_cpu_to_be_16(wire.id));
}

/*
 * dsr: the destination MAC only; the node holds the service's address itself. Or all of it within
 * an outer packet to the node's own address. With the TTL alone
 * changed, the checksum grows by 0x0100, with the carry round the end (RFC 1141); 0xffff becomes
 * 0, as RFC 1624 has it. IPv6 has no such checksum.
 */
static bool request_dsr(struct kvl_packet *p, const struct kvl_root_node *node)
{
	if (unlikely(p->v6)) {
		kvl_packet_ipv6(p)->hop_limits--;
	} else {
		struct rte_ipv4_hdr *ip = kvl_packet_ipv4(p);
		uint32_t sum = ip->hdr_checksum + RTE_BE16(0x0100);

		ip->time_to_live--;
		ip->hdr_checksum = sum + (sum >= 0xffff);
	}
	return likely(p->service->encapsulation == KVL_ENCAP_NONE) || kvl_encapsulate(p, node);
}

void kvl_rewrite_requests(struct kvl_worker *w, const struct kvl_root *root, struct kvl_burst *b)
{
	const struct kvl_root_node *nodes = kvl_root_nodes(root);
	struct kvl_list *list = &b->requests;
	unsigned int kept = 0;

	for (unsigned int i = 0; i < list->count; i++) {
		struct kvl_packet *p = list->packets[i];
		const struct kvl_root_node *node = &nodes[p->node];

		if (unlikely(!(p->service->mode == KVL_MODE_NAT ? request_nat(w, p, node)
								: request_dsr(p, node)))) {
			kvl_packet_drop(w, p, KVL_DROP_NO_ROOM);
			continue;
		}
		ether_set(p, node->mac);
		p->port = node->egress;
		p->vlan = KVL_VLAN_NONE;
		list->packets[kept++] = p;
	}
	list->count = kept;
}

void kvl_rewrite_replies(struct kvl_worker *w, struct kvl_burst *b)
{
	struct kvl_list *list = &b->replies;
	unsigned int kept = 0;

	for (unsigned int i = 0; i < list->count; i++) {
		struct kvl_packet *p = list->packets[i];
		const struct kvl_slot *s = &w->pending.slots[p->slot];
		struct kvl_endpoints to = {
			.source = &s->vip,
			.destination = &s->client,
			.source_port = s->vip_port,
			.destination_port = s->client_port,
		};

		if (unlikely(!translate(p, &to, s->client_id))) {
			kvl_packet_drop(w, p, KVL_DROP_NO_ROOM);
			continue;
		}
		ether_set(p, s->client_mac);
		p->port = s->port;
		p->vlan = s->vlan;
		list->packets[kept++] = p;
	}
	list->count = kept;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "dataplane/datagram.h"

#define DATAGRAM_TTL 64

struct kvl_way kvl_way_to_node(const struct kvl_root_node *node, uint16_t port)
{
	return (struct kvl_way){
		.from_mac = node->source_mac,
		.to_mac = node->mac,
		.from = node->snat,
		.to = node->address,
		.from_port = rte_cpu_to_be_16(port),
		.to_port = rte_cpu_to_be_16(node->port),
		.vlan = KVL_VLAN_NONE,
		.port = node->egress,
	};
}

bool kvl_datagram_begin(struct kvl_worker *w, struct kvl_datagram *d)
{
	d->mbuf = rte_pktmbuf_alloc(w->made);
	if (d->mbuf == NULL) {
		kvl_count(&w->counters.pool_empty, 1);
		return false;
	}
	/* What IPv6 or a tag need more than this comes from the headroom. */
	d->data = rte_pktmbuf_mtod_offset(d->mbuf, uint8_t *, KVL_HEADERS_V4 + KVL_FRAME_LEN);
	return true;
}

/* The header that ends where `end` begins. */
static uint8_t *ether_write(uint8_t *end, const struct kvl_way *way, rte_be16_t type)
{
	struct rte_ether_hdr *ether;

	if (way->vlan != KVL_VLAN_NONE) {
		struct rte_vlan_hdr *tag = (struct rte_vlan_hdr *)end - 1;

		tag->vlan_tci = rte_cpu_to_be_16(way->vlan);
		tag->eth_proto = type;
		type = RTE_BE16(RTE_ETHER_TYPE_VLAN);
		end = (uint8_t *)tag;
	}
	ether = (struct rte_ether_hdr *)end - 1;
	memcpy(&ether->dst_addr, way->to_mac, RTE_ETHER_ADDR_LEN);
	memcpy(&ether->src_addr, way->from_mac, RTE_ETHER_ADDR_LEN);
	ether->ether_type = type;
	return (uint8_t *)ether;
}

/* All that is before UDP, whose header and payload are complete but for the checksum. */
static uint8_t *ipv4_write(struct rte_udp_hdr *udp, const struct kvl_way *way)
{
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)udp - 1;

	*ip = (struct rte_ipv4_hdr){
		.version_ihl = RTE_IPV4_VHL_DEF,
		.total_length = rte_cpu_to_be_16(sizeof(*ip) + rte_be_to_cpu_16(udp->dgram_len)),
		/* atomic datagram: DF set, the id means nothing (RFC 6864) */
		.fragment_offset = RTE_BE16(RTE_IPV4_HDR_DF_FLAG),
		.time_to_live = DATAGRAM_TTL,
		.next_proto_id = IPPROTO_UDP,
		.src_addr = kvl_addr_v4(&way->from),
		.dst_addr = kvl_addr_v4(&way->to),
	};
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	udp->dgram_cksum = rte_ipv4_udptcp_cksum(ip, udp);
	return ether_write((uint8_t *)ip, way, RTE_BE16(RTE_ETHER_TYPE_IPV4));
}

static uint8_t *ipv6_write(struct rte_udp_hdr *udp, const struct kvl_way *way)
{
	struct rte_ipv6_hdr *ip = (struct rte_ipv6_hdr *)udp - 1;

	*ip = (struct rte_ipv6_hdr){
		.vtc_flow = RTE_BE32(6u << 28),
		.payload_len = udp->dgram_len,
		.proto = IPPROTO_UDP,
		.hop_limits = DATAGRAM_TTL,
	};
	memcpy(ip->src_addr, way->from.bytes, sizeof(ip->src_addr));
	memcpy(ip->dst_addr, way->to.bytes, sizeof(ip->dst_addr));
	udp->dgram_cksum = rte_ipv6_udptcp_cksum(ip, udp);
	return ether_write((uint8_t *)ip, way, RTE_BE16(RTE_ETHER_TYPE_IPV6));
}

static uint32_t frame_longest(const struct kvl_worker *w, const struct kvl_way *way)
{
	return w->lanes[way->port].mtu + sizeof(struct rte_ether_hdr)
	       + (way->vlan != KVL_VLAN_NONE ? sizeof(struct rte_vlan_hdr) : 0);
}

void kvl_datagram_send(struct kvl_worker *w, struct kvl_datagram *d, const struct kvl_way *way,
	uint16_t id, uint16_t sequence, uint16_t total, uint16_t len)
{
	struct kvl_frame *frame = (struct kvl_frame *)d->data - 1;
	struct rte_udp_hdr *udp = (struct rte_udp_hdr *)frame - 1;
	uint16_t udp_len = sizeof(*udp) + sizeof(*frame) + len;
	uint8_t *start;

	*frame = (struct kvl_frame){
		.id = id, .sequence = rte_cpu_to_be_16(sequence), .total = rte_cpu_to_be_16(total)};
	*udp = (struct rte_udp_hdr){.src_port = way->from_port,
		.dst_port = way->to_port,
		.dgram_len = rte_cpu_to_be_16(udp_len)};
	start = kvl_addr_is_v4(&way->to) ? ipv4_write(udp, way) : ipv6_write(udp, way);
	d->mbuf->data_off += start - rte_pktmbuf_mtod(d->mbuf, uint8_t *);
	d->mbuf->data_len = d->mbuf->pkt_len = d->data + len - start;
	kvl_count(&w->counters.created, 1);
	if (unlikely(d->mbuf->pkt_len > frame_longest(w, way))) {
		kvl_count(&w->counters.drops[KVL_DROP_MTU], 1);
		rte_pktmbuf_free(d->mbuf);
		return;
	}
	kvl_transmit_mbuf(w, d->mbuf, way->port);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "dataplane/datagram.h"

#define DATAGRAM_TTL 64

struct kvl_way kvl_way_to_node(const struct kvl_root_node *node, uint16_t port)
{
	return (struct kvl_way){
		.from_mac = node->source_mac,
		.to_mac = node->mac,
		.from = kvl_addr_v4(&node->snat),
		.to = kvl_addr_v4(&node->address),
		.from_port = rte_cpu_to_be_16(port),
		.to_port = rte_cpu_to_be_16(node->port),
		.vlan = KVL_VLAN_NONE,
		.port = node->egress,
	};
}

bool kvl_datagram_begin(struct kvl_worker *w, struct kvl_datagram *d, uint16_t vlan)
{
	d->mbuf = rte_pktmbuf_alloc(w->made);
	if (d->mbuf == NULL) {
		kvl_count(&w->counters.pool_empty, 1);
		return false;
	}
	d->ip = rte_pktmbuf_mtod_offset(d->mbuf, uint8_t *,
		sizeof(struct rte_ether_hdr)
			+ (vlan != KVL_VLAN_NONE ? sizeof(struct rte_vlan_hdr) : 0));
	d->data = d->ip + (KVL_PAYLOAD_OFFSET - KVL_IP_OFFSET) + KVL_FRAME_LEN;
	return true;
}

static void ether_write(uint8_t *at, const struct kvl_way *way)
{
	struct rte_ether_hdr *ether = (void *)at;
	struct rte_vlan_hdr *tag = (void *)(ether + 1);

	memcpy(&ether->dst_addr, way->to_mac, RTE_ETHER_ADDR_LEN);
	memcpy(&ether->src_addr, way->from_mac, RTE_ETHER_ADDR_LEN);
	ether->ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4);
	if (way->vlan == KVL_VLAN_NONE)
		return;
	ether->ether_type = RTE_BE16(RTE_ETHER_TYPE_VLAN);
	tag->vlan_tci = rte_cpu_to_be_16(way->vlan);
	tag->eth_proto = RTE_BE16(RTE_ETHER_TYPE_IPV4);
}

static void ipv4_write(struct rte_ipv4_hdr *ip, const struct kvl_way *way, uint16_t udp_len)
{
	*ip = (struct rte_ipv4_hdr){
		.version_ihl = RTE_IPV4_VHL_DEF,
		.total_length = rte_cpu_to_be_16(sizeof(*ip) + udp_len),
		/* atomic datagram: DF set, the id means nothing (RFC 6864) */
		.fragment_offset = RTE_BE16(RTE_IPV4_HDR_DF_FLAG),
		.time_to_live = DATAGRAM_TTL,
		.next_proto_id = IPPROTO_UDP,
		.src_addr = way->from,
		.dst_addr = way->to,
	};
	ip->hdr_checksum = rte_ipv4_cksum(ip);
}

void kvl_datagram_send(struct kvl_worker *w, struct kvl_datagram *d, const struct kvl_way *way,
	uint16_t id, uint16_t sequence, uint16_t total, uint16_t len)
{
	struct rte_ipv4_hdr *ip = (void *)d->ip;
	struct rte_udp_hdr *udp = (void *)(ip + 1);
	struct kvl_frame *frame = (void *)(udp + 1);
	uint8_t *start = rte_pktmbuf_mtod(d->mbuf, uint8_t *);
	uint16_t udp_len = sizeof(*udp) + sizeof(*frame) + len;

	ether_write(start, way);
	ipv4_write(ip, way, udp_len);
	*frame = (struct kvl_frame){
		.id = id, .sequence = rte_cpu_to_be_16(sequence), .total = rte_cpu_to_be_16(total)};
	*udp = (struct rte_udp_hdr){.src_port = way->from_port,
		.dst_port = way->to_port,
		.dgram_len = rte_cpu_to_be_16(udp_len)};
	udp->dgram_cksum = rte_ipv4_udptcp_cksum(ip, udp);
	d->mbuf->data_len = d->mbuf->pkt_len = d->data + len - start;
	kvl_count(&w->counters.created, 1);
	kvl_transmit_mbuf(w, d->mbuf, way->port);
}

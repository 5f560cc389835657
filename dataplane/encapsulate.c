/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "dataplane/burst.h"

/*
 * Outer headers of dsr requests: IP in IP (RFC 2003, 2473, 4213), or generic UDP encapsulation
 * (draft-ietf-intarea-gue-09, variant 0, as Linux's fou has it), whose source port spreads the
 * flows over what lies between. The outer packet is one hop's work of ours: its TTL begins anew,
 * while the inner one has been counted down by one, as any router does (RFC 2003, 3.1).
 */

#define OUTER_TTL 64

struct gue_header {
	uint8_t version_length; /* 0: variant 0, a data message, no options */
	uint8_t protocol;       /* of what is carried */
	uint16_t flags;
};

/* What the outer headers take from the inner packet, read before anything moves. */
struct inner {
	uint8_t protocol, service_type;
	uint16_t flow; /* the same for all of a client socket's requests */
};

static struct inner inner_read(const struct kvl_packet *p)
{
	const struct kvl_addr source = kvl_packet_source(p, p->v6);
	uint64_t flow =
		kvl_addr_low(&source) ^ kvl_addr_high(&source) ^ kvl_packet_udp(p)->src_port;

	return (struct inner){
		.protocol = p->v6 ? IPPROTO_IPV6 : IPPROTO_IPIP,
		.service_type = p->v6 ? rte_be_to_cpu_32(kvl_packet_ipv6(p)->vtc_flow) >> 20
				      : kvl_packet_ipv4(p)->type_of_service,
		.flow = flow * 0x9e3779b97f4a7c15ull >> 50,
	};
}

/* What follows the outer IP header, `len` bytes in all, goes by that protocol. */
static void ipv4_write(const struct kvl_packet *p, const struct kvl_root_node *node,
	const struct inner *inner, uint8_t protocol, uint16_t len)
{
	struct rte_ipv4_hdr *ip = kvl_packet_ipv4(p);

	*ip = (struct rte_ipv4_hdr){
		.version_ihl = RTE_IPV4_VHL_DEF,
		.type_of_service = inner->service_type,
		.total_length = rte_cpu_to_be_16(sizeof(*ip) + len),
		.fragment_offset = RTE_BE16(RTE_IPV4_HDR_DF_FLAG),
		.time_to_live = OUTER_TTL,
		.next_proto_id = protocol,
		.src_addr = kvl_addr_v4(&node->snat),
		.dst_addr = kvl_addr_v4(&node->address),
	};
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	kvl_packet_ether(p)->ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4);
}

static void ipv6_write(const struct kvl_packet *p, const struct kvl_root_node *node,
	const struct inner *inner, uint8_t protocol, uint16_t len)
{
	struct rte_ipv6_hdr *ip = kvl_packet_ipv6(p);

	*ip = (struct rte_ipv6_hdr){
		.vtc_flow = rte_cpu_to_be_32(6u << 28 | (uint32_t)inner->service_type << 20),
		.payload_len = rte_cpu_to_be_16(len),
		.proto = protocol,
		.hop_limits = OUTER_TTL,
	};
	memcpy(ip->src_addr, node->snat.bytes, sizeof(ip->src_addr));
	memcpy(ip->dst_addr, node->address.bytes, sizeof(ip->dst_addr));
	kvl_packet_ether(p)->ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV6);
}

/*
 * The UDP header goes without a checksum over IPv4, as tunnels' do: what is inside has its own. Over
 * IPv6 it has one, though RFC 6935 would allow to leave it out: not every node's kernel is told so.
 */
static void gue_write(const struct kvl_packet *p, const struct inner *inner, uint16_t len)
{
	struct rte_udp_hdr *udp = kvl_packet_udp(p);
	struct gue_header *gue = (void *)(udp + 1);

	*gue = (struct gue_header){.protocol = inner->protocol};
	*udp = (struct rte_udp_hdr){
		.src_port = rte_cpu_to_be_16(0xc000 | inner->flow),
		.dst_port = rte_cpu_to_be_16(p->service->gue_port),
		.dgram_len = rte_cpu_to_be_16(len),
	};
	if (p->v6)
		udp->dgram_cksum = rte_ipv6_udptcp_cksum(kvl_packet_ipv6(p), udp);
}

bool kvl_encapsulate(struct kvl_packet *p, const struct kvl_root_node *node)
{
	const bool gue = p->service->encapsulation == KVL_ENCAP_GUE;
	const bool v6 = !kvl_addr_is_v4(&node->address);
	const uint16_t ip_len = v6 ? sizeof(struct rte_ipv6_hdr) : sizeof(struct rte_ipv4_hdr);
	const uint16_t udp_len = gue ? sizeof(struct rte_udp_hdr) + sizeof(struct gue_header) : 0;
	const struct inner inner = inner_read(p);
	const uint16_t len = udp_len + p->mbuf->data_len - KVL_IP_OFFSET;

	if (rte_pktmbuf_prepend(p->mbuf, ip_len + udp_len) == NULL)
		return false;
	kvl_packet_locate(p, v6);
	if (v6)
		ipv6_write(p, node, &inner, gue ? IPPROTO_UDP : inner.protocol, len);
	else
		ipv4_write(p, node, &inner, gue ? IPPROTO_UDP : inner.protocol, len);
	if (gue)
		gue_write(p, &inner, len);
	return true;
}

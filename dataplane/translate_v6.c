/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "dataplane/translate.h"

/*
 * IPv6 to IPv6, and from one family to the other (as RFC 7915 translates headers, but for
 * fragments, which do not come this far).
 */

/* An IPv4 address counts as its mapped form: the 0xffff in it is 0 to a checksum. */
static kvl_csum_delta address_change(const struct kvl_addr *from, const struct kvl_addr *to)
{
	kvl_csum_delta delta = 0;
	uint32_t a[4], b[4];

	memcpy(a, from->bytes, sizeof(a));
	memcpy(b, to->bytes, sizeof(b));
	for (unsigned int i = 0; i < 4; i++)
		delta += kvl_csum_change32(a[i], b[i]);
	return delta;
}

/* Both headers hold type of service and hops; all else is made anew. */
struct carried {
	uint8_t service_type, hops;
};

static struct carried carried_read(const struct kvl_packet *p)
{
	if (p->v6)
		return (struct carried){
			.service_type = rte_be_to_cpu_32(kvl_packet_ipv6(p)->vtc_flow) >> 20,
			.hops = kvl_packet_ipv6(p)->hop_limits,
		};
	return (struct carried){
		.service_type = kvl_packet_ipv4(p)->type_of_service,
		.hops = kvl_packet_ipv4(p)->time_to_live,
	};
}

static void ipv6_write(
	struct kvl_packet *p, const struct kvl_endpoints *to, const struct carried *carried)
{
	struct rte_ipv6_hdr *ip = kvl_packet_ipv6(p);

	*ip = (struct rte_ipv6_hdr){
		.vtc_flow = rte_cpu_to_be_32(6u << 28 | (uint32_t)carried->service_type << 20),
		.payload_len = kvl_packet_udp(p)->dgram_len,
		.proto = IPPROTO_UDP,
		.hop_limits = carried->hops - 1,
	};
	memcpy(ip->src_addr, to->source->bytes, sizeof(ip->src_addr));
	memcpy(ip->dst_addr, to->destination->bytes, sizeof(ip->dst_addr));
	kvl_packet_ether(p)->ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV6);
}

static void ipv4_write(
	struct kvl_packet *p, const struct kvl_endpoints *to, const struct carried *carried)
{
	struct rte_ipv4_hdr *ip = kvl_packet_ipv4(p);

	*ip = (struct rte_ipv4_hdr){
		.version_ihl = RTE_IPV4_VHL_DEF,
		.type_of_service = carried->service_type,
		.total_length = rte_cpu_to_be_16(
			sizeof(*ip) + rte_be_to_cpu_16(kvl_packet_udp(p)->dgram_len)),
		.fragment_offset = RTE_BE16(RTE_IPV4_HDR_DF_FLAG),
		.time_to_live = carried->hops - 1,
		.next_proto_id = IPPROTO_UDP,
		.src_addr = kvl_addr_v4(to->source),
		.dst_addr = kvl_addr_v4(to->destination),
	};
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	kvl_packet_ether(p)->ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4);
}

/* The frame begins where the new headers, which end as the old ones do, have it begin. */
static bool frame_resize(struct kvl_packet *p, bool v6)
{
	const uint16_t grown = KVL_HEADERS_V6 - KVL_HEADERS_V4;
	uint16_t udp_len = rte_be_to_cpu_16(kvl_packet_udp(p)->dgram_len);

	if (v6 && !p->v6 && rte_pktmbuf_prepend(p->mbuf, grown) == NULL)
		return false;
	if (!v6 && p->v6)
		rte_pktmbuf_adj(p->mbuf, grown);
	p->v6 = v6;
	/* Bytes behind the datagram that the old header counted are not taken along. */
	p->mbuf->data_len = p->mbuf->pkt_len =
		kvl_packet_headers(p) - sizeof(struct rte_udp_hdr) + udp_len;
	return true;
}

bool kvl_translate_v6(struct kvl_packet *p, const struct kvl_endpoints *to, uint16_t id)
{
	const struct kvl_addr source = kvl_packet_source(p, p->v6);
	const struct kvl_addr destination = kvl_packet_destination(p, p->v6);
	const struct carried carried = carried_read(p);
	const bool v6 = !kvl_addr_is_v4(to->destination);
	struct rte_udp_hdr *udp = kvl_packet_udp(p);

	if (!frame_resize(p, v6))
		return false;
	if (v6)
		ipv6_write(p, to, &carried);
	else
		ipv4_write(p, to, &carried);
	kvl_translate_udp(p, to, id,
		address_change(&source, to->source)
			+ address_change(&destination, to->destination));
	/* Without one over IPv4: over IPv6 it must be there. */
	if (v6 && udp->dgram_cksum == 0)
		udp->dgram_cksum = rte_ipv6_udptcp_cksum(kvl_packet_ipv6(p), udp);
	return true;
}

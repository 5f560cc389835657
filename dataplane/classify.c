/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "dataplane/burst.h"

/*
 * Whose packet is it: a client's request, a node's reply, or the kernel's? Only what the first two
 * may look like passes, so that later stages find the headers at fixed offsets. Ports give us
 * nothing else when the steering program is in place; under af_packet they give everything, and
 * the kernel has its own copy of what is dropped here as not ours.
 */

/* Takes an 802.1Q tag off; the packet remembers it. */
static void tag_strip(struct kvl_packet *p)
{
	const struct rte_vlan_hdr *tag = (const void *)(p->data + sizeof(struct rte_ether_hdr));

	p->vlan = rte_be_to_cpu_16(tag->vlan_tci);
	memmove(p->data + sizeof(*tag), p->data, 2 * RTE_ETHER_ADDR_LEN);
	p->data = (uint8_t *)rte_pktmbuf_adj(p->mbuf, sizeof(*tag));
}

/* What is not untagged IPv4 in one segment. */
static __attribute__((noinline)) enum kvl_drop ethernet_odd(struct kvl_packet *p)
{
	if (p->mbuf->nb_segs != 1)
		return KVL_DROP_SEGMENTS;
	if (p->mbuf->data_len < KVL_PAYLOAD_OFFSET + sizeof(struct rte_vlan_hdr)
		|| kvl_packet_ether(p)->ether_type != RTE_BE16(RTE_ETHER_TYPE_VLAN))
		return KVL_DROP_NOT_OURS;
	tag_strip(p);
	return kvl_packet_ether(p)->ether_type == RTE_BE16(RTE_ETHER_TYPE_IPV4) ? KVL_DROP_COUNT
										: KVL_DROP_NOT_OURS;
}

static enum kvl_drop ethernet_check(struct kvl_packet *p)
{
	/* Nothing sent to a group: every router on the segment would serve it. */
	if (unlikely(p->mbuf->data_len < KVL_PAYLOAD_OFFSET || (p->data[0] & 1)))
		return p->mbuf->nb_segs != 1 ? KVL_DROP_SEGMENTS : KVL_DROP_NOT_OURS;
	if (likely(p->mbuf->nb_segs == 1
		    && kvl_packet_ether(p)->ether_type == RTE_BE16(RTE_ETHER_TYPE_IPV4)))
		return KVL_DROP_COUNT;
	return ethernet_odd(p);
}

static enum kvl_drop ipv4_check(const struct kvl_packet *p)
{
	const struct rte_ipv4_hdr *ip = kvl_packet_ipv4(p);

	if (unlikely(ip->next_proto_id != IPPROTO_UDP))
		return KVL_DROP_NOT_OURS;
	if (unlikely(ip->version_ihl != RTE_IPV4_VHL_DEF))
		return (ip->version_ihl >> 4) == IPVERSION && (ip->version_ihl & 0xf) > 5
			       ? KVL_DROP_IP_OPTIONS
			       : KVL_DROP_IP_HEADER;
	if (unlikely(ip->fragment_offset
		     & RTE_BE16(RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK)))
		return KVL_DROP_FRAGMENT;
	return KVL_DROP_COUNT;
}

/* Each of the two flags means "bad" only when the other bit of its mask is not set. */
static bool checksum_is_bad(uint64_t flags)
{
	if (likely(!(flags & (RTE_MBUF_F_RX_L4_CKSUM_BAD | RTE_MBUF_F_RX_IP_CKSUM_BAD))))
		return false;
	return (flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) == RTE_MBUF_F_RX_L4_CKSUM_BAD
	       || (flags & RTE_MBUF_F_RX_IP_CKSUM_MASK) == RTE_MBUF_F_RX_IP_CKSUM_BAD;
}

/* Lengths of a packet known to be ours; sets payload_len and cuts Ethernet padding off. */
static enum kvl_drop lengths_check(struct kvl_packet *p)
{
	const struct rte_ipv4_hdr *ip = kvl_packet_ipv4(p);
	uint16_t total = rte_be_to_cpu_16(ip->total_length);
	uint16_t have = p->mbuf->data_len - KVL_IP_OFFSET;
	uint16_t udp = rte_be_to_cpu_16(kvl_packet_udp(p)->dgram_len);

	if (unlikely(total > have))
		return KVL_DROP_TRUNCATED;
	if (unlikely(total < sizeof(*ip) + sizeof(struct rte_udp_hdr)))
		return KVL_DROP_IP_HEADER;
	if (unlikely(udp < sizeof(struct rte_udp_hdr) || udp > total - sizeof(*ip)))
		return KVL_DROP_UDP_LENGTH;
	if (unlikely(ip->time_to_live <= 1))
		return KVL_DROP_TTL;
	if (unlikely(checksum_is_bad(p->mbuf->ol_flags)))
		return KVL_DROP_CHECKSUM;
	if (unlikely(kvl_packet_udp(p)->src_port == 0))
		return KVL_DROP_PORT_ZERO;

	p->payload_len = udp - sizeof(struct rte_udp_hdr);
	if (total < have)
		rte_pktmbuf_trim(p->mbuf, have - total);
	return KVL_DROP_COUNT;
}

static bool address_is_snat(const struct kvl_worker *w, uint32_t address)
{
	for (unsigned int i = 0; i < w->lane_count; i++)
		if (w->lanes[i].has_snat && w->lanes[i].snat == address)
			return true;
	return false;
}

/* Replies come by the port that has their address: on a port toward clients they are forged. What
 * another worker handed over has been looked at there. */
static bool lane_takes_replies(const struct kvl_worker *w, const struct kvl_packet *p)
{
	const struct kvl_lane *lane;

	if (unlikely(p->port == KVL_LANE_ANY))
		return true;
	lane = &w->lanes[p->port];
	return lane->has_snat && lane->snat == kvl_packet_ipv4(p)->dst_addr;
}

static bool source_is_server(
	const struct kvl_worker *w, const struct kvl_root *root, const struct kvl_packet *p)
{
	uint32_t address = kvl_packet_ipv4(p)->src_addr;
	uint16_t port = rte_be_to_cpu_16(kvl_packet_udp(p)->src_port);

	return kvl_root_is_server(root, address, port, p->service->port)
	       || (unlikely(kvl_pending_is_snat(&w->pending, port)) && address_is_snat(w, address));
}

/*
 * Where neither NIC nor kernel has looked at the checksum, as with AF_XDP, it is looked at here: the
 * node's kernel would drop a bad one, and the node be charged with its silence. dsr has no such
 * account to keep.
 */
static bool checksum_is_wrong(const struct kvl_packet *p)
{
	const struct rte_udp_hdr *udp = kvl_packet_udp(p);

	if ((p->mbuf->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) != RTE_MBUF_F_RX_L4_CKSUM_UNKNOWN
		|| udp->dgram_cksum == 0 || p->service->mode != KVL_MODE_NAT)
		return false;
	/* Over a datagram with its checksum in it a right one comes to 0, which is given as 0xffff. */
	return rte_ipv4_udptcp_cksum(kvl_packet_ipv4(p), udp) != 0xffff;
}

static enum kvl_drop request_check(
	const struct kvl_worker *w, const struct kvl_root *root, const struct kvl_packet *p)
{
	if (unlikely(source_is_server(w, root, p)))
		return KVL_DROP_REFLECTION;
	return unlikely(checksum_is_wrong(p)) ? KVL_DROP_CHECKSUM : KVL_DROP_COUNT;
}

/* Puts the packet into its list, or says why not. */
static enum kvl_drop packet_sort(struct kvl_worker *w, const struct kvl_root *root,
	struct kvl_burst *b, struct kvl_packet *p)
{
	enum kvl_drop why = ethernet_check(p);
	uint32_t address;
	uint16_t port;

	if (likely(why == KVL_DROP_COUNT))
		why = ipv4_check(p);
	if (unlikely(why != KVL_DROP_COUNT))
		return why;

	address = kvl_packet_ipv4(p)->dst_addr;
	port = rte_be_to_cpu_16(kvl_packet_udp(p)->dst_port);
	p->service = kvl_root_service_v4(root, address, port);
	if (p->service == NULL
		&& !(kvl_pending_is_snat(&w->pending, port) && lane_takes_replies(w, p)))
		return KVL_DROP_NOT_OURS;

	why = lengths_check(p);
	if (unlikely(why != KVL_DROP_COUNT))
		return why;
	if (p->service == NULL) {
		kvl_list_add(&b->replies, p);
		return KVL_DROP_COUNT;
	}
	why = request_check(w, root, p);
	if (unlikely(why != KVL_DROP_COUNT))
		return why;
	kvl_list_add(&b->requests, p);
	return KVL_DROP_COUNT;
}

void kvl_classify(struct kvl_worker *w, const struct kvl_root *root, struct kvl_burst *b)
{
	const struct kvl_packet *end = b->packets + b->count;

	for (struct kvl_packet *p = b->packets; p < end; p++) {
		enum kvl_drop why = packet_sort(w, root, b, p);

		if (unlikely(why != KVL_DROP_COUNT))
			kvl_packet_drop(w, p, why);
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "dataplane/exception.h"

/*
 * Whose packet is it: a client's request, a node's reply, or the kernel's? Only what the first two
 * may look like passes, so that later stages find the headers at fixed offsets. Ports give us
 * nothing else when the steering program is in place; under af_packet they give everything, and
 * the kernel has its own copy of what is dropped here as not ours. A port that the kernel does not
 * see hands its share over (exception.h).
 */

/* Types of ICMP and ICMPv6: a destination cannot be reached. */
#define ICMP_UNREACHABLE   3
#define ICMPV6_UNREACHABLE 1

/* Takes an 802.1Q tag off; the packet remembers it. */
static void tag_strip(struct kvl_packet *p)
{
	uint8_t *frame = rte_pktmbuf_mtod(p->mbuf, uint8_t *);
	const struct rte_vlan_hdr *tag = (const void *)(frame + sizeof(struct rte_ether_hdr));

	p->vlan = rte_be_to_cpu_16(tag->vlan_tci);
	memmove(frame + sizeof(*tag), frame, 2 * RTE_ETHER_ADDR_LEN);
	rte_pktmbuf_adj(p->mbuf, sizeof(*tag));
	kvl_packet_locate(p, false);
}

/* What is not untagged IPv4 in one segment. */
static __attribute__((noinline)) enum kvl_drop ethernet_odd(struct kvl_packet *p)
{
	if (p->mbuf->nb_segs != 1)
		return KVL_DROP_SEGMENTS;
	if (kvl_packet_ether(p)->ether_type == RTE_BE16(RTE_ETHER_TYPE_VLAN)) {
		if (p->mbuf->data_len < KVL_HEADERS_V4 + sizeof(struct rte_vlan_hdr))
			return KVL_DROP_NOT_OURS;
		tag_strip(p);
	}
	switch (kvl_packet_ether(p)->ether_type) {
	case RTE_BE16(RTE_ETHER_TYPE_IPV4):
		return KVL_DROP_COUNT;
	case RTE_BE16(RTE_ETHER_TYPE_IPV6):
		if (p->mbuf->data_len < KVL_HEADERS_V6)
			return KVL_DROP_NOT_OURS;
		kvl_packet_locate(p, true);
		return KVL_DROP_COUNT;
	default:
		return KVL_DROP_NOT_OURS;
	}
}

/*
 * A switch that floods, or a NIC that does not filter, gives us what is sent to another router's
 * MAC, which serves it as well. To a group nothing is sent that one router should serve.
 */
static __attribute__((noinline)) enum kvl_drop ethernet_foreign(
	const struct kvl_worker *w, const struct kvl_packet *p)
{
	if (p->mbuf->nb_segs != 1)
		return KVL_DROP_SEGMENTS;
	if (p->mbuf->data_len < KVL_HEADERS_V4 || (kvl_packet_ether(p)->dst_addr.addr_bytes[0] & 1))
		return KVL_DROP_NOT_OURS;
	/* Rings and the like have no address, and take what they are given. */
	return w->lanes[p->port].mac_bits == 0 ? KVL_DROP_COUNT : KVL_DROP_FOREIGN_MAC;
}

/* What another worker handed over has been looked at there. */
static bool mac_is_lanes(const struct kvl_worker *w, const struct kvl_packet *p)
{
	return p->port == KVL_LANE_ANY
	       || kvl_mac_bits(kvl_packet_ether(p)) == w->lanes[p->port].mac_bits;
}

static enum kvl_drop ethernet_check(const struct kvl_worker *w, struct kvl_packet *p)
{
	enum kvl_drop why;

	if (unlikely(p->mbuf->data_len < KVL_HEADERS_V4 || !mac_is_lanes(w, p))) {
		why = ethernet_foreign(w, p);
		if (why != KVL_DROP_COUNT)
			return why;
	}
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

/* A mapped IPv4 address is this program's way to write one, and never on a wire (RFC 4942, 2.2). */
static bool address_is_mapped(const uint8_t *bytes)
{
	const struct kvl_addr address = kvl_addr_from_v6(bytes);

	return kvl_addr_is_v4(&address);
}

static enum kvl_drop ipv6_check(const struct kvl_packet *p)
{
	const struct rte_ipv6_hdr *ip = kvl_packet_ipv6(p);

	if (((const uint8_t *)ip)[0] >> 4 != 6 || address_is_mapped(ip->src_addr)
		|| address_is_mapped(ip->dst_addr))
		return KVL_DROP_IP_HEADER;
	switch (ip->proto) {
	case IPPROTO_UDP:
		return KVL_DROP_COUNT;
	case IPPROTO_FRAGMENT:
		return KVL_DROP_FRAGMENT;
	case IPPROTO_HOPOPTS:
	case IPPROTO_ROUTING:
	case IPPROTO_DSTOPTS:
		return KVL_DROP_IP_OPTIONS;
	default:
		return KVL_DROP_NOT_OURS;
	}
}

/* Each of the two flags means "bad" only when the other bit of its mask is not set. */
static bool checksum_is_bad(uint64_t flags)
{
	if (likely(!(flags & (RTE_MBUF_F_RX_L4_CKSUM_BAD | RTE_MBUF_F_RX_IP_CKSUM_BAD))))
		return false;
	return (flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) == RTE_MBUF_F_RX_L4_CKSUM_BAD
	       || (flags & RTE_MBUF_F_RX_IP_CKSUM_MASK) == RTE_MBUF_F_RX_IP_CKSUM_BAD;
}

/* What the IP header says of the packet: its whole length, its own, and the hops left. */
struct extent {
	uint32_t total;
	uint16_t header;
	uint8_t hops;
};

static inline struct extent packet_extent(const struct kvl_packet *p, bool v6)
{
	if (v6)
		return (struct extent){
			.total = sizeof(struct rte_ipv6_hdr)
				 + rte_be_to_cpu_16(kvl_packet_ipv6(p)->payload_len),
			.header = sizeof(struct rte_ipv6_hdr),
			.hops = kvl_packet_ipv6(p)->hop_limits,
		};
	return (struct extent){
		.total = rte_be_to_cpu_16(kvl_packet_ipv4(p)->total_length),
		.header = sizeof(struct rte_ipv4_hdr),
		.hops = kvl_packet_ipv4(p)->time_to_live,
	};
}

/*
 * No link brings that much in one packet, but net_af_packet does: it has the kernel put fragments
 * together for it (PACKET_FANOUT_FLAG_DEFRAG), as much as a frame of its ring holds. They are the
 * kernel's all the same, whose slow path serves them.
 */
static inline bool was_fragmented(
	const struct kvl_worker *w, const struct kvl_packet *p, uint16_t have)
{
	return p->port != KVL_LANE_ANY && have > w->lanes[p->port].mtu;
}

/* Lengths of a packet known to be ours; sets payload_len and cuts Ethernet padding off. */
static inline enum kvl_drop lengths_check(const struct kvl_worker *w, struct kvl_packet *p, bool v6)
{
	const struct extent ip = packet_extent(p, v6);
	uint16_t have = p->mbuf->data_len - KVL_IP_OFFSET;
	uint16_t udp = rte_be_to_cpu_16(kvl_packet_udp(p)->dgram_len);

	if (unlikely(was_fragmented(w, p, have)))
		return KVL_DROP_FRAGMENT;
	if (unlikely(ip.total > have))
		return KVL_DROP_TRUNCATED;
	if (unlikely(ip.total < ip.header + sizeof(struct rte_udp_hdr)))
		return KVL_DROP_IP_HEADER;
	if (unlikely(udp < sizeof(struct rte_udp_hdr) || udp > ip.total - ip.header))
		return KVL_DROP_UDP_LENGTH;
	if (unlikely(ip.hops <= 1))
		return KVL_DROP_TTL;
	if (unlikely(checksum_is_bad(p->mbuf->ol_flags)))
		return KVL_DROP_CHECKSUM;
	if (unlikely(kvl_packet_udp(p)->src_port == 0))
		return KVL_DROP_PORT_ZERO;

	p->payload_len = udp - sizeof(struct rte_udp_hdr);
	if (ip.total < have)
		rte_pktmbuf_trim(p->mbuf, have - ip.total);
	return KVL_DROP_COUNT;
}

static bool lane_has(const struct kvl_lane *lane, const struct kvl_addr *address, bool v6)
{
	const unsigned int family = v6 ? KVL_IPV6 : KVL_IPV4;

	return lane->has_snat[family] && kvl_addr_eq(&lane->snat[family], address);
}

static bool address_is_snat(const struct kvl_worker *w, const struct kvl_addr *address, bool v6)
{
	for (unsigned int i = 0; i < w->lane_count; i++)
		if (lane_has(&w->lanes[i], address, v6))
			return true;
	return false;
}

/* Replies come by the port that has their address: on a port toward clients they are forged. What
 * another worker handed over has been looked at there. */
static inline bool lane_takes_replies(
	const struct kvl_worker *w, const struct kvl_packet *p, bool v6)
{
	const struct kvl_addr to = kvl_packet_destination(p, v6);

	return unlikely(p->port == KVL_LANE_ANY) || lane_has(&w->lanes[p->port], &to, v6);
}

static inline bool source_is_server(const struct kvl_worker *w, const struct kvl_root *root,
	const struct kvl_packet *p, bool v6)
{
	uint16_t port = rte_be_to_cpu_16(kvl_packet_udp(p)->src_port);
	bool snat = kvl_pending_is_snat(&w->pending, port);
	struct kvl_addr from;

	if (likely(!snat && !kvl_root_port_is_servers(root, port)))
		return false;
	from = kvl_packet_source(p, v6);
	return kvl_root_is_server(root, &from, port, p->service->port)
	       || (snat && address_is_snat(w, &from, v6));
}

/*
 * Where neither NIC nor kernel has looked at the checksum, as with AF_XDP, it is looked at here: the
 * node's kernel would drop a bad one, and the node be charged with its silence. dsr has no such
 * account to keep.
 */
static inline bool request_is_damaged(const struct kvl_packet *p, bool v6)
{
	return p->service->mode == KVL_MODE_NAT ? kvl_packet_is_damaged(p, v6)
						: kvl_packet_lacks_checksum(p, v6);
}

/*
 * What no host has as its own address (RFC 1122, 3.2.1.3; RFC 4291, 2.5 and 2.7), by IP or by MAC:
 * replies go back the way requests come, so one forged request would have them sent to all on the
 * segment. A memcached's kernel takes no such packet either.
 */
static inline bool source_is_nobodys(const struct kvl_packet *p, bool v6)
{
	const uint8_t *from =
		v6 ? kvl_packet_ipv6(p)->src_addr : (const uint8_t *)&kvl_packet_ipv4(p)->src_addr;
	struct kvl_addr address;

	if (kvl_packet_ether(p)->src_addr.addr_bytes[0] & 1)
		return true;
	if (!v6)
		return from[0] == 0 || from[0] == 127 || from[0] >> 4 == 0xe
		       || kvl_packet_ipv4(p)->src_addr == UINT32_MAX;
	address = kvl_addr_from_v6(from);
	return from[0] == 0xff
	       || (kvl_addr_high(&address) == 0
		       && rte_be_to_cpu_64(kvl_addr_low(&address))
				  <= 1); /* loopback, unspecified */
}

static inline enum kvl_drop request_check(const struct kvl_worker *w, const struct kvl_root *root,
	const struct kvl_packet *p, bool v6)
{
	if (unlikely(source_is_nobodys(p, v6)))
		return KVL_DROP_SOURCE;
	if (unlikely(source_is_server(w, root, p, v6)))
		return KVL_DROP_REFLECTION;
	return unlikely(request_is_damaged(p, v6)) ? KVL_DROP_CHECKSUM : KVL_DROP_COUNT;
}

static inline const struct kvl_root_service *service_find(
	const struct kvl_root *root, const struct kvl_packet *p, uint16_t port, bool v6)
{
	const struct kvl_addr to = kvl_packet_destination(p, v6);

	return kvl_root_service_at(root, &to, port);
}

/* An ICMP error is ours when the datagram that it quotes was sent from one of our source ports. */
static __attribute__((cold, noinline)) bool error_is_ours(
	const struct kvl_worker *w, struct kvl_packet *p, bool v6)
{
	const struct extent ip = packet_extent(p, v6);
	const uint8_t type = v6 ? ICMPV6_UNREACHABLE : ICMP_UNREACHABLE;
	const uint8_t *quoted = kvl_packet_payload(p); /* ICMP's header is as long as UDP's */
	const struct kvl_addr to = kvl_packet_destination(p, v6);
	const struct rte_udp_hdr *udp = (const void *)(quoted + ip.header);
	struct kvl_packet q = {.udp = (uint8_t *)(uintptr_t)udp};
	struct kvl_addr from;

	if (ip.total < 2 * ip.header + 2 * sizeof(*udp)
		|| ip.total > p->mbuf->data_len - KVL_IP_OFFSET || p->udp[0] != type)
		return false;
	if (v6 ? quoted[0] >> 4 != 6 || kvl_packet_ipv6(&q)->proto != IPPROTO_UDP
	       : quoted[0] != RTE_IPV4_VHL_DEF || kvl_packet_ipv4(&q)->next_proto_id != IPPROTO_UDP)
		return false;
	from = kvl_packet_source(&q, v6);
	p->payload_len = ip.total - ip.header - sizeof(*udp);
	return kvl_addr_eq(&from, &to)
	       && kvl_pending_is_snat(&w->pending, rte_be_to_cpu_16(udp->src_port))
	       && lane_takes_replies(w, p, v6);
}

static uint8_t packet_protocol(const struct kvl_packet *p, bool v6)
{
	return v6 ? kvl_packet_ipv6(p)->proto : kvl_packet_ipv4(p)->next_proto_id;
}

/*
 * Puts the packet into its list, or says why not. `v6` is a constant at each call, so that each
 * family has code of its own.
 */
static __rte_always_inline enum kvl_drop datagram_sort(struct kvl_worker *w,
	const struct kvl_root *root, struct kvl_burst *b, struct kvl_packet *p, bool v6)
{
	enum kvl_drop why = v6 ? ipv6_check(p) : ipv4_check(p);
	uint16_t port;

	if (unlikely(why == KVL_DROP_NOT_OURS)
		&& packet_protocol(p, v6) == (v6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP)
		&& error_is_ours(w, p, v6)) {
		kvl_list_add(&b->errors, p);
		return KVL_DROP_COUNT;
	}
	if (unlikely(why != KVL_DROP_COUNT))
		return why;
	port = rte_be_to_cpu_16(kvl_packet_udp(p)->dst_port);
	p->service = service_find(root, p, port, v6);
	if (p->service == NULL
		&& !(kvl_pending_is_snat(&w->pending, port) && lane_takes_replies(w, p, v6)))
		return KVL_DROP_NOT_OURS;

	why = lengths_check(w, p, v6);
	if (unlikely(why != KVL_DROP_COUNT))
		return why;
	if (p->service == NULL) {
		if (unlikely(kvl_packet_lacks_checksum(p, v6)))
			return KVL_DROP_CHECKSUM;
		kvl_list_add(&b->replies, p);
		return KVL_DROP_COUNT;
	}
	why = request_check(w, root, p, v6);
	if (unlikely(why != KVL_DROP_COUNT))
		return why;
	kvl_list_add(&b->requests, p);
	return KVL_DROP_COUNT;
}

static __attribute__((noinline)) enum kvl_drop ipv6_sort(struct kvl_worker *w,
	const struct kvl_root *root, struct kvl_burst *b, struct kvl_packet *p)
{
	return datagram_sort(w, root, b, p, true);
}

static enum kvl_drop packet_sort(struct kvl_worker *w, const struct kvl_root *root,
	struct kvl_burst *b, struct kvl_packet *p)
{
	enum kvl_drop why = ethernet_check(w, p);

	if (unlikely(why != KVL_DROP_COUNT))
		return why;
	return unlikely(p->v6) ? ipv6_sort(w, root, b, p) : datagram_sort(w, root, b, p, false);
}

void kvl_classify(struct kvl_worker *w, const struct kvl_root *root, struct kvl_burst *b)
{
	const struct kvl_packet *end = b->packets + b->count;

	for (struct kvl_packet *p = b->packets; p < end; p++) {
		enum kvl_drop why = packet_sort(w, root, b, p);

		if (unlikely(why != KVL_DROP_COUNT) && !kvl_exception_pass(w, root, p, why))
			kvl_packet_drop(w, p, why);
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "dataplane/burst.h"

/*
 * The router's own replies: the request's mbuf, turned round. One short datagram for one request,
 * so amplification is bounded by the longest error text. What asked for silence, or cannot be
 * answered, is dropped by name.
 */

#define ANSWER_TTL 64

static enum kvl_drop silence_name(enum kvl_verdict verdict)
{
	switch (verdict) {
	case KVL_REQUEST_FRAME_SHORT:
		return KVL_DROP_FRAME_SHORT;
	case KVL_REQUEST_FRAME_TOTAL:
		return KVL_DROP_FRAME_TOTAL;
	case KVL_REQUEST_NO_NODE:
		return KVL_DROP_NO_NODE;
	case KVL_REQUEST_TABLE_FULL:
		return KVL_DROP_PENDING_FULL;
	case KVL_REQUEST_OVER_QUOTA:
		return KVL_DROP_OVER_QUOTA;
	case KVL_REQUEST_SHED:
		return KVL_DROP_SHED;
	case KVL_REQUEST_PATH_MTU:
		return KVL_DROP_MTU;
	default:
		return KVL_DROP_QUIET;
	}
}

static void ipv4_turn(struct kvl_packet *p)
{
	struct rte_ipv4_hdr *ip = kvl_packet_ipv4(p);
	struct rte_udp_hdr *udp = kvl_packet_udp(p);
	uint32_t address = ip->src_addr;

	ip->src_addr = ip->dst_addr;
	ip->dst_addr = address;
	ip->type_of_service = 0;
	ip->total_length = rte_cpu_to_be_16(sizeof(*ip) + rte_be_to_cpu_16(udp->dgram_len));
	ip->packet_id = 0; /* atomic datagram: DF set, the id means nothing (RFC 6864) */
	ip->fragment_offset = RTE_BE16(RTE_IPV4_HDR_DF_FLAG);
	ip->time_to_live = ANSWER_TTL;
	ip->hdr_checksum = 0;
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	udp->dgram_cksum = rte_ipv4_udptcp_cksum(ip, udp);
}

static void ipv6_turn(struct kvl_packet *p)
{
	struct rte_ipv6_hdr *ip = kvl_packet_ipv6(p);
	struct rte_udp_hdr *udp = kvl_packet_udp(p);
	uint8_t address[sizeof(ip->src_addr)];

	memcpy(address, ip->src_addr, sizeof(address));
	memcpy(ip->src_addr, ip->dst_addr, sizeof(address));
	memcpy(ip->dst_addr, address, sizeof(address));
	ip->vtc_flow = RTE_BE32(6u << 28);
	ip->payload_len = udp->dgram_len;
	ip->hop_limits = ANSWER_TTL;
	udp->dgram_cksum = rte_ipv6_udptcp_cksum(ip, udp);
}

static void headers_turn(struct kvl_packet *p, uint16_t payload_len)
{
	struct rte_ether_hdr *ether = kvl_packet_ether(p);
	struct rte_udp_hdr *udp = kvl_packet_udp(p);
	struct rte_ether_addr mac = ether->src_addr;
	uint16_t port = udp->src_port;

	ether->src_addr = ether->dst_addr;
	ether->dst_addr = mac;
	udp->src_port = udp->dst_port;
	udp->dst_port = port;
	udp->dgram_len = rte_cpu_to_be_16(sizeof(*udp) + payload_len);
	udp->dgram_cksum = 0;
	if (p->v6)
		ipv6_turn(p);
	else
		ipv4_turn(p);
}

/* data_len follows the new payload; the mbuf was longer or shorter before. */
static void length_set(struct rte_mbuf *mbuf, uint16_t len)
{
	mbuf->data_len = len;
	mbuf->pkt_len = len;
}

bool kvl_answer_fits(const struct kvl_packet *p, uint16_t len)
{
	return p->mbuf->data_len + rte_pktmbuf_tailroom(p->mbuf) >= kvl_packet_headers(p) + len;
}

void kvl_answer_turn(struct kvl_packet *p, uint16_t len)
{
	length_set(p->mbuf, kvl_packet_headers(p) + len);
	headers_turn(p, len);
}

void kvl_answer(struct kvl_worker *w, struct kvl_burst *b)
{
	struct kvl_list *list = &b->answers;
	unsigned int answered = 0;

	for (unsigned int i = 0; i < list->count; i++) {
		struct kvl_packet *p = list->packets[i];
		uint8_t *payload = kvl_packet_payload(p);
		uint16_t len = 0;

		if (likely(kvl_answer_fits(p, KVL_ANSWER_MAX)))
			len = kvl_request_answer(
				p->verdict, &p->request, payload, p->payload_len, payload);
		if (len == 0) {
			kvl_packet_drop(w, p, silence_name(p->verdict));
			continue;
		}
		kvl_answer_turn(p, len);
		kvl_count(&w->counters.answered[p->verdict], 1);
		list->packets[answered++] = p;
	}
	list->count = answered;
}

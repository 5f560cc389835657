/* SPDX-License-Identifier: BSD-3-Clause */
#include "dataplane/exception.h"

/* The same packets that the steering programs pass (steering.bpf.h); the others are ours, and bad. */
static bool is_the_kernels(enum kvl_drop why)
{
	switch (why) {
	case KVL_DROP_NOT_OURS:
	case KVL_DROP_FOREIGN_MAC: /* may be another of the kernel's; else it drops it */
	case KVL_DROP_IP_HEADER:
	case KVL_DROP_IP_OPTIONS:
	case KVL_DROP_FRAGMENT:
	case KVL_DROP_SEGMENTS:
		return true;
	default:
		return false;
	}
}

/* A request to all on the segment: every router there would serve it, by its slow path. */
static bool request_to_group(const struct kvl_root *root, struct kvl_packet *p)
{
	const struct rte_ether_hdr *ether = kvl_packet_ether(p);
	bool v6 = ether->ether_type == RTE_BE16(RTE_ETHER_TYPE_IPV6);
	struct kvl_addr to;

	if (!(ether->dst_addr.addr_bytes[0] & 1)
		|| p->mbuf->data_len < (v6 ? KVL_HEADERS_V6 : KVL_HEADERS_V4)
		|| (!v6 && ether->ether_type != RTE_BE16(RTE_ETHER_TYPE_IPV4)))
		return false;
	kvl_packet_locate(p, v6);
	if ((v6 ? kvl_packet_ipv6(p)->proto : kvl_packet_ipv4(p)->next_proto_id) != IPPROTO_UDP)
		return false;
	to = kvl_packet_destination(p, v6);
	return kvl_root_service_at(root, &to, rte_be_to_cpu_16(kvl_packet_udp(p)->dst_port))
	       != NULL;
}

bool kvl_exception_pass(
	struct kvl_worker *w, const struct kvl_root *root, struct kvl_packet *p, enum kvl_drop why)
{
	struct kvl_exception *e = p->port == KVL_LANE_ANY ? NULL : w->lanes[p->port].exception;
	uint16_t segments = p->mbuf->nb_segs;

	if (e == NULL || !is_the_kernels(why) || request_to_group(root, p))
		return false;
	if (e->lent + segments > KVL_EXCEPTION_LENT) {
		kvl_packet_drop(w, p, KVL_DROP_EXCEPTION_FULL);
		return true;
	}
	if (p->vlan != KVL_VLAN_NONE)
		kvl_packet_tag_insert(p); /* where it was taken off: there is room */
	/* Cannot fail: the ring holds as many as may be lent. */
	rte_ring_sp_enqueue(e->out, p->mbuf);
	e->lent += segments;
	kvl_count(&w->counters.exception_out, 1);
	return true;
}

static uint32_t lent_take_back(struct kvl_exception *e)
{
	struct rte_mbuf *mbufs[KVL_BURST];
	uint32_t n = rte_ring_sc_dequeue_burst(e->back, (void **)mbufs, KVL_BURST, NULL);

	for (uint32_t i = 0; i < n; i++) {
		e->lent -= mbufs[i]->nb_segs;
		rte_pktmbuf_free(mbufs[i]);
	}
	return n;
}

static uint32_t kernels_send(struct kvl_worker *w, struct kvl_exception *e, unsigned int port)
{
	struct rte_mbuf *mbufs[KVL_BURST];
	uint32_t n = rte_ring_sc_dequeue_burst(e->in, (void **)mbufs, KVL_BURST, NULL);

	for (uint32_t i = 0; i < n; i++)
		kvl_transmit_mbuf(w, mbufs[i], port);
	kvl_count(&w->counters.exception_in, n);
	return n;
}

uint32_t kvl_exception_run(struct kvl_worker *w)
{
	uint32_t moved = 0;

	for (unsigned int i = 0; i < w->lane_count; i++) {
		struct kvl_exception *e = w->lanes[i].exception;

		if (e == NULL)
			continue;
		moved += lent_take_back(e);
		if (e->in != NULL)
			moved += kernels_send(w, e, i);
	}
	return moved;
}

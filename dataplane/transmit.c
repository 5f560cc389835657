/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include <rte_ethdev.h>

#include "dataplane/burst.h"

/*
 * Gathers a burst per port and hands it over at its end. What the port does not take is dropped by
 * name: a full queue drains at the line's pace, and holding packets for it would only add delay
 * for those that could still be answered elsewhere.
 */

/* There is room mostly: the tag was taken off here, or it is headroom. */
bool kvl_packet_tag_insert(struct kvl_packet *p)
{
	struct rte_vlan_hdr *tag;
	uint8_t *data;

	data = (uint8_t *)rte_pktmbuf_prepend(p->mbuf, sizeof(*tag));
	if (data == NULL)
		return false;
	memmove(data, data + sizeof(*tag), 2 * RTE_ETHER_ADDR_LEN);
	((struct rte_ether_hdr *)data)->ether_type = RTE_BE16(RTE_ETHER_TYPE_VLAN);
	tag = (void *)(data + sizeof(struct rte_ether_hdr));
	/* The inner EtherType already stands behind it. */
	tag->vlan_tci = rte_cpu_to_be_16(p->vlan);
	return true;
}

static void lane_flush(struct kvl_worker *w, unsigned int port)
{
	struct kvl_tx_buffer *buffer = &w->tx[port];
	const struct kvl_lane *lane = &w->lanes[port];
	uint16_t sent =
		rte_eth_tx_burst(lane->dpdk_port, lane->queue, buffer->mbufs, buffer->count);

	kvl_count(&w->counters.tx, sent);
	if (unlikely(sent < buffer->count)) {
		kvl_count(&w->counters.drops[KVL_DROP_TX_FULL], buffer->count - sent);
		rte_pktmbuf_free_bulk(buffer->mbufs + sent, buffer->count - sent);
	}
	buffer->count = 0;
}

/*
 * Buffers packets from the i-th on as long as they leave by one port, which mostly is all of them:
 * along such a run the buffer's count stays in a register. Returns where the run ends.
 */
static unsigned int run_buffer(struct kvl_worker *w, const struct kvl_list *list, unsigned int i)
{
	const uint8_t port = list->packets[i]->port;
	struct kvl_tx_buffer *buffer = &w->tx[port];
	unsigned int count = buffer->count;
	const uint32_t longest = w->lanes[port].mtu + sizeof(struct rte_ether_hdr);

	for (; i < list->count && list->packets[i]->port == port; i++) {
		struct kvl_packet *p = list->packets[i];

		if (unlikely(p->mbuf->pkt_len > longest)) {
			kvl_packet_drop(w, p, KVL_DROP_MTU);
			continue;
		}
		if (unlikely(p->vlan != KVL_VLAN_NONE) && !kvl_packet_tag_insert(p)) {
			kvl_packet_drop(w, p, KVL_DROP_TX_FULL);
			continue;
		}
		buffer->mbufs[count++] = p->mbuf;
		if (unlikely(count == KVL_TX_BUFFER)) {
			buffer->count = count;
			lane_flush(w, port);
			count = 0;
		}
	}
	buffer->count = count;
	return i;
}

void kvl_transmit(struct kvl_worker *w, const struct kvl_list *list)
{
	for (unsigned int i = 0; i < list->count;)
		i = run_buffer(w, list, i);
}

void kvl_transmit_mbuf(struct kvl_worker *w, struct rte_mbuf *mbuf, unsigned int port)
{
	struct kvl_tx_buffer *buffer = &w->tx[port];

	buffer->mbufs[buffer->count++] = mbuf;
	if (buffer->count == KVL_TX_BUFFER)
		lane_flush(w, port);
}

void kvl_transmit_flush(struct kvl_worker *w)
{
	for (unsigned int port = 0; port < w->lane_count; port++)
		if (w->tx[port].count != 0)
			lane_flush(w, port);
}

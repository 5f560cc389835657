/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "dataplane/retry.h"

/*
 * nat: a slot of the pending table for each request, with all that its reply will need. dsr keeps
 * no state; the request is only counted.
 */

/* Errors of a quiet request come at once or not at all, so its slot need not wait for long. */
#define QUIET_HOLD_MS 250u

/* Outer headers, IPv6 ones, and an inner one of the longer family. */
#define EXTRA_MAX \
	((int)(sizeof(struct rte_ipv6_hdr) + KVL_GUE_BYTES + KVL_HEADERS_V6 - KVL_HEADERS_V4))

static void slot_fill(struct kvl_worker *w, struct kvl_packet *p, const struct kvl_root_node *node)
{
	struct kvl_slot *s = &w->pending.slots[p->slot];
	const struct rte_ether_hdr *ether = kvl_packet_ether(p);
	const struct rte_udp_hdr *udp = kvl_packet_udp(p);
	const struct kvl_frame *frame = (const void *)kvl_packet_payload(p);

	s->flags = KVL_SLOT_ACTIVE;
	s->echo = kvl_command_echo(&p->request, (const uint8_t *)(frame + 1));
	s->port = p->port;
	s->service = p->service->number;
	s->sent = w->now;
	s->key_hash = p->hash;
	s->node = p->node;
	s->node_port = node->port;
	s->client_id = frame->id;
	s->vip_port = udp->dst_port;
	s->node_address = node->address;
	s->client = kvl_packet_source(p, p->v6);
	s->vip = p->service->address;
	memcpy(s->client_mac, &ether->src_addr, sizeof(s->client_mac));
	memcpy(s->router_mac, &ether->dst_addr, sizeof(s->router_mac));
	s->vlan = p->vlan;
	s->client_port = udp->src_port;
}

static void slot_start(
	struct kvl_worker *w, const struct kvl_packet *p, const struct kvl_root_node *node)
{
	uint32_t hold = p->service->timeout_ms;
	struct kvl_slot *s = &w->pending.slots[p->slot];

	if (p->request.flags & KVL_REQ_QUIET) {
		s->flags |= KVL_SLOT_QUIET;
		hold = RTE_MIN(hold, QUIET_HOLD_MS);
	} else if (unlikely(p->service->retries != 0)) {
		uint32_t wait = kvl_retry_keep(w, p, node);

		hold = wait != 0 ? RTE_MIN(wait, hold) : hold;
	}
	/* + 1: the running tick is partly over, and a timeout must not come early. */
	kvl_wheel_arm(&w->pending.wheel, p->slot, w->tick + hold + 1);
}

/* How much longer than a datagram of the node's own family a request becomes, or (dsr) stays. */
static int extra_bytes(const struct kvl_packet *p, const struct kvl_root_node *node)
{
	const bool node_v6 = !kvl_addr_is_v4(&node->address);
	int extra = 0;

	if (p->service->mode == KVL_MODE_NAT)
		return 0;
	if (p->service->encapsulation != KVL_ENCAP_NONE)
		extra = node_v6 ? sizeof(struct rte_ipv6_hdr) : sizeof(struct rte_ipv4_hdr);
	if (p->service->encapsulation == KVL_ENCAP_GUE)
		extra += KVL_GUE_BYTES;
	return extra + ((int)p->v6 - (int)node_v6) * (int)(KVL_HEADERS_V6 - KVL_HEADERS_V4);
}

/* What the link to a node does not carry is refused before it is anybody's. */
static bool link_carries(const struct kvl_packet *p, const struct kvl_root_node *node)
{
	return likely(p->payload_len + EXTRA_MAX <= node->payload_max)
	       || p->payload_len + extra_bytes(p, node) <= node->payload_max;
}

static void request_count(struct kvl_worker *w, const struct kvl_packet *p)
{
	struct kvl_node_counters *node = &w->nodes[p->node];

	kvl_count(&node->requests, 1);
	if (p->request.kind == KVL_KIND_WRITE)
		kvl_count(&node->writes, 1);
	kvl_count(&node->bytes_out, p->payload_len);
}

/* The slots that the nat requests of the list will take. */
static void slots_prefetch(const struct kvl_worker *w, const struct kvl_list *list)
{
	unsigned int takes = 0;

	for (unsigned int i = 0; i < list->count; i++) {
		const struct kvl_slot *s;

		if (list->packets[i]->service->mode != KVL_MODE_NAT)
			continue;
		s = kvl_pending_peek(&w->pending, takes++);
		__builtin_prefetch(s, 1);
		__builtin_prefetch((const char *)s + 64, 1);
	}
}

/* It was in flight since its choice. */
static void request_refuse(
	struct kvl_worker *w, struct kvl_burst *b, struct kvl_packet *p, enum kvl_verdict why)
{
	if (kvl_packet_is_awaited(p))
		kvl_pulse_left(&w->pulses[p->node]);
	p->verdict = why;
	kvl_list_add(&b->answers, p);
}

void kvl_track(struct kvl_worker *w, const struct kvl_root *root, struct kvl_burst *b)
{
	const struct kvl_root_node *nodes = kvl_root_nodes(root);
	struct kvl_list *list = &b->requests;
	unsigned int tracked = 0;

	slots_prefetch(w, list);
	for (unsigned int i = 0; i < list->count; i++) {
		struct kvl_packet *p = list->packets[i];

		if (unlikely(!link_carries(p, &nodes[p->node]))) {
			request_refuse(w, b, p, KVL_REQUEST_PATH_MTU);
			continue;
		}
		if (p->service->mode == KVL_MODE_NAT) {
			p->slot = kvl_pending_take(&w->pending);
			if (unlikely(p->slot == KVL_SLOT_NONE)) {
				request_refuse(w, b, p, KVL_REQUEST_TABLE_FULL);
				continue;
			}
			slot_fill(w, p, &nodes[p->node]);
			slot_start(w, p, &nodes[p->node]);
		}
		request_count(w, p);
		list->packets[tracked++] = p;
	}
	kvl_count(&w->counters.requests, tracked);
	list->count = tracked;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "dataplane/constrain.h"
#include "dataplane/merge.h"
#include "lib/proto/commands.h"
#include "lib/ring/lookup.h"

/* Datagrams of several keys or commands. */

static void merge_fill(struct kvl_worker *w, struct kvl_merge *m, const struct kvl_packet *p)
{
	const struct rte_ether_hdr *ether = kvl_packet_ether(p);
	const struct rte_udp_hdr *udp = kvl_packet_udp(p);
	const struct kvl_frame *frame = (const void *)kvl_packet_payload(p);

	m->client = kvl_packet_source(p, p->v6);
	m->vip = p->service->address;
	memcpy(m->client_mac, &ether->src_addr, sizeof(m->client_mac));
	memcpy(m->router_mac, &ether->dst_addr, sizeof(m->router_mac));
	m->vlan = p->vlan;
	m->client_port = udp->src_port;
	m->vip_port = udp->dst_port;
	m->client_id = frame->id;
	m->port = p->port;
	m->deadline = w->tick + p->service->timeout_ms + 1;
	m->at = KVL_FRAME_LEN;
	m->len = p->payload_len;
	memcpy(m->request, kvl_packet_payload(p), p->payload_len);
}

static void split_nat(struct kvl_worker *w, struct kvl_burst *b, struct kvl_packet *p)
{
	uint32_t parts = kvl_commands_bound(kvl_packet_payload(p), p->payload_len);
	uint32_t merge = KVL_MERGE_NONE;

	if (p->payload_len <= w->merges.request_max)
		merge = kvl_merge_take(&w->merges, parts);
	if (merge == KVL_MERGE_NONE) {
		p->verdict = KVL_REQUEST_TABLE_FULL;
		p->request.flags &= ~KVL_REQ_QUIET; /* a later command may be waited for */
		kvl_count(&w->counters.merges_full, 1);
		kvl_list_add(&b->answers, p);
		return;
	}
	merge_fill(w, kvl_merge_at(&w->merges, merge), p);
	kvl_merge_ready(&w->merges, merge);
	kvl_count(&w->counters.splits, 1);
	kvl_count(&w->counters.absorbed, 1);
	rte_pktmbuf_free(p->mbuf);
}

/* The node of a key where there is no choice: the first of its row that is in. KVL_NODE_NONE with
 * p->verdict, when its tenant is over quota. */
static uint16_t key_node(struct kvl_worker *w, const struct kvl_root *root, struct kvl_packet *p,
	unsigned int class, const uint8_t *key, size_t len)
{
	const struct kvl_root_service *s = p->service;
	uint64_t hash;

	if (unlikely(s->policy & KVL_POLICY_RULES))
		s = kvl_rule_apply(w, root, s, key, len);
	if (!kvl_constrain_quota(w, root, s)) {
		p->verdict = KVL_REQUEST_OVER_QUOTA;
		return KVL_NODE_NONE;
	}
	hash = kvl_service_hash(s, key, len);
	return kvl_draw_first(
		kvl_placement_row(s->placement, kvl_placement_find(s->placement, hash)),
		kvl_root_weights(root, class))
		.node;
}

/* The node of a good command's keys, when it is the same for all (or NONE so far: any). */
static bool command_node(struct kvl_worker *w, const struct kvl_root *root, struct kvl_packet *p,
	unsigned int class, const struct kvl_command *c, uint16_t *node)
{
	const uint8_t *payload = kvl_packet_payload(p);
	uint8_t scratch[KVL_KEY_MAX];
	struct kvl_command_key k = {c->request.key_off, c->request.key_len};
	size_t at = 0;

	do {
		struct kvl_request r = c->request;
		const uint8_t *key;
		uint16_t n;
		size_t len;

		if (c->verdict == KVL_REQUEST_MULTI_KEY
			&& !kvl_command_key_next(payload, c, &at, &k))
			return true;
		r.key_off = k.off;
		r.key_len = k.len;
		key = kvl_request_key(payload, &r, scratch, &len);
		n = key_node(w, root, p, class, key, len);
		if (n == KVL_NODE_NONE || (*node != KVL_NODE_NONE && n != *node))
			return false;
		*node = n;
	} while (c->verdict == KVL_REQUEST_MULTI_KEY);
	return true;
}

/* What takes all of the datagram must take writes when there is one in it. */
static unsigned int datagram_class(const struct kvl_packet *p)
{
	struct kvl_packet one = {.service = p->service};
	size_t at = KVL_FRAME_LEN;
	struct kvl_command c;
	unsigned int class = 0;

	while (kvl_command_next(kvl_packet_payload(p), p->payload_len, &at, &c)) {
		one.request = c.request;
		class |= kvl_write_class(&one) & KVL_CLASS_WRITE;
	}
	return class;
}

/*
 * dsr: nothing can be merged, since replies pass the router by. The datagram goes on as it is when
 * one node has all keys and all of it is good, to the last byte; reads are not spread then.
 */
static void split_dsr(struct kvl_worker *w, const struct kvl_root *root, struct kvl_burst *b,
	struct kvl_packet *p)
{
	const uint8_t *payload = kvl_packet_payload(p);
	const unsigned int class = datagram_class(p);
	uint16_t node = KVL_NODE_NONE;
	size_t at = KVL_FRAME_LEN;
	struct kvl_command c;
	bool good = true;

	while (good && kvl_command_next(payload, p->payload_len, &at, &c))
		good = (c.verdict == KVL_REQUEST_KEYLESS && c.request.op == KVL_OP_MN)
		       || ((c.verdict == KVL_REQUEST_OK || c.verdict == KVL_REQUEST_MULTI_KEY)
			       && command_node(w, root, p, class, &c, &node));
	if (!good || at != p->payload_len || node == KVL_NODE_NONE) {
		kvl_list_add(&b->answers, p);
		return;
	}
	p->node = node;
	p->verdict = KVL_REQUEST_OK;
	kvl_list_add(&b->requests, p);
}

void kvl_split(struct kvl_worker *w, const struct kvl_root *root, struct kvl_burst *b,
	struct kvl_packet *p)
{
	if (p->service->mode == KVL_MODE_NAT)
		split_nat(w, b, p);
	else
		split_dsr(w, root, b, p);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "dataplane/burst.h"

/*
 * From a node's reply to the slot of its request, by arithmetic on (port, id); or to the worker
 * that owns it. Nothing in a reply is believed: it passes only when the generation is the slot's,
 * and when it comes from the very node that was asked.
 */

/* A reply that arrived at another worker than its request's goes there by mailbox. */
void kvl_hand_over(struct kvl_worker *w, struct kvl_packet *p, uint16_t owner)
{
	if (owner >= w->worker_count) {
		kvl_packet_drop(w, p, KVL_DROP_REPLY_OWNER);
	} else if (rte_ring_mp_enqueue(w->peers[owner], p->mbuf) != 0) {
		kvl_packet_drop(w, p, KVL_DROP_MAILBOX_FULL);
	} else {
		kvl_count(&w->counters.inbox_out, 1);
	}
}

/* Ours and well-formed: finds the slot and prefetches it. */
static bool reply_locate(struct kvl_worker *w, struct kvl_packet *p)
{
	uint16_t port = rte_be_to_cpu_16(kvl_packet_udp(p)->dst_port);
	uint16_t owner = kvl_pending_owner(&w->pending, port);
	uint16_t generation;

	if (unlikely(owner != w->id)) {
		kvl_hand_over(w, p, owner);
		return false;
	}
	if (unlikely(kvl_reply_parse(kvl_packet_payload(p), p->payload_len, &p->reply) < 0)) {
		kvl_packet_drop(w, p, KVL_DROP_REPLY_FRAME);
		return false;
	}
	p->slot = kvl_pending_slot(&w->pending, port, p->reply.id, &generation);
	__builtin_prefetch(&w->pending.slots[p->slot], 1);
	__builtin_prefetch((const char *)&w->pending.slots[p->slot] + 64);
	return true;
}

static bool source_is_node(const struct kvl_slot *s, const struct kvl_packet *p)
{
	const struct kvl_addr source = kvl_packet_source(p, p->v6);

	return kvl_addr_eq(&s->node_address, &source)
	       && s->node_port == rte_be_to_cpu_16(kvl_packet_udp(p)->src_port);
}

/* Late replies touch this counter and no other. */
static void late_count(struct kvl_worker *w, const struct kvl_slot *s, const struct kvl_packet *p)
{
	if (source_is_node(s, p))
		kvl_count(&w->nodes[s->node].late, 1);
}

static enum kvl_drop reply_check(struct kvl_worker *w, const struct kvl_packet *p)
{
	const struct kvl_slot *s = &w->pending.slots[p->slot];
	uint16_t port = rte_be_to_cpu_16(kvl_packet_udp(p)->dst_port);
	uint16_t generation;

	kvl_pending_slot(&w->pending, port, p->reply.id, &generation);
	if (unlikely(!(s->flags & KVL_SLOT_ACTIVE) || s->generation != generation)) {
		late_count(w, s, p);
		return KVL_DROP_REPLY_LATE;
	}
	if (unlikely(!source_is_node(s, p)))
		return KVL_DROP_REPLY_SOURCE;
	return KVL_DROP_COUNT;
}

void kvl_match(struct kvl_worker *w, struct kvl_burst *b)
{
	struct kvl_list *list = &b->replies;
	unsigned int located = 0, matched = 0;

	for (unsigned int i = 0; i < list->count; i++)
		if (likely(reply_locate(w, list->packets[i])))
			list->packets[located++] = list->packets[i];

	for (unsigned int i = 0; i < located; i++) {
		struct kvl_packet *p = list->packets[i];
		enum kvl_drop why = reply_check(w, p);

		if (unlikely(why != KVL_DROP_COUNT)) {
			kvl_packet_drop(w, p, why);
			continue;
		}
		__builtin_prefetch(&w->nodes[w->pending.slots[p->slot].node], 1);
		list->packets[matched++] = p;
	}
	list->count = matched;
}

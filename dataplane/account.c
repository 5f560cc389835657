/* SPDX-License-Identifier: BSD-3-Clause */
#include "dataplane/burst.h"
#include "dataplane/merge.h"
#include "lib/score/pulse.h"

/*
 * What a reply tells of its node: latency, hits, errors, rejects (SPEC 6.2). Also decides whether
 * the reply is whole, and gives its slot back.
 */

static void kind_count(struct kvl_node_counters *node, enum kvl_reply_kind kind)
{
	switch (kind) {
	case KVL_REPLY_HIT:
		kvl_count(&node->hits, 1);
		break;
	case KVL_REPLY_MISS:
		kvl_count(&node->misses, 1);
		break;
	case KVL_REPLY_ERROR:
		kvl_count(&node->errors, 1);
		break;
	case KVL_REPLY_REJECT:
		kvl_count(&node->rejects, 1);
		break;
	default:
		break;
	}
}

/* The whole reply is through: a latency sample, and the slot is free at once. */
static void reply_finish(struct kvl_worker *w, const struct kvl_packet *p, struct kvl_slot *s)
{
	struct kvl_node_counters *node = &w->nodes[s->node];
	struct kvl_pulse *pulse = &w->pulses[s->node];

	if (!(s->flags & KVL_SLOT_QUIET)) {
		uint64_t us = ((w->now - s->sent) * w->us_per_tsc) >> 32;

		kvl_hist_add(&w->latency[s->node], RTE_MIN(us, (uint64_t)KVL_HIST_MAX_US));
		/* A rejection says nothing of how fast a node works (SPEC 4.3). */
		if (likely(p->reply.kind != KVL_REPLY_REJECT))
			kvl_pulse_latency(pulse, RTE_MIN(us, (uint64_t)KVL_LATENCY_MOST), w->tick);
		kvl_pulse_left(pulse);
	}
	pulse->answered = w->tick;
	node->timeouts_in_a_row = 0;
	kvl_count(&node->replies, 1);
	kvl_pending_answered(&w->pending, p->slot);
}

/* Counts a datagram of a reply; *whole: the last of it. */
static inline enum kvl_drop datagram_account(
	struct kvl_worker *w, const struct kvl_packet *p, struct kvl_slot *s, bool *whole)
{
	struct kvl_node_counters *node = &w->nodes[s->node];
	enum kvl_sequence_verdict verdict = kvl_sequences_add(
		&s->seen, &w->pending.sequences, p->reply.sequence, p->reply.total);

	if (unlikely(verdict == KVL_SEQUENCE_DUPLICATE))
		return KVL_DROP_REPLY_DUPLICATE;
	if (unlikely(verdict == KVL_SEQUENCE_TOTAL)) {
		/* Too large for us, but the node lives: its silence is not what will time out. */
		s->flags |= KVL_SLOT_HEARD;
		return KVL_DROP_REPLY_TOTAL;
	}

	if (p->reply.sequence == 0)
		kind_count(node, p->reply.kind);
	kvl_count(&node->bytes_in, p->payload_len);
	if (unlikely(verdict == KVL_SEQUENCE_UNTRACKED))
		kvl_count(&w->counters.big_untracked, 1);
	*whole = verdict == KVL_SEQUENCE_LAST;
	if (likely(*whole))
		reply_finish(w, p, s);
	return KVL_DROP_COUNT;
}

/* Beyond the names of drops: taken by a merge. */
#define TAKEN (KVL_DROP_COUNT + 1)

/* Not the reply to an ordinary request that is still waited for. */
static __attribute__((cold, noinline)) unsigned int reply_other(
	struct kvl_worker *w, const struct kvl_packet *p, struct kvl_slot *s)
{
	uint32_t merge = s->merge, part = s->part;
	enum kvl_drop why;
	bool whole;

	/* An earlier datagram of this very burst may have completed the reply. */
	if (!(s->flags & KVL_SLOT_ACTIVE))
		return KVL_DROP_REPLY_LATE;
	if (kvl_packet_is_damaged(p, p->v6))
		return KVL_DROP_CHECKSUM;
	why = datagram_account(w, p, s, &whole);
	if (why != KVL_DROP_COUNT)
		return why;
	kvl_count(&w->counters.replies, 1);
	kvl_merge_reply(w, merge, part, p, whole);
	return TAKEN;
}

static inline unsigned int reply_account(struct kvl_worker *w, const struct kvl_packet *p)
{
	struct kvl_slot *s = &w->pending.slots[p->slot];
	bool whole;

	if (unlikely((s->flags & (KVL_SLOT_ACTIVE | KVL_SLOT_PART)) != KVL_SLOT_ACTIVE))
		return reply_other(w, p, s);
	return datagram_account(w, p, s, &whole);
}

void kvl_account(struct kvl_worker *w, struct kvl_burst *b)
{
	struct kvl_list *list = &b->replies;
	unsigned int passed = 0;

	for (unsigned int i = 0; i < list->count; i++) {
		struct kvl_packet *p = list->packets[i];
		unsigned int why = reply_account(w, p);

		if (likely(why == KVL_DROP_COUNT))
			list->packets[passed++] = p;
		else if (why != TAKEN)
			kvl_packet_drop(w, p, why);
	}
	kvl_count(&w->counters.replies, passed);
	list->count = passed;
}

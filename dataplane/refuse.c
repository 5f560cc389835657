/* SPDX-License-Identifier: BSD-3-Clause */
#include "dataplane/burst.h"

/*
 * ICMP errors about requests: a node, its host or a router says that the node cannot be reached
 * (SPEC 6.7, RFC 792, RFC 4443). Kernels limit how many they send, so one error stands for all that
 * is in flight to that node, from every worker.
 *
 * An error is believed when it quotes a request that waits: source port, request id with the slot's
 * generation, and the node that was asked. Who has not seen the request cannot forge that.
 */

#define ICMP_HOST_PROHIBITED 10 /* RFC 1812; codes beyond are not that a node cannot be reached */
#define ICMP_FRAG_NEEDED     4
#define ICMP_ADMIN           13

#define SWEEP_SLOTS    1024u /* a turn */
#define SWEEP_PAUSE_MS 10    /* from one sweep to the next */
#define REFUSED_MS     500   /* how long an error counts: by then the control core has seen it */

/* The request that is quoted: all of it that tells whose it is. */
struct quote {
	struct kvl_addr to;
	const struct rte_udp_hdr *udp;
	uint16_t id; /* host order */
};

static bool quote_read(const struct kvl_packet *p, struct quote *q)
{
	const uint8_t *ip = kvl_packet_payload(p); /* ICMP's header is as long as UDP's */
	const uint16_t ip_len = p->v6 ? sizeof(struct rte_ipv6_hdr) : sizeof(struct rte_ipv4_hdr);
	const struct kvl_frame *frame;

	if (p->payload_len < ip_len + sizeof(*q->udp) + sizeof(frame->id))
		return false;
	q->to = p->v6 ? kvl_addr_from_v6(((const struct rte_ipv6_hdr *)ip)->dst_addr)
		      : kvl_addr_from_v4(((const struct rte_ipv4_hdr *)ip)->dst_addr);
	q->udp = (const void *)(ip + ip_len);
	frame = (const void *)(q->udp + 1);
	q->id = rte_be_to_cpu_16(frame->id);
	return true;
}

static bool checksum_is_right(const struct kvl_packet *p)
{
	uint16_t sum = rte_raw_cksum(p->udp, sizeof(struct rte_udp_hdr) + p->payload_len);

	if (p->v6) {
		const uint16_t parts[] = {sum, rte_ipv6_phdr_cksum(kvl_packet_ipv6(p), 0)};

		sum = rte_raw_cksum(parts, sizeof(parts));
	}
	return sum == 0xffff;
}

/* Type is "destination unreachable", as classify made sure; in IPv6 all its codes are. */
static bool code_refuses(const struct kvl_packet *p)
{
	uint8_t code = p->udp[1];

	return p->v6
	       || (code != ICMP_FRAG_NEEDED
		       && (code <= ICMP_HOST_PROHIBITED || code == ICMP_ADMIN));
}

/*
 * What was sent to the node before is not waited for any more, by a sweep over all slots. Since the
 * next request's error may not be sent, sweeps are repeated, for what is as old as the pause between
 * them, until the node answers anything or the control core has had time to take it out. More nodes
 * at once than there is room for have one sweep each.
 */
static void node_refused(struct kvl_worker *w, uint16_t number)
{
	uint32_t i = 0;

	while (i < w->refused_count && w->refused[i].node != number)
		i++;
	if (i == w->refused_count && i < KVL_REFUSED_MAX)
		w->refused_count++;
	if (i < w->refused_count)
		w->refused[i] = (struct kvl_refused){.node = number, .since = w->tick};
	w->nodes[number].refused_at = w->now;
	w->sweep_left = w->pending.size;
}

/*
 * Told to the next worker, until all have heard. What is verified, and for which node, stands in the
 * mbuf's hash, which nobody else uses between workers; a fresh hand-over has 0 there.
 */
#define TOLD 0x80000000u

static void pass_on(struct kvl_worker *w, struct kvl_packet *p, uint16_t node, uint32_t left)
{
	if (left == 0) {
		kvl_count(&w->counters.absorbed, 1);
		rte_pktmbuf_free(p->mbuf);
		return;
	}
	p->mbuf->hash.usr = TOLD | left << 16 | node;
	kvl_hand_over(w, p, (w->id + 1) % w->worker_count);
}

static enum kvl_drop quote_check(
	struct kvl_worker *w, const struct kvl_packet *p, const struct quote *q, uint32_t *slot)
{
	uint16_t port = rte_be_to_cpu_16(q->udp->src_port), generation;
	const struct kvl_slot *s;

	*slot = kvl_pending_slot(&w->pending, port, q->id, &generation);
	s = &w->pending.slots[*slot];
	if (!(s->flags & KVL_SLOT_ACTIVE) || s->generation != generation
		|| s->node_port != rte_be_to_cpu_16(q->udp->dst_port)
		|| !kvl_addr_eq(&s->node_address, &q->to))
		return KVL_DROP_ICMP_STALE;
	return code_refuses(p) ? KVL_DROP_COUNT : KVL_DROP_ICMP_OTHER;
}

static void error_take(struct kvl_worker *w, const struct kvl_root *root, struct kvl_packet *p)
{
	enum kvl_drop why = KVL_DROP_ICMP_QUOTE;
	struct quote q;
	uint16_t owner, node;
	uint32_t slot;

	if (quote_read(p, &q) && checksum_is_right(p)) {
		owner = kvl_pending_owner(&w->pending, rte_be_to_cpu_16(q.udp->src_port));
		if (owner != w->id) {
			p->mbuf->hash.usr = 0;
			kvl_hand_over(w, p, owner);
			return;
		}
		why = quote_check(w, p, &q, &slot);
	}
	if (why != KVL_DROP_COUNT) {
		kvl_packet_drop(w, p, why);
		return;
	}
	node = w->pending.slots[slot].node;
	kvl_count(&w->nodes[node].refused, 1);
	kvl_give_up(w, root, slot, true);
	node_refused(w, node);
	pass_on(w, p, node, w->worker_count - 1);
}

void kvl_refuse(struct kvl_worker *w, const struct kvl_root *root, struct kvl_burst *b)
{
	for (unsigned int i = 0; i < b->errors.count; i++) {
		struct kvl_packet *p = b->errors.packets[i];
		uint32_t told = p->port == KVL_LANE_ANY ? p->mbuf->hash.usr : 0;

		if (told & TOLD) {
			node_refused(w, told);
			pass_on(w, p, told, (told >> 16 & 0xff) - 1);
		} else {
			error_take(w, root, p);
		}
	}
}

static bool still_refused(const struct kvl_worker *w, const struct kvl_refused *r)
{
	return w->tick - r->since < REFUSED_MS
	       && !kvl_tick_before(r->since, w->pulses[r->node].answered);
}

/* The next sweep, when it is time for one. */
static void sweep_begin(struct kvl_worker *w)
{
	uint32_t kept = 0;

	if (w->tick - w->swept < SWEEP_PAUSE_MS)
		return;
	for (uint32_t i = 0; i < w->refused_count; i++) {
		if (!still_refused(w, &w->refused[i]))
			continue;
		w->refused[kept++] = w->refused[i];
		w->nodes[w->refused[i].node].refused_at = w->now - SWEEP_PAUSE_MS * w->tsc_per_tick;
	}
	w->refused_count = kept;
	if (kept != 0)
		w->sweep_left = w->pending.size;
}

void kvl_refuse_sweep(struct kvl_worker *w, const struct kvl_root *root)
{
	uint32_t n;

	if (w->sweep_left == 0)
		sweep_begin(w);
	n = RTE_MIN(SWEEP_SLOTS, w->sweep_left);
	w->sweep_left -= n;
	if (n != 0)
		w->swept = w->tick;
	for (; n != 0; n--) {
		uint32_t slot = w->sweep_at++ & (w->pending.size - 1);
		const struct kvl_slot *s = &w->pending.slots[slot];

		if ((s->flags & KVL_SLOT_ACTIVE) && s->sent < w->nodes[s->node].refused_at)
			kvl_give_up(w, root, slot, true);
	}
}

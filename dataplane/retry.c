/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "dataplane/constrain.h"
#include "dataplane/datagram.h"
#include "dataplane/retry.h"
#include "dataplane/wave.h"
#include "lib/ring/lookup.h"
#include "lib/score/pick.h"

/* Ticks to wait for a node, with jitter: a node's silence must not become a burst elsewhere. */
static uint32_t wait_ticks(struct kvl_worker *w, const struct kvl_root_node *node)
{
	return node->try_ms + kvl_retry_jitter_us(node->try_ms * 1000u, kvl_random(w) >> 32) / 1000;
}

/* By the terms that the request has when it comes: of its service, or of the rule of its key. */
static struct kvl_tries tries_begin(const struct kvl_worker *w,
	const struct kvl_root_service *terms, uint8_t flags, uint32_t lag_allowed, uint16_t node)
{
	return (struct kvl_tries){
		.began = w->tick,
		.timeout_ms = terms->timeout_ms,
		.retries = terms->retries,
		.lag = flags & KVL_REQ_LAG ? lag_allowed : KVL_LAG_ANY,
		.count = 1,
		.tried = {node},
	};
}

uint32_t kvl_retry_keep(
	struct kvl_worker *w, const struct kvl_packet *p, const struct kvl_root_node *node)
{
	struct kvl_retry_copy *c = &w->retry_copies[p->slot];

	kvl_retry_earn(&w->retry_budgets[p->service->number % KVL_TURNS], &w->retry);
	if (!(p->request.flags & KVL_REQ_IDEMPOTENT) || p->request.kind != KVL_KIND_READ
		|| p->payload_len > KVL_RETRY_BYTES)
		return 0;
	c->len = p->payload_len;
	c->tries = tries_begin(w, p->service, p->request.flags, p->request.lag_allowed, p->node);
	memcpy(c->payload, kvl_packet_payload(p), p->payload_len);
	w->pending.slots[p->slot].flags |= KVL_SLOT_RETRY;
	return wait_ticks(w, node);
}

uint32_t kvl_retry_keep_part(struct kvl_worker *w, const struct kvl_root_service *service,
	uint32_t slot, const struct kvl_root_node *node)
{
	struct kvl_slot *s = &w->pending.slots[slot];
	struct kvl_part *part = &w->merges.parts[s->part];

	kvl_retry_earn(&w->retry_budgets[service->number % KVL_TURNS], &w->retry);
	if (!(part->request_flags & KVL_REQ_IDEMPOTENT) || part->kind != KVL_KIND_READ)
		return 0;
	part->tries = tries_begin(w, service, part->request_flags, part->value_len, s->node);
	/* Of a datagram all has one time; what was asked of it before has used some. */
	part->tries.timeout_ms = RTE_MIN(
		service->timeout_ms, kvl_merge_at(&w->merges, s->merge)->deadline - w->tick);
	s->flags |= KVL_SLOT_RETRY;
	return wait_ticks(w, node);
}

static bool was_tried(const struct kvl_tries *t, uint16_t node)
{
	for (unsigned int i = 0; i < t->count; i++)
		if (t->tried[i] == node)
			return true;
	return false;
}

/* The best-weighted of the holders that are in and have not been tried; KVL_NODE_NONE. */
static uint16_t untried_best(const struct kvl_worker *w, const struct kvl_root *root,
	const struct kvl_root_service *service, const struct kvl_tries *t, uint64_t hash)
{
	const uint16_t *weights = kvl_root_weights(root, t->class);
	const struct kvl_row *row =
		kvl_placement_row(service->placement, kvl_placement_find(service->placement, hash));
	struct kvl_draw list[KVL_REPLICATION_MAX];
	unsigned int left = kvl_candidates(row, weights, service->replication, list);
	uint16_t best = KVL_NODE_NONE;

	for (unsigned int i = 0; i < left; i++)
		if (!was_tried(t, list[i].node)
			&& kvl_constrain_retry(w, root, service, list[i].node, t->lag)
			&& (best == KVL_NODE_NONE || weights[list[i].node] > weights[best]))
			best = list[i].node;
	return best;
}

static bool retry_allowed(struct kvl_worker *w, const struct kvl_root_service *service,
	const struct kvl_slot *s, const struct kvl_tries *t, const struct kvl_root_node *next)
{
	struct kvl_retry_params params = w->retry;
	const struct kvl_retry_request request = {
		.idempotent = true,
		.tries = t->count,
		.elapsed_us = (w->tick - t->began) * 1000,
		.needed_us = next->try_ms * (1000 / KVL_RETRY_P99),
		.key_hash = s->key_hash,
	};
	enum kvl_retry_verdict verdict;

	params.retries_most = t->retries;
	params.deadline_us = t->timeout_ms * 1000;
	verdict =
		kvl_retry_decide(&params, &request, &w->retry_budgets[service->number % KVL_TURNS],
			&w->retry_keys, w->now / w->tsc_per_tick);
	kvl_count(&w->counters.retries[verdict], 1);
	return verdict == KVL_RETRY_YES;
}

/*
 * The former node is left with the reply outstanding. Slow is not down: its silence is held against
 * it as a timeout only once it has lasted as long as a request may take; that it cannot be reached,
 * at once.
 */
static void node_leave(
	struct kvl_worker *w, const struct kvl_slot *s, uint32_t timeout_ms, bool refused)
{
	struct kvl_node_counters *node = &w->nodes[s->node];
	struct kvl_pulse *pulse = &w->pulses[s->node];
	uint32_t timeout_us = RTE_MIN(timeout_ms * 1000, (uint32_t)KVL_LATENCY_MOST);

	kvl_pulse_left(pulse);
	kvl_pulse_latency(pulse, refused ? timeout_us : kvl_slot_age_us(w, s), w->tick);
	if (!refused && w->tick - pulse->answered < timeout_ms)
		return;
	node->timeouts_in_a_row++;
	kvl_count(&node->timeouts, 1);
}

static void node_enter(
	struct kvl_worker *w, struct kvl_slot *s, uint16_t number, const struct kvl_root_node *node)
{
	s->node = number;
	s->node_port = node->port;
	s->node_address = node->address;
	s->sent = w->now;
	kvl_pulse_sent(&w->pulses[number]);
	kvl_count(&w->nodes[number].requests, 1);
	kvl_count(&w->counters.requests, 1);
}

/* The request once more, as a datagram's data; returns its length. */
static uint16_t request_write(struct kvl_worker *w, uint32_t slot, uint8_t *out)
{
	const struct kvl_slot *s = &w->pending.slots[slot];
	const struct kvl_retry_copy *c = &w->retry_copies[slot];

	if (s->flags & KVL_SLOT_PART)
		return kvl_part_write(
			kvl_merge_at(&w->merges, s->merge), &w->merges.parts[s->part], out);
	memcpy(out, c->payload + KVL_FRAME_LEN, c->len - KVL_FRAME_LEN);
	return c->len - KVL_FRAME_LEN;
}

static void request_send(struct kvl_worker *w, struct kvl_datagram *d, uint32_t slot,
	const struct kvl_root_node *node)
{
	struct kvl_wire_id wire = kvl_pending_wire(&w->pending, slot);
	const struct kvl_way way = kvl_way_to_node(node, wire.port);
	uint16_t len = request_write(w, slot, d->data);

	kvl_count(&w->nodes[w->pending.slots[slot].node].bytes_out, KVL_FRAME_LEN + len);
	kvl_datagram_send(w, d, &way, rte_cpu_to_be_16(wire.id), 0, 1, len);
}

/* No further try: the last node has until the request's deadline, if it is there at all. */
static bool wait_on(struct kvl_worker *w, uint32_t slot, uint32_t left, bool refused)
{
	w->pending.slots[slot].flags &= ~KVL_SLOT_RETRY;
	if (refused)
		return false;
	kvl_wheel_arm(&w->pending.wheel, slot, w->tick + left + 1);
	return true;
}

static struct kvl_tries *slot_tries(struct kvl_worker *w, uint32_t slot)
{
	const struct kvl_slot *s = &w->pending.slots[slot];

	return s->flags & KVL_SLOT_PART ? &w->merges.parts[s->part].tries
					: &w->retry_copies[slot].tries;
}

bool kvl_retry_again(struct kvl_worker *w, const struct kvl_root *root, uint32_t slot, bool refused)
{
	struct kvl_slot *s = &w->pending.slots[slot];
	struct kvl_tries *t = slot_tries(w, slot);
	const struct kvl_root_service *service = kvl_root_service_numbered(root, s->service);
	const struct kvl_root_node *node;
	struct kvl_datagram d;
	uint32_t left, wait;
	uint16_t next;

	if (service == NULL || w->tick - t->began >= t->timeout_ms)
		return false;
	left = t->timeout_ms - (w->tick - t->began);
	/* When some of the reply has passed, another node's could not be told from it. */
	next = s->seen.total == 0 ? untried_best(w, root, service, t, s->key_hash) : KVL_NODE_NONE;
	node = &kvl_root_nodes(root)[next == KVL_NODE_NONE ? 0 : next];
	wait = next == KVL_NODE_NONE ? left : RTE_MIN(wait_ticks(w, node), left);
	if (next == KVL_NODE_NONE || !retry_allowed(w, service, s, t, node)
		|| !kvl_datagram_begin(w, &d))
		return wait_on(w, slot, left, refused);
	node_leave(w, s, t->timeout_ms, refused);
	/* What the former node still says must match nothing. */
	kvl_pending_renew(&w->pending, slot);
	node_enter(w, s, next, node);
	t->tried[t->count++] = next;
	request_send(w, &d, slot, node);
	kvl_wheel_arm(&w->pending.wheel, slot, w->tick + wait + 1);
	return true;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "dataplane/wave.h"
#include "dataplane/datagram.h"
#include "dataplane/retry.h"
#include "lib/proto/part.h"

/* Parts on their way to their nodes: a slot, and a datagram of its own, for each. */

/*
 * Orders the asked parts by node, so that each node's go out one behind the other. With one node,
 * the common case of small requests, they are in order already.
 */
static const uint32_t *asked_sort(struct kvl_asked *a, const struct kvl_part *parts)
{
	uint32_t nodes = 0, sum = 0;

	for (uint32_t i = 0; i < a->count; i++) {
		uint16_t node = parts[a->parts[i]].node;

		if (a->place[node]++ == 0)
			a->touched[nodes++] = node;
	}
	for (uint32_t i = 0; i < nodes; i++) {
		uint16_t count = a->place[a->touched[i]];

		a->place[a->touched[i]] = sum;
		sum += count;
	}
	for (uint32_t i = 0; nodes > 1 && i < a->count; i++)
		a->sorted[a->place[parts[a->parts[i]].node]++] = a->parts[i];
	for (uint32_t i = 0; i < nodes; i++)
		a->place[a->touched[i]] = 0;
	return nodes > 1 ? a->sorted : a->parts;
}

static void slot_fill(const struct wave *v, uint32_t slot, uint32_t part_number)
{
	const struct kvl_part *part = &v->w->merges.parts[part_number];
	const struct kvl_root_node *node = &kvl_root_nodes(v->root)[part->node];
	struct kvl_slot *s = &v->w->pending.slots[slot];
	uint32_t hold = v->m->deadline - v->w->tick;
	const struct kvl_root_service *terms = &kvl_root_services(v->root)[part->terms];
	uint32_t wait = 0;

	s->flags = KVL_SLOT_ACTIVE | KVL_SLOT_PART;
	s->service = v->service->number;
	s->sent = v->w->now;
	s->key_hash = part->hash;
	s->node = part->node;
	s->node_port = node->port;
	s->node_address = node->address;
	s->merge = v->merge;
	s->part = part_number;
	if (terms->retries != 0)
		wait = kvl_retry_keep_part(v->w, terms, slot, node);
	if (wait != 0)
		hold = RTE_MIN(hold, wait + 1);
	kvl_wheel_arm(&v->w->pending.wheel, slot, v->w->tick + hold);
}

uint16_t kvl_part_write(const struct kvl_merge *m, const struct kvl_part *part, uint8_t *out)
{
	if (part->flags & KVL_PART_VALUES)
		return kvl_part_retrieval(
			m->request, part->off, part->len, part->key_off, part->key_len, out);
	return kvl_part_command(
		m->request, part->off, part->len, part->proto, part->request_flags, out);
}

static bool link_carries(const struct wave *v, const struct kvl_part *part)
{
	const struct kvl_root_node *node = &kvl_root_nodes(v->root)[part->node];
	uint32_t len = part->flags & KVL_PART_VALUES ? part->len + part->key_len + 2u : part->len;

	return KVL_FRAME_LEN + len <= node->payload_max;
}

static void part_send(
	struct wave *v, const struct kvl_part *part, uint32_t slot, struct kvl_datagram *d)
{
	const struct kvl_root_node *node = &kvl_root_nodes(v->root)[part->node];
	struct kvl_wire_id wire = kvl_pending_wire(&v->w->pending, slot);
	const struct kvl_way way = kvl_way_to_node(node, wire.port);
	uint16_t len = kvl_part_write(v->m, part, d->data);

	kvl_count(&v->w->nodes[part->node].requests, 1);
	kvl_count(&v->w->nodes[part->node].writes, part->kind == KVL_KIND_WRITE);
	kvl_count(&v->w->nodes[part->node].bytes_out, KVL_FRAME_LEN + len);
	kvl_count(&v->w->counters.requests, 1);
	kvl_count(&v->w->counters.parts, 1);
	kvl_datagram_send(v->w, d, &way, rte_cpu_to_be_16(wire.id), 0, 1, len);
}

/* It was in flight since its choice. */
static void part_refuse(struct wave *v, struct kvl_part *part, enum kvl_verdict why)
{
	kvl_pulse_left(&v->w->pulses[part->node]);
	kvl_part_fail(part, why);
}

static void part_ask(struct wave *v, uint32_t number)
{
	struct kvl_part *part = &v->w->merges.parts[number];
	struct kvl_datagram d;
	uint32_t slot;

	if ((int32_t)(v->m->deadline - v->w->tick) <= 0) {
		part_refuse(v, part, KVL_REQUEST_NO_REPLY);
		return;
	}
	if (!link_carries(v, part)) {
		part_refuse(v, part, KVL_REQUEST_PATH_MTU);
		return;
	}
	if (v->w->pending.free_count == 0 || !kvl_datagram_begin(v->w, &d)) {
		part_refuse(v, part, KVL_REQUEST_TABLE_FULL);
		return;
	}
	slot = kvl_pending_take(&v->w->pending);
	slot_fill(v, slot, number);
	part_send(v, part, slot, &d);
	part->state = KVL_PART_WAITING;
	v->m->waiting++;
}

void kvl_wave_send(struct wave *v)
{
	struct kvl_asked *asked = &v->w->asked;
	const uint32_t *order = asked_sort(asked, v->w->merges.parts);

	for (uint32_t i = 0; i < asked->count; i++)
		part_ask(v, order[i]);
}

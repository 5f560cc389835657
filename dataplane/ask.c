/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "dataplane/datagram.h"
#include "dataplane/merge.h"
#include "lib/proto/commands.h"
#include "lib/proto/local.h"
#include "lib/proto/part.h"
#include "lib/ring/lookup.h"

/* One wave: the next commands of a datagram become parts, and nodes are asked. */
struct wave {
	struct kvl_worker *w;
	const struct kvl_root *root;
	const struct kvl_root_service *service;
	struct kvl_merge *m;
	uint32_t merge;
};

/* A part for the command, or for one key of it. */
static struct kvl_part *part_add(struct wave *v, const struct kvl_command *c)
{
	struct kvl_part *part = &v->w->merges.parts[kvl_merge_part_add(&v->w->merges, v->m)];

	part->off = c->off;
	part->len = c->len;
	part->key_off = c->request.key_off;
	part->key_len = c->request.key_len;
	part->value_len = RTE_MIN(c->request.value_len, (uint32_t)UINT16_MAX);
	part->proto = c->request.proto;
	part->op = c->request.op;
	part->kind = c->request.kind;
	part->request_flags = c->request.flags;
	return part;
}

static struct kvl_part *part_last(struct wave *v)
{
	return &v->w->merges.parts[v->m->tail];
}

/* The router's own words. Without room for them, the command is an unanswered one. */
static void local_add(struct wave *v, const struct kvl_command *c)
{
	const uint8_t *command = v->m->request + c->off;
	struct kvl_local_stat stats[KVL_STATS_MAX];
	uint8_t text[KVL_LOCAL_MAX];
	struct kvl_part *part = part_add(v, c);
	size_t len;

	if (c->verdict == KVL_REQUEST_KEYLESS) {
		size_t count = c->request.op == KVL_OP_STATS ? kvl_stats_list(v->w, stats) : 0;

		len = kvl_local_answer(&c->request, command, c->len, stats, count, text);
	} else {
		len = kvl_command_answer(c->verdict, &c->request, command, text);
	}
	part->flags |= KVL_PART_LAST | KVL_PART_LOCAL;
	part->state = KVL_PART_DONE;
	if (!kvl_part_keep(&v->w->merges, part, 0, text, len)) {
		part->state = KVL_PART_FAILED;
		part->why = KVL_REQUEST_TABLE_FULL;
		kvl_count(&v->w->counters.chunks_full, 1);
	}
	if (len != 0)
		kvl_count(&v->w->counters.answered[c->verdict], 1);
}

static uint64_t part_hash(const struct wave *v, const struct kvl_part *part)
{
	const struct kvl_request req = {
		.key_off = part->key_off, .key_len = part->key_len, .flags = part->request_flags};
	uint8_t scratch[KVL_KEY_MAX];
	size_t len;
	const uint8_t *key = kvl_request_key(v->m->request, &req, scratch, &len);

	return kvl_service_hash(v->service, key, len);
}

static bool keys_equal(const struct wave *v, const struct kvl_part *part, struct kvl_command_key k)
{
	return part->key_len == k.len
	       && memcmp(v->m->request + part->key_off, v->m->request + k.off, k.len) == 0;
}

/* Equal keys side by side, all of them mostly, are asked once and answered as often as named. */
static void retrieval_add(struct wave *v, const struct kvl_command *c)
{
	uint16_t words = c->request.key_off - c->off;
	struct kvl_part *part = NULL;
	struct kvl_command_key k;
	size_t at = 0;

	while (kvl_command_key_next(v->m->request, c, &at, &k)) {
		if (part != NULL && keys_equal(v, part, k)) {
			part->repeat++;
			continue;
		}
		part = part_add(v, c);
		part->flags |= KVL_PART_VALUES;
		part->len = words;
		part->key_off = k.off;
		part->key_len = k.len;
	}
	part_last(v)->flags |= KVL_PART_LAST;
}

static void part_fail(struct kvl_part *part, enum kvl_verdict why)
{
	part->state = KVL_PART_FAILED;
	part->why = why;
}

/* Chooses a node for each part behind `from` (KVL_PART_NONE: for all) and lists it as asked. */
static void parts_route(struct wave *v, uint32_t from)
{
	struct kvl_merge_table *t = &v->w->merges;
	uint32_t i = from == KVL_PART_NONE ? v->m->head : t->parts[from].next;

	for (; i != KVL_PART_NONE; i = t->parts[i].next) {
		struct kvl_part *part = &t->parts[i];
		struct kvl_packet p = {.service = v->service,
			.request = {.kind = part->kind, .value_len = part->value_len}};
		struct kvl_draw draw;

		part->hash = part_hash(v, part);
		kvl_merge_note(v->m, part->hash, part->kind != KVL_KIND_READ);
		p.row = kvl_placement_row(v->service->placement,
			kvl_placement_find(v->service->placement, part->hash));
		draw = kvl_choose_node(v->w, v->root, &p);
		part->node = draw.node;
		if (draw.node == KVL_NODE_NONE) {
			part_fail(part, KVL_REQUEST_NO_NODE);
			continue;
		}
		if (draw.place >= v->service->replication)
			kvl_count(&v->w->counters.fallbacks, 1);
		v->w->asked.parts[v->w->asked.count++] = i;
	}
}

static void command_add(struct wave *v, const struct kvl_command *c)
{
	uint32_t before = v->m->tail;

	if (c->verdict != KVL_REQUEST_OK && c->verdict != KVL_REQUEST_MULTI_KEY
		&& c->verdict != KVL_REQUEST_PROXY_TOKEN) {
		local_add(v, c);
		return;
	}
	if (kvl_command_is_retrieval(&c->request))
		retrieval_add(v, c);
	else
		part_add(v, c)->flags |= KVL_PART_LAST;
	parts_route(v, before);
}

/* Does the command touch a key that one of this wave changes, or the other way round? */
static bool command_conflicts(const struct wave *v, const struct kvl_command *c)
{
	bool write = c->request.kind != KVL_KIND_READ;
	struct kvl_command_key k = {c->request.key_off, c->request.key_len};
	struct kvl_part part = {.request_flags = c->request.flags};
	size_t at = 0;

	if (v->m->head == KVL_PART_NONE || k.len == 0
		|| !(kvl_verdict_good(c->verdict) && c->verdict != KVL_REQUEST_KEYLESS))
		return false;
	do {
		if (c->verdict == KVL_REQUEST_MULTI_KEY
			&& !kvl_command_key_next(v->m->request, c, &at, &k))
			return false;
		part.key_off = k.off;
		part.key_len = k.len;
		if (kvl_merge_conflict(v->m, part_hash(v, &part), write))
			return true;
	} while (c->verdict == KVL_REQUEST_MULTI_KEY);
	return false;
}

static void commands_take(struct wave *v)
{
	struct kvl_merge *m = v->m;
	struct kvl_command c;

	while (m->at < m->len) {
		size_t at = m->at;

		if (!kvl_command_next(m->request, m->len, &at, &c)) {
			m->at = m->len;
			return;
		}
		if (command_conflicts(v, &c))
			return;
		command_add(v, &c);
		m->at = at;
	}
}

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

	s->flags = KVL_SLOT_ACTIVE | KVL_SLOT_PART;
	s->service = v->service->number;
	s->sent = v->w->now;
	s->key_hash = part->hash;
	s->node = part->node;
	s->node_port = node->port;
	s->node_address = node->address;
	s->merge = v->merge;
	s->part = part_number;
	kvl_wheel_arm(&v->w->pending.wheel, slot, v->w->tick + hold);
}

static uint16_t part_write(const struct kvl_merge *m, const struct kvl_part *part, uint8_t *out)
{
	if (part->flags & KVL_PART_VALUES)
		return kvl_part_retrieval(
			m->request, part->off, part->len, part->key_off, part->key_len, out);
	return kvl_part_command(
		m->request, part->off, part->len, part->proto, part->request_flags, out);
}

static void part_send(
	struct wave *v, const struct kvl_part *part, uint32_t slot, struct kvl_datagram *d)
{
	const struct kvl_root_node *node = &kvl_root_nodes(v->root)[part->node];
	struct kvl_wire_id wire = kvl_pending_wire(&v->w->pending, slot);
	const struct kvl_way way = {
		.from_mac = node->source_mac,
		.to_mac = node->mac,
		.from = kvl_addr_v4(&node->snat),
		.to = kvl_addr_v4(&node->address),
		.from_port = rte_cpu_to_be_16(wire.port),
		.to_port = rte_cpu_to_be_16(node->port),
		.vlan = KVL_VLAN_NONE,
		.port = node->egress,
	};
	uint16_t len = part_write(v->m, part, d->data);

	kvl_count(&v->w->nodes[part->node].requests, 1);
	kvl_count(&v->w->nodes[part->node].bytes_out, KVL_FRAME_LEN + len);
	v->w->nodes[part->node].in_flight++;
	kvl_count(&v->w->counters.requests, 1);
	kvl_count(&v->w->counters.parts, 1);
	kvl_datagram_send(v->w, d, &way, rte_cpu_to_be_16(wire.id), 0, 1, len);
}

static void part_ask(struct wave *v, uint32_t number)
{
	struct kvl_part *part = &v->w->merges.parts[number];
	struct kvl_datagram d;
	uint32_t slot;

	if ((int32_t)(v->m->deadline - v->w->tick) <= 0) {
		part_fail(part, KVL_REQUEST_NO_REPLY);
		return;
	}
	if (v->w->pending.free_count == 0 || !kvl_datagram_begin(v->w, &d, KVL_VLAN_NONE)) {
		part_fail(part, KVL_REQUEST_TABLE_FULL);
		return;
	}
	slot = kvl_pending_take(&v->w->pending);
	slot_fill(v, slot, number);
	part_send(v, part, slot, &d);
	part->state = KVL_PART_WAITING;
	v->m->waiting++;
}

void kvl_merge_ask(struct kvl_worker *w, const struct kvl_root *root, uint32_t merge)
{
	struct kvl_merge *m = kvl_merge_at(&w->merges, merge);
	struct wave v = {.w = w,
		.root = root,
		.m = m,
		.merge = merge,
		.service = kvl_root_service_v4(
			root, kvl_addr_v4(&m->vip), rte_be_to_cpu_16(m->vip_port))};
	const uint32_t *order;

	if (v.service == NULL) { /* gone since the datagram came */
		m->at = m->len;
		return;
	}
	w->asked.count = 0;
	commands_take(&v);
	order = asked_sort(&w->asked, w->merges.parts);
	for (uint32_t i = 0; i < w->asked.count; i++)
		part_ask(&v, order[i]);
}

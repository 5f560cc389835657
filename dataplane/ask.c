/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "dataplane/wave.h"
#include "lib/proto/commands.h"
#include "lib/proto/hint.h"
#include "lib/proto/local.h"
#include "lib/proto/part.h"
#include "lib/ring/lookup.h"

/* The next commands of a datagram become parts, each with its node. */

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

/* The part's key is served by the terms of the service that is returned, and has this hash. */
static const struct kvl_root_service *part_key(
	const struct wave *v, const struct kvl_part *part, uint64_t *hash)
{
	const struct kvl_request req = {
		.key_off = part->key_off, .key_len = part->key_len, .flags = part->request_flags};
	const struct kvl_root_service *service = v->service;
	uint8_t scratch[KVL_KEY_MAX];
	size_t len;
	const uint8_t *key = kvl_request_key(v->m->request, &req, scratch, &len);

	if (unlikely(service->policy & KVL_POLICY_RULES))
		service = kvl_root_rule_service(v->root, service, key, len);
	*hash = kvl_service_hash(service, key, len);
	return service;
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

/* Chooses a node for each part behind `from` (KVL_PART_NONE: for all) and lists it as asked. */
static void parts_route(struct wave *v, uint32_t from)
{
	struct kvl_merge_table *t = &v->w->merges;
	uint32_t i = from == KVL_PART_NONE ? v->m->head : t->parts[from].next;

	for (; i != KVL_PART_NONE; i = t->parts[i].next) {
		struct kvl_part *part = &t->parts[i];
		struct kvl_packet p = {.request = {.kind = part->kind,
					       .flags = part->request_flags,
					       .value_len = part->value_len}};
		struct kvl_draw draw;

		p.service = part_key(v, part, &part->hash);
		if (p.service != v->service)
			kvl_count(&v->w->counters.ruled, 1);
		kvl_merge_note(v->m, part->hash, part->kind == KVL_KIND_WRITE);
		p.row = kvl_placement_row(v->service->placement,
			kvl_placement_find(v->service->placement, part->hash));
		draw = kvl_choose_node(v->w, v->root, &p);
		part->node = draw.node;
		part->terms = p.service - kvl_root_services(v->root);
		part->request_flags = p.request.flags;
		if (draw.node == KVL_NODE_NONE) {
			kvl_part_fail(part, p.verdict);
			continue;
		}
		kvl_pulse_sent(&v->w->pulses[draw.node]);
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
	bool write = c->request.kind == KVL_KIND_WRITE;
	struct kvl_command_key k = {c->request.key_off, c->request.key_len};
	struct kvl_part part = {.request_flags = c->request.flags};
	uint64_t hash;
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
		part_key(v, &part, &hash);
		if (kvl_merge_conflict(v->m, hash, write))
			return true;
	} while (c->verdict == KVL_REQUEST_MULTI_KEY);
	return false;
}

/* Hints to the router, taken out of its own copy of the request. */
static void hints_take(struct wave *v, struct kvl_command *c)
{
	uint8_t *line = v->m->request + c->off;
	size_t len, off;

	while ((len = kvl_proxy_token(line, c->len, &off)) != 0) {
		kvl_count(kvl_hint_take(&c->request, line + off, len)
				  ? &v->w->counters.hints
				  : &v->w->counters.hints_ignored,
			1);
		memset(line + off, ' ', len);
	}
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
		if (c.verdict == KVL_REQUEST_PROXY_TOKEN)
			hints_take(v, &c);
		command_add(v, &c);
		m->at = at;
	}
}

void kvl_merge_ask(struct kvl_worker *w, const struct kvl_root *root, uint32_t merge)
{
	struct kvl_merge *m = kvl_merge_at(&w->merges, merge);
	struct wave v = {.w = w,
		.root = root,
		.m = m,
		.merge = merge,
		.service = kvl_root_service_at(root, &m->vip, rte_be_to_cpu_16(m->vip_port))};

	if (v.service == NULL) { /* gone since the datagram came */
		m->at = m->len;
		return;
	}
	w->asked.count = 0;
	commands_take(&v);
	kvl_wave_send(&v);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "dataplane/track/merge_table.h"

#define LINE 64u

static size_t line_up(size_t n)
{
	return (n + LINE - 1) & ~(size_t)(LINE - 1);
}

static struct kvl_merge_params params_fill(const struct kvl_merge_params *params)
{
	struct kvl_merge_params p = *params;

	p.merges = p.merges != 0 ? p.merges : KVL_MERGES;
	p.parts = p.parts != 0 ? p.parts : KVL_MERGE_PARTS;
	p.chunks = p.chunks != 0 ? p.chunks : KVL_MERGE_CHUNKS;
	p.request = p.request != 0 ? p.request : KVL_MERGE_REQUEST;
	return p;
}

static size_t merge_size(const struct kvl_merge_params *p)
{
	return line_up(sizeof(struct kvl_merge) + p->request);
}

size_t kvl_merge_table_size(const struct kvl_merge_params *params)
{
	struct kvl_merge_params p = params_fill(params);

	return p.merges * merge_size(&p) + line_up(p.parts * sizeof(struct kvl_part))
	       + p.chunks * sizeof(struct kvl_chunk);
}

void kvl_merge_table_init(
	struct kvl_merge_table *t, void *memory, const struct kvl_merge_params *params)
{
	struct kvl_merge_params p = params_fill(params);
	char *at = memory;

	*t = (struct kvl_merge_table){.merges = at,
		.merge_size = merge_size(&p),
		.request_max = p.request,
		.part_count = p.parts,
		.chunk_count = p.chunks};
	at += (size_t)p.merges * t->merge_size;
	t->parts = (void *)at;
	at += line_up(p.parts * sizeof(struct kvl_part));
	t->chunks = (void *)at;
	for (uint32_t i = 0; i < p.merges; i++)
		kvl_merge_at(t, i)->next = i + 1 < p.merges ? i + 1 : KVL_MERGE_NONE;
	for (uint32_t i = 0; i < p.parts; i++)
		t->parts[i].next = i + 1 < p.parts ? i + 1 : KVL_PART_NONE;
	for (uint32_t i = 0; i < p.chunks; i++)
		t->chunks[i].next = i + 1 < p.chunks ? i + 1 : KVL_CHUNK_NONE;
	t->ready_head = t->ready_tail = KVL_MERGE_NONE;
}

uint32_t kvl_merge_take(struct kvl_merge_table *t, uint32_t parts)
{
	uint32_t merge = t->free_merge;
	struct kvl_merge *m;

	if (merge == KVL_MERGE_NONE || t->part_count - t->parts_reserved < parts)
		return KVL_MERGE_NONE;
	m = kvl_merge_at(t, merge);
	t->free_merge = m->next;
	t->merges_used++;
	t->parts_reserved += parts;
	memset(m, 0, offsetof(struct kvl_merge, request));
	m->head = m->tail = KVL_PART_NONE;
	m->reserved = parts;
	return merge;
}

void kvl_merge_free(struct kvl_merge_table *t, uint32_t merge)
{
	struct kvl_merge *m = kvl_merge_at(t, merge);

	kvl_merge_parts_free(t, m);
	t->parts_reserved -= m->reserved;
	t->merges_used--;
	m->next = t->free_merge;
	t->free_merge = merge;
}

uint32_t kvl_merge_part_add(struct kvl_merge_table *t, struct kvl_merge *m)
{
	uint32_t i = t->free_part;
	struct kvl_part *part = &t->parts[i];

	t->free_part = part->next;
	*part = (struct kvl_part){.next = KVL_PART_NONE,
		.first = KVL_CHUNK_NONE,
		.last = KVL_CHUNK_NONE,
		.repeat = 1};
	if (m->head == KVL_PART_NONE)
		m->head = i;
	else
		t->parts[m->tail].next = i;
	m->tail = i;
	return i;
}

void kvl_merge_parts_free(struct kvl_merge_table *t, struct kvl_merge *m)
{
	uint32_t next;

	for (uint32_t i = m->head; i != KVL_PART_NONE; i = next) {
		next = t->parts[i].next;
		kvl_part_forget(t, &t->parts[i]);
		t->parts[i].next = t->free_part;
		t->free_part = i;
	}
	m->head = m->tail = KVL_PART_NONE;
}

/* Links a run of chunks of one datagram into the part, which mostly means at its end. */
static void chunks_link(
	struct kvl_merge_table *t, struct kvl_part *part, uint32_t first, uint32_t last)
{
	uint16_t sequence = t->chunks[first].sequence;
	uint32_t *link = &part->first;

	if (part->last != KVL_CHUNK_NONE && t->chunks[part->last].sequence < sequence)
		link = &t->chunks[part->last].next;
	else
		while (*link != KVL_CHUNK_NONE && t->chunks[*link].sequence < sequence)
			link = &t->chunks[*link].next;
	t->chunks[last].next = *link;
	if (*link == KVL_CHUNK_NONE)
		part->last = last;
	*link = first;
}

bool kvl_part_keep(struct kvl_merge_table *t, struct kvl_part *part, uint16_t sequence,
	const uint8_t *data, size_t len)
{
	uint32_t need = (len + KVL_CHUNK_DATA - 1) / KVL_CHUNK_DATA;
	uint32_t first = t->free_chunk, last = KVL_CHUNK_NONE;

	if (need == 0)
		return true;
	if (t->chunk_count - t->chunks_used < need)
		return false;
	for (uint32_t i = 0; i < need; i++) {
		struct kvl_chunk *c = &t->chunks[t->free_chunk];
		size_t n = len < KVL_CHUNK_DATA ? len : KVL_CHUNK_DATA;

		last = t->free_chunk;
		t->free_chunk = c->next;
		c->sequence = sequence;
		c->len = n;
		memcpy(c->data, data, n);
		data += n;
		len -= n;
	}
	t->chunks_used += need;
	chunks_link(t, part, first, last);
	return true;
}

void kvl_part_forget(struct kvl_merge_table *t, struct kvl_part *part)
{
	if (part->first == KVL_CHUNK_NONE)
		return;
	for (uint32_t i = part->first; i != KVL_CHUNK_NONE; i = t->chunks[i].next)
		t->chunks_used--;
	t->chunks[part->last].next = t->free_chunk;
	t->free_chunk = part->first;
	part->first = part->last = KVL_CHUNK_NONE;
}

size_t kvl_part_size(const struct kvl_merge_table *t, const struct kvl_part *part)
{
	size_t size = 0;

	for (uint32_t i = part->first; i != KVL_CHUNK_NONE; i = t->chunks[i].next)
		size += t->chunks[i].len;
	return size;
}

size_t kvl_part_read(const struct kvl_merge_table *t, const struct kvl_part *part, size_t off,
	size_t len, uint8_t *out)
{
	size_t done = 0;

	for (uint32_t i = part->first; i != KVL_CHUNK_NONE && done < len; i = t->chunks[i].next) {
		const struct kvl_chunk *c = &t->chunks[i];
		size_t n;

		if (off >= c->len) {
			off -= c->len;
			continue;
		}
		n = c->len - off < len - done ? c->len - off : len - done;
		memcpy(out + done, c->data + off, n);
		done += n;
		off = 0;
	}
	return done;
}

void kvl_merge_ready(struct kvl_merge_table *t, uint32_t merge)
{
	struct kvl_merge *m = kvl_merge_at(t, merge);

	if (m->ready)
		return;
	m->ready = true;
	m->next = KVL_MERGE_NONE;
	if (t->ready_head == KVL_MERGE_NONE)
		t->ready_head = merge;
	else
		kvl_merge_at(t, t->ready_tail)->next = merge;
	t->ready_tail = merge;
}

uint32_t kvl_merge_next_ready(struct kvl_merge_table *t)
{
	uint32_t merge = t->ready_head;

	if (merge == KVL_MERGE_NONE)
		return merge;
	t->ready_head = kvl_merge_at(t, merge)->next;
	kvl_merge_at(t, merge)->ready = false;
	return merge;
}

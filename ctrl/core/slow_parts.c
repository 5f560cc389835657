/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_byteorder.h>

#include "ctrl/core/clock.h"
#include "ctrl/core/slow_inside.h"

/* Datagrams that are taken apart (slow_split.h), between the slow path's sockets and its table. */

static enum kvl_verdict part_ask(void *context, struct kvl_slow_split *split, uint32_t part,
	const struct kvl_request *request, const uint8_t *command, size_t len)
{
	struct kvl_slow_path *s = context;
	const struct kvl_root *root = __atomic_load_n(&s->root, __ATOMIC_ACQUIRE);
	const struct kvl_root_service *service = kvl_root_service_numbered(root, split->service);
	const struct kvl_root_node *node;
	struct kvl_slow_request *r;
	enum kvl_verdict verdict;
	uint16_t id, number;

	if (service == NULL || kvl_now_ms() >= split->deadline_ms)
		return KVL_REQUEST_NO_REPLY;
	verdict = kvl_slow_node(s, root, &service, split->payload, request, &number);
	if (verdict != KVL_REQUEST_OK)
		return verdict;
	r = kvl_slow_table_take(&s->table, number, false, &id);
	if (r == NULL)
		return KVL_REQUEST_TABLE_FULL;
	node = &kvl_root_nodes(root)[number];
	r->split = split;
	r->part = part;
	r->service_fd = split->service_fd;
	r->deadline_ms = split->deadline_ms;
	r->asked = (struct kvl_endpoint){.address = node->address, .port = node->port};
	memcpy(s->datagram,
		&(struct kvl_frame){.id = rte_cpu_to_be_16(id), .total = rte_cpu_to_be_16(1)},
		KVL_FRAME_LEN);
	memcpy(s->datagram + KVL_FRAME_LEN, command, len);
	if (!kvl_slow_send(s, s->node_fds[kvl_addr_family(&node->address)], &r->asked,
		    KVL_FRAME_LEN + len)) {
		kvl_slow_table_release(&s->table, r);
		return KVL_REQUEST_NO_REPLY;
	}
	kvl_slow_count(&s->counters.parts);
	return KVL_REQUEST_OK;
}

static void merged_send(
	void *context, struct kvl_slow_split *split, const uint8_t *datagram, size_t len)
{
	struct kvl_slow_path *s = context;

	if (!kvl_slow_bytes_check(s, &split->client, split->service, &split->terms, len))
		return;
	memcpy(s->datagram, datagram, len);
	kvl_slow_send(s, split->service_fd, &split->client, len);
	kvl_slow_count(&s->counters.merged);
}

static struct kvl_slow_split *split_free(struct kvl_slow_path *s)
{
	for (unsigned int i = 0; i < KVL_SLOW_SPLITS; i++)
		if (!s->splits[i].active)
			return &s->splits[i];
	return NULL;
}

bool kvl_slow_take_apart(struct kvl_slow_path *s, int fd, const struct kvl_endpoint *client,
	const struct kvl_root_service *service, size_t len)
{
	struct kvl_slow_split *split = split_free(s);
	const struct kvl_frame *frame = (const void *)s->datagram;

	if (split == NULL)
		return false;
	*split = (struct kvl_slow_split){.service_fd = fd,
		.client = *client,
		.client_id = frame->id,
		.service = service->number,
		.terms = s->terms,
		.partial_error = service->partial == KVL_PARTIAL_ERROR,
		.deadline_ms = kvl_now_ms() + service->timeout_ms};
	if (kvl_slow_split_begin(split, &s->split_ops, s->datagram, len) < 0)
		return false;
	kvl_slow_count(&s->counters.splits);
	return true;
}

/* The slot is free before the split goes on, which may ask for more. */
void kvl_slow_part_end(struct kvl_slow_path *s, struct kvl_slow_request *r, bool answered)
{
	struct kvl_slow_split *split = r->split;
	uint32_t part = r->part;

	kvl_slow_table_release(&s->table, r);
	kvl_slow_split_end(split, &s->split_ops, part, answered);
}

void kvl_slow_part_reply(struct kvl_slow_path *s, struct kvl_slow_request *r,
	const struct kvl_reply *reply, size_t len, bool whole)
{
	kvl_slow_split_add(r->split, r->part, reply->sequence, reply->total,
		s->datagram + KVL_FRAME_LEN, len - KVL_FRAME_LEN);
	if (whole)
		kvl_slow_part_end(s, r, true);
}

void kvl_slow_parts_init(struct kvl_slow_path *s)
{
	s->split_ops =
		(struct kvl_slow_split_ops){.context = s, .ask = part_ask, .send = merged_send};
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "dataplane/message.h"

void kvl_message_begin(struct kvl_message *msg, struct kvl_worker *w, const struct kvl_merge *m)
{
	*msg = (struct kvl_message){
		.w = w,
		.m = m,
		.way =
			{
				.from_mac = m->router_mac,
				.to_mac = m->client_mac,
				.from = m->vip,
				.to = m->client,
				.from_port = m->vip_port,
				.to_port = m->client_port,
				.vlan = m->vlan,
				.port = m->port,
			},
	};
}

static void datagram_flush(struct kvl_message *msg)
{
	if (msg->datagram.mbuf == NULL)
		return;
	kvl_datagram_send(msg->w, &msg->datagram, &msg->way, msg->m->client_id, msg->sequence++,
		msg->total, msg->fill);
	msg->datagram.mbuf = NULL;
	msg->fill = 0;
}

static bool datagram_ready(struct kvl_message *msg)
{
	if (msg->fill == KVL_DATAGRAM_DATA)
		datagram_flush(msg);
	if (msg->datagram.mbuf == NULL && !msg->broken)
		msg->broken = !kvl_datagram_begin(msg->w, &msg->datagram);
	return !msg->broken;
}

void kvl_message_add(struct kvl_message *msg, const void *data, size_t len)
{
	const uint8_t *p = data;

	if (!msg->sending) {
		msg->size += len;
		return;
	}
	while (len != 0 && datagram_ready(msg)) {
		size_t n = RTE_MIN(len, (size_t)(KVL_DATAGRAM_DATA - msg->fill));

		memcpy(msg->datagram.data + msg->fill, p, n);
		msg->fill += n;
		p += n;
		len -= n;
	}
}

void kvl_message_add_part(struct kvl_message *msg, const struct kvl_part *part, size_t len)
{
	const struct kvl_chunk *chunks = msg->w->merges.chunks;

	for (uint32_t i = part->first; i != KVL_CHUNK_NONE && len != 0; i = chunks[i].next) {
		size_t n = RTE_MIN(len, (size_t)chunks[i].len);

		kvl_message_add(msg, chunks[i].data, n);
		len -= n;
	}
}

bool kvl_message_measured(struct kvl_message *msg)
{
	msg->sending = true;
	msg->total = (msg->size + KVL_DATAGRAM_DATA - 1) / KVL_DATAGRAM_DATA;
	return msg->size != 0;
}

void kvl_message_end(struct kvl_message *msg)
{
	datagram_flush(msg);
}

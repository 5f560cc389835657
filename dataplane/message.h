/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "dataplane/datagram.h"
#include "dataplane/merge.h"

/*
 * One message to a client: bytes in, datagrams of memcached's size out, numbered 0..n-1 of n. The
 * number must stand in the first, so all is added twice: to be measured, then to be sent.
 */
#define KVL_MESSAGE_MAX (4096u * KVL_DATAGRAM_DATA) /* 5.7 MB; larger ones are an error */

struct kvl_message {
	struct kvl_worker *w;
	const struct kvl_merge *m;
	struct kvl_way way;
	bool sending;
	bool broken; /* no mbuf: the rest is left out */
	size_t size; /* measured */
	uint16_t total, sequence;
	uint16_t fill; /* of the datagram */
	struct kvl_datagram datagram;
};

void kvl_message_begin(struct kvl_message *msg, struct kvl_worker *w, const struct kvl_merge *m);
void kvl_message_add(struct kvl_message *msg, const void *data, size_t len);

/* `len` bytes of a part's reply, from its start. */
void kvl_message_add_part(struct kvl_message *msg, const struct kvl_part *part, size_t len);

/* Measured: the sending begins; false when there is nothing to send. */
bool kvl_message_measured(struct kvl_message *msg);

/* Sends the last datagram. */
void kvl_message_end(struct kvl_message *msg);

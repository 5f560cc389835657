/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "ctrl/core/slow_table.h"
#include "lib/proto/commands.h"

/*
 * A datagram of several keys or commands that came in several packets: what dataplane/merge.h is to
 * the workers, for the slow path. Its commands are taken one behind the other, so that each sees
 * what those before it have changed; all keys of a retrieval are asked at once, a window of them at
 * a time. The client gets one message for each command, in order.
 *
 * Bounds: KVL_SLOW_SPLITS datagrams (the caller answers "router busy"), KVL_SLOW_WINDOW parts in
 * flight of each, KVL_SLOW_SPLIT_BYTES of replies kept for a command (the part that does not fit
 * counts as unanswered). One thread.
 */
#define KVL_SLOW_SPLITS      32u
#define KVL_SLOW_WINDOW      128u
#define KVL_SLOW_SPLIT_BYTES (6u << 20)

struct kvl_slow_part;

struct kvl_slow_split {
	bool active;
	/* the client, and the way back; filled in by who begins it */
	int service_fd;
	struct kvl_endpoint client;
	uint16_t client_id; /* network order */
	uint16_t service;   /* number */
	struct kvl_client_terms terms;
	bool partial_error;
	uint64_t deadline_ms;

	/* the rest is slow_split.c's */
	uint8_t *payload;
	size_t len, at;
	struct kvl_command command;
	struct kvl_slow_part *parts; /* of the command */
	uint32_t part_count, next, waiting;
	size_t bytes; /* of replies kept */
};

struct kvl_slow_split_ops {
	void *context;
	/* Asks a node for the part: `command`, without frame, for the key of `request`, whose offsets
	 * are those of split->payload. KVL_REQUEST_OK, or why it is not asked. */
	enum kvl_verdict (*ask)(void *context, struct kvl_slow_split *split, uint32_t part,
		const struct kvl_request *request, const uint8_t *command, size_t len);
	/* A datagram to the client, frame included. */
	void (*send)(
		void *context, struct kvl_slow_split *split, const uint8_t *datagram, size_t len);
};

/* Keeps a copy of the payload and does all that can be done without waiting; split->active is false
 * when that was all. Returns 0 or -ENOMEM. */
int kvl_slow_split_begin(struct kvl_slow_split *split, const struct kvl_slow_split_ops *ops,
	const uint8_t *payload, size_t len);

/* A datagram of a part's reply, without frame. */
void kvl_slow_split_add(struct kvl_slow_split *split, uint32_t part, uint16_t sequence,
	uint16_t total, const uint8_t *data, size_t len);

/* The part's reply is whole, or (answered false) will not be; goes on. */
void kvl_slow_split_end(struct kvl_slow_split *split, const struct kvl_slow_split_ops *ops,
	uint32_t part, bool answered);

/* Lets go of all it has; nothing may be in flight for it any more. */
void kvl_slow_split_drop(struct kvl_slow_split *split);

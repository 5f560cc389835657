/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ctrl/core/slow_path.h"
#include "dataplane/track/client_table.h"
#include "dataplane/track/sequences.h"
#include "lib/proto/request.h"

/*
 * The slow path's requests in flight, by the request id that the node sees. Ids are given in
 * order, all 65536 before one comes again, so a late reply meets no other request for as long as
 * can be; and the oldest is found without a search.
 */
#define KVL_SLOW_IDS 65536

struct kvl_slow_split;

struct kvl_slow_request {
	bool active, quiet; /* quiet: silence is an answer */
	/* of a datagram that was taken apart: the reply goes there */
	struct kvl_slow_split *split;
	uint32_t part;
	bool heard;         /* the node has answered, but with more than can be passed on */
	int service_fd;     /* the client's datagram came by it, and the reply leaves by it */
	uint16_t client_id; /* network order */
	uint16_t node;
	uint16_t service; /* number */
	struct kvl_client_terms terms;
	uint64_t deadline_ms;
	struct kvl_endpoint client, asked;
	struct kvl_sequences seen;
	struct kvl_echo echo; /* for an error, as long as nothing of the reply has passed */
};

struct kvl_slow_table {
	struct kvl_slow_request requests[KVL_SLOW_IDS];
	uint16_t next, oldest;
	uint32_t in_flight;
	uint32_t awaited[KVL_NODES_MAX]; /* of them, by node; without quiet ones, as on a worker */
	struct kvl_sequence_pool sequences;
};

/* The next free request, and its id; it is for this node. NULL when KVL_SLOW_IN_FLIGHT are in
 * flight. */
struct kvl_slow_request *kvl_slow_table_take(
	struct kvl_slow_table *t, uint16_t node, bool quiet, uint16_t *id);

void kvl_slow_table_release(struct kvl_slow_table *t, struct kvl_slow_request *request);

/* The oldest active request; NULL when there is none. */
struct kvl_slow_request *kvl_slow_table_oldest(struct kvl_slow_table *t);

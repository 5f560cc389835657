/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <pthread.h>
#include <string.h>
#include <sys/socket.h>

#include <event2/event.h>

#include "ctrl/core/slow_choose.h"
#include "ctrl/core/slow_guard.h"
#include "ctrl/core/slow_split.h"
#include "lib/proto/reply.h"

/* What slow_path.c and slow_parts.c share; nobody else includes it. */
#define KVL_SLOW_DATAGRAM 65536

struct kvl_slow_path {
	/* thread: ro. control: wo. */
	const struct kvl_root *root;

	/* control only */
	int pipe_write;
	pthread_t thread;
	struct {
		struct kvl_endpoint endpoint;
		int fd;
	} open[KVL_SERVICES_MAX];
	unsigned int open_count;
	struct kvl_endpoint told; /* the last one that could not be opened */

	/* thread only, after start */
	struct rte_rcu_qsbr *rcu;
	unsigned int reader;
	int pipe_read;
	int node_fds[KVL_FAMILIES]; /* -1: this host has no such family */
	struct event_base *base;
	struct event *events[KVL_SERVICES_MAX];
	unsigned int event_count;
	uint64_t random;
	struct kvl_slow_table table;
	struct kvl_slow_guard guard;
	struct kvl_slow_load load; /* of the table, guard and counters */
	struct kvl_slow_split splits[KVL_SLOW_SPLITS];
	struct kvl_slow_split_ops split_ops;
	uint8_t datagram[KVL_SLOW_DATAGRAM];
	/* of the request in hand */
	uint16_t service;
	struct kvl_client_terms terms;

	/* thread: wo. control: ro. */
	struct kvl_slow_counters counters;
};

/* s->datagram to there. Best effort: what the socket does not take is lost, as on a wire. */
bool kvl_slow_send(
	const struct kvl_slow_path *s, int fd, const struct kvl_endpoint *to, size_t len);

/* May so many bytes go to the client? */
bool kvl_slow_bytes_check(struct kvl_slow_path *s, const struct kvl_endpoint *client,
	uint16_t service, const struct kvl_client_terms *terms, size_t len);

/* kvl_slow_choose() by the slow path's own load and chance. */
static inline enum kvl_verdict kvl_slow_node(struct kvl_slow_path *s, const struct kvl_root *root,
	const struct kvl_root_service **service, const uint8_t *datagram,
	const struct kvl_request *request, uint16_t *node)
{
	s->random = s->random * 6364136223846793005ull + 1442695040888963407ull;
	return kvl_slow_choose(
		&s->load, root, service, datagram, request, (uint32_t)(s->random >> 32), node);
}

/* slow_parts.c: the datagram in hand is taken apart; false when there is no room for it. */
bool kvl_slow_take_apart(struct kvl_slow_path *s, int fd, const struct kvl_endpoint *client,
	const struct kvl_root_service *service, size_t len);

/* A datagram of a part's reply is in hand; whole: the last of it. */
void kvl_slow_part_reply(struct kvl_slow_path *s, struct kvl_slow_request *r,
	const struct kvl_reply *reply, size_t len, bool whole);

/* The part's request is over. */
void kvl_slow_part_end(struct kvl_slow_path *s, struct kvl_slow_request *r, bool answered);

/* Before the first. */
void kvl_slow_parts_init(struct kvl_slow_path *s);

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "dataplane/burst.h"
#include "lib/proto/local.h"

/*
 * Requests of several keys or commands (SPEC 1.4). A datagram's commands are walked in order and
 * asked of their nodes in waves: a command that touches a key which an earlier one, not answered
 * yet, changes waits for the next wave, since two datagrams to one node may overtake each other
 * there. When all parts of a wave are answered, or given up, the client gets one message a
 * command, in order. No wave begins after the service's timeout.
 *
 *	split.c    a datagram becomes a merge
 *	ask.c      its next commands become parts
 *	wave.c     nodes are asked, one behind the other
 *	merge.c    replies and timeouts of parts
 *	compose.c  what the client gets for a command
 *	message.c  its datagrams
 */

/* Takes the packet, or leaves it to `answers` with its verdict. */
void kvl_split(struct kvl_worker *w, const struct kvl_root *root, struct kvl_burst *b,
	struct kvl_packet *p);

/* Keyless commands, alone in their datagram; stays in `odd` (true) when answered. */
bool kvl_keyless(struct kvl_worker *w, const struct kvl_root *root, struct kvl_burst *b,
	struct kvl_packet *p);

/* The next wave. Moves m->at; m->waiting are the parts asked of nodes. */
void kvl_merge_ask(struct kvl_worker *w, const struct kvl_root *root, uint32_t merge);

/* A reply's datagram to a part; frees it. whole: it was the last. */
void kvl_merge_reply(struct kvl_worker *w, uint32_t merge, uint32_t part,
	const struct kvl_packet *p, bool whole);
void kvl_merge_part_lost(struct kvl_worker *w, uint32_t merge, uint32_t part);

/* Sends what the client gets for the parts of a merge, none of which is waited for. */
void kvl_compose(struct kvl_worker *w, const struct kvl_root *root, const struct kvl_merge *m);

/* `stats`: what this router did, all its workers together. */
#define KVL_STATS_MAX 32
size_t kvl_stats_list(const struct kvl_worker *w, struct kvl_local_stat stats[KVL_STATS_MAX]);

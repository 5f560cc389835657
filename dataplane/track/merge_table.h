/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/model/addr.h"

/*
 * Requests that were split, until all of their parts have been answered: one merge a client
 * datagram, one part a key or command of it, in the order asked, and the nodes' replies in chunks.
 *
 * Replies are copied, not held: an mbuf belongs to its port's receive queue, which a slow node's
 * merge must not starve, and a reply to one key is mostly far smaller than an mbuf.
 *
 * All of it is a worker's own and of fixed size from the start. What happens at each bound:
 *   merges, parts: the datagram is not taken and answered `SERVER_ERROR router busy`. Parts are
 *     reserved for a whole datagram, so that one that was begun never lacks any.
 *   chunks: the part whose reply does not fit counts as unanswered.
 */
#define KVL_MERGES        2048u
#define KVL_MERGE_PARTS   32768u
#define KVL_MERGE_CHUNKS  32768u /* 8 MB: a few thousand keys' replies, or eight of 1 MB */
#define KVL_MERGE_REQUEST 2048u  /* bytes of UDP payload, where no port's MTU allows more */

#define KVL_CHUNK_NONE UINT32_MAX
#define KVL_PART_NONE  UINT32_MAX
#define KVL_MERGE_NONE UINT32_MAX

#define KVL_CHUNK_DATA 248u

/* Bytes of a reply. Chunks of a part are linked in the order of their datagrams' sequence. */
struct kvl_chunk {
	uint32_t next;
	uint16_t sequence;
	uint16_t len;
	uint8_t data[KVL_CHUNK_DATA];
};
_Static_assert(sizeof(struct kvl_chunk) == 256, "four cache lines a chunk");

enum kvl_part_state {
	KVL_PART_WAITING, /* a node was asked */
	KVL_PART_DONE,    /* the reply, or the router's own words, is in the chunks */
	KVL_PART_FAILED,  /* `why` says how; there are no chunks */
};

enum kvl_part_flag {
	KVL_PART_VALUES = 1 << 0, /* a key of a text retrieval: one END for the command */
	KVL_PART_LAST = 1 << 1,   /* of its command */
	KVL_PART_LOCAL = 1 << 2,  /* the router's own words, never hidden */
	KVL_PART_LOST = 1 << 3,   /* some of the reply could not be kept */
};

/* The tries of one request, or of a part of one (dataplane/retry.h). */
#define KVL_TRIES_MAX 6 /* the first and KVL_RETRIES_MAX more */

struct kvl_tries {
	uint32_t began; /* tick */
	/* As the service, or the rule of its key, had them when it came; of a part no more time
	 * than its datagram has left. */
	uint32_t timeout_ms;
	uint32_t lag; /* versions that a replica may lag by the client's word; KVL_LAG_ANY */
	uint8_t retries;
	uint8_t count;
	uint8_t class; /* request class */
	uint16_t tried[KVL_TRIES_MAX];
};

struct kvl_part {
	uint32_t next;
	uint32_t first, last; /* chunks */
	uint64_t hash;        /* of the key */
	struct kvl_tries tries;
	uint16_t off, len; /* of its command in the request; VALUES: of the words before the keys */
	uint16_t key_off, key_len;
	uint16_t node;
	uint16_t terms;       /* index of the service by whose terms it is asked; within a wave */
	uint16_t repeat;      /* this many equal keys asked, one asked of the node */
	uint16_t value_len;   /* for the request's class */
	uint8_t state, flags; /* the above */
	uint8_t why;          /* enum kvl_verdict */
	uint8_t proto, op, kind, request_flags; /* of its command, see lib/proto/request.h */
};

#define KVL_MERGE_SET_WORDS 8

struct kvl_merge {
	/* the client, and the way back to it; as in struct kvl_slot */
	struct kvl_addr client, vip;
	uint8_t client_mac[6], router_mac[6];
	uint16_t vlan, client_port, vip_port, client_id;
	uint8_t port;
	bool ready; /* is in the queue of the table */

	uint32_t head, tail; /* parts, in the order asked */
	uint32_t waiting;    /* of them */
	uint32_t reserved;   /* parts set aside for the datagram */
	uint32_t deadline;   /* tick; nothing is asked of a node afterwards */
	uint16_t at, len;    /* commands up to `at` have been taken; payload bytes */
	uint32_t next;       /* in the free list or the ready queue */
	/* Which keys (by hash, as a set) commands not yet answered read and write. */
	uint64_t reads[KVL_MERGE_SET_WORDS], writes[KVL_MERGE_SET_WORDS];
	uint8_t request[];
};

struct kvl_merge_params {
	uint32_t merges, parts, chunks, request; /* 0: the defaults above */
};

struct kvl_merge_table {
	char *merges; /* kvl_merge_at() */
	uint32_t merge_size, request_max;
	struct kvl_part *parts;
	struct kvl_chunk *chunks;
	uint32_t free_merge, free_part, free_chunk; /* heads of free lists */
	uint32_t part_count, chunk_count;
	uint32_t merges_used, parts_reserved, chunks_used;
	uint32_t ready_head, ready_tail; /* merges without waiting parts */
};

/* Bytes that kvl_merge_table_init() wants, 64-byte aligned. */
size_t kvl_merge_table_size(const struct kvl_merge_params *params);
void kvl_merge_table_init(
	struct kvl_merge_table *t, void *memory, const struct kvl_merge_params *params);

/* An empty merge with `parts` reserved; KVL_MERGE_NONE when there is no room. */
uint32_t kvl_merge_take(struct kvl_merge_table *t, uint32_t parts);

/* With all that it has left. */
void kvl_merge_free(struct kvl_merge_table *t, uint32_t merge);

/* A zeroed part behind the others of the merge; never more than reserved. */
uint32_t kvl_merge_part_add(struct kvl_merge_table *t, struct kvl_merge *m);

/* Frees all parts of the merge and their chunks. */
void kvl_merge_parts_free(struct kvl_merge_table *t, struct kvl_merge *m);

/* Keeps a datagram's bytes; false, and then nothing is kept of it: there is no room. */
bool kvl_part_keep(struct kvl_merge_table *t, struct kvl_part *part, uint16_t sequence,
	const uint8_t *data, size_t len);
void kvl_part_forget(struct kvl_merge_table *t, struct kvl_part *part);

/* Bytes kept. */
size_t kvl_part_size(const struct kvl_merge_table *t, const struct kvl_part *part);

/* Copies out up to `len` bytes from `off` on; returns their number. */
size_t kvl_part_read(const struct kvl_merge_table *t, const struct kvl_part *part, size_t off,
	size_t len, uint8_t *out);

/* Ready queue: each merge is in it at most once. KVL_MERGE_NONE: empty. */
void kvl_merge_ready(struct kvl_merge_table *t, uint32_t merge);
uint32_t kvl_merge_next_ready(struct kvl_merge_table *t);

static inline struct kvl_merge *kvl_merge_at(struct kvl_merge_table *t, uint32_t merge)
{
	return (struct kvl_merge *)(t->merges + (size_t)merge * t->merge_size);
}

/* May a command on a key of this hash run while those noted are not answered yet? */
static inline bool kvl_merge_conflict(const struct kvl_merge *m, uint64_t hash, bool write)
{
	uint64_t bit = 1ull << (hash >> 58);
	unsigned int word = hash >> 55 & (KVL_MERGE_SET_WORDS - 1);

	return (m->writes[word] | (write ? m->reads[word] : 0)) & bit;
}

static inline void kvl_merge_note(struct kvl_merge *m, uint64_t hash, bool write)
{
	uint64_t bit = 1ull << (hash >> 58);
	unsigned int word = hash >> 55 & (KVL_MERGE_SET_WORDS - 1);

	*(write ? &m->writes[word] : &m->reads[word]) |= bit;
}

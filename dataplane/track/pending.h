/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dataplane/track/sequences.h"
#include "dataplane/track/wheel.h"
#include "lib/model/addr.h"
#include "lib/proto/request.h"

/*
 * The pending table of one worker: what nat mode must remember of a request until its reply has
 * passed (docs/architecture.md, "The pending table").
 *
 * Where a reply belongs travels on the wire, in the source port and request id that the router
 * gives the request, so a reply finds its slot by arithmetic. With 2^p SNAT ports:
 *
 *	port = first port + (high << worker_bits | worker)
 *	(high << 16 | id) = generation << slot_bits | slot
 *
 * The slot's generation travels too: it advances whenever a slot is left with a reply outstanding
 * (a timeout, a quiet request), so that the late reply of the request before, from the very same
 * node, matches nothing. Such slots go to the tail of the free list, answered ones to its head:
 * reuse of a warm slot is cheap, and a slot with a ghost is used again as late as can be.
 * What remains: a node that duplicates the reply of an answered slot can hit the next request in
 * that slot, if that went to the same node.
 *
 * One thread (its worker); nothing here allocates after kvl_pending_init().
 */
enum kvl_slot_flag {
	KVL_SLOT_ACTIVE = 1 << 0,
	KVL_SLOT_QUIET = 1 << 1, /* silence is an answer: no timeout, no latency sample */
	KVL_SLOT_PART = 1 << 2,  /* of a split request: the reply goes to its merge */
	KVL_SLOT_RETRY = 1 << 3, /* may be asked of another node, see retry.h */
	KVL_SLOT_HEARD = 1 << 4, /* its node has answered, if not in full */
};

#define KVL_VLAN_NONE UINT16_MAX

/* Numbers and copies only, never pointers: a snapshot may change under a slot. */
struct kvl_slot {
	/* first line: what matching and accounting touch */
	struct kvl_timer timer;
	uint16_t generation;
	uint8_t flags;    /* enum kvl_slot_flag */
	uint8_t port;     /* router's port that the client came in by */
	uint16_t service; /* stable numbers, this and node */
	uint64_t sent;    /* TSC */
	uint64_t key_hash;
	union {
		struct kvl_sequences seen;
		struct kvl_echo echo; /* as long as seen.total is 0: for an error */
	};
	uint16_t node;
	uint16_t node_port; /* host order */
	uint16_t client_id; /* request id; network order, as the ports below: only ever copied */
	uint16_t vip_port;
	/* second line: what rewriting a reply touches */
	struct kvl_addr node_address;
	union {
		struct kvl_addr client;
		struct {
			uint32_t merge, part; /* with KVL_SLOT_PART; what is below is unset then */
		};
	};
	struct kvl_addr vip;
	uint8_t client_mac[6]; /* the reply goes back the way the request came */
	uint8_t router_mac[6];
	uint16_t vlan; /* tag control, host order, or KVL_VLAN_NONE */
	uint16_t client_port;
};
_Static_assert(sizeof(struct kvl_slot) == 128, "two cache lines a slot");
_Static_assert(sizeof(struct kvl_echo) <= offsetof(struct kvl_sequences, total), "side by side");
_Static_assert(offsetof(struct kvl_slot, node_address) == 64, "rewriting data on the second line");

struct kvl_pending_params {
	uint32_t slots;      /* power of two, 2^10..2^20 */
	uint16_t port_first; /* a multiple of port_count */
	uint32_t port_count; /* power of two */
	uint16_t worker;
	uint16_t workers;
};

struct kvl_pending {
	struct kvl_slot *slots;
	uint32_t *free; /* ring of free slot numbers, `size` places */
	uint32_t free_head, free_count;
	uint32_t size;
	uint16_t port_first, port_mask;
	uint16_t worker;
	uint8_t slot_bits, worker_bits;
	uint16_t generation_mask;
	struct kvl_sequence_pool sequences;
	struct kvl_wheel wheel;
};

/* Bytes that kvl_pending_init() wants, 64-byte aligned; 0 when the parameters do not fit (fewer
 * than 4 generations would travel, more workers than ports). */
size_t kvl_pending_size(const struct kvl_pending_params *params);

/* Lays the table out in zeroed `memory`. Returns 0 or -EINVAL. */
int kvl_pending_init(struct kvl_pending *p, void *memory, const struct kvl_pending_params *params);

#define KVL_SLOT_NONE UINT32_MAX

/* What is put on the wire for a slot. */
struct kvl_wire_id {
	uint16_t port; /* host order */
	uint16_t id;   /* host order */
};

static inline struct kvl_wire_id kvl_pending_wire(const struct kvl_pending *p, uint32_t slot)
{
	uint32_t x = (uint32_t)p->slots[slot].generation << p->slot_bits | slot;

	return (struct kvl_wire_id){
		.port = p->port_first + ((x >> 16) << p->worker_bits | p->worker),
		.id = x,
	};
}

/* The worker that owns the reply; may be beyond the workers there are. */
static inline uint16_t kvl_pending_owner(const struct kvl_pending *p, uint16_t port)
{
	return (port & p->port_mask) & ((1u << p->worker_bits) - 1);
}

static inline bool kvl_pending_is_snat(const struct kvl_pending *p, uint16_t port)
{
	return (port & ~p->port_mask) == p->port_first;
}

/* Slot number and generation of a wire value. The slot is always within the table. */
static inline uint32_t kvl_pending_slot(
	const struct kvl_pending *p, uint16_t port, uint16_t id, uint16_t *generation)
{
	uint32_t x = (uint32_t)((port & p->port_mask) >> p->worker_bits) << 16 | id;

	*generation = x >> p->slot_bits;
	return x & (p->size - 1);
}

/* Takes the slot at the head of the free list; KVL_SLOT_NONE when none is free. */
static inline uint32_t kvl_pending_take(struct kvl_pending *p)
{
	uint32_t slot;

	if (p->free_count == 0)
		return KVL_SLOT_NONE;
	slot = p->free[p->free_head & (p->size - 1)];
	p->free_head++;
	p->free_count--;
	return slot;
}

/* The slot that the n-th take from now would give, to prefetch it. */
static inline const struct kvl_slot *kvl_pending_peek(const struct kvl_pending *p, uint32_t n)
{
	return &p->slots[p->free[(p->free_head + n) & (p->size - 1)]];
}

static inline void kvl_pending_leave(struct kvl_pending *p, uint32_t slot)
{
	struct kvl_slot *s = &p->slots[slot];

	kvl_sequences_reset(&s->seen, &p->sequences);
	s->flags = 0;
	kvl_wheel_disarm(&p->wheel, slot);
}

/* Answered in full: nothing of it is on its way any more. */
static inline void kvl_pending_answered(struct kvl_pending *p, uint32_t slot)
{
	kvl_pending_leave(p, slot);
	p->free_head--;
	p->free[p->free_head & (p->size - 1)] = slot;
	p->free_count++;
}

/* Stays in use for another try, with a reply to the former one outstanding. */
void kvl_pending_renew(struct kvl_pending *p, uint32_t slot);

/* Left with a reply outstanding. */
void kvl_pending_abandon(struct kvl_pending *p, uint32_t slot);

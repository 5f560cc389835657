/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

/*
 * The simulator's pending events. What happens a constant time after its cause comes in the order
 * of the causes, so those are plain queues; only the ends of service need a heap.
 */
struct event {
	uint64_t at;
	uint32_t request, id;
	uint32_t epoch;
};

struct fifo {
	struct event *ring;
	uint32_t mask, head, tail;
};

struct heap {
	struct event *list;
	uint32_t count, room;
};

void fifo_push(struct fifo *f, struct event e);
void heap_push(struct heap *h, struct event e);
struct event heap_pop(struct heap *h);

static inline uint64_t fifo_next(const struct fifo *f)
{
	return f->head == f->tail ? UINT64_MAX : f->ring[f->head & f->mask].at;
}

static inline struct event fifo_pop(struct fifo *f)
{
	return f->ring[f->head++ & f->mask];
}

static inline uint64_t heap_next(const struct heap *h)
{
	return h->count == 0 ? UINT64_MAX : h->list[0].at;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "tests/sim/queue.h"

static void *must(void *memory)
{
	if (memory == NULL)
		abort();
	return memory;
}

static void fifo_grow(struct fifo *f)
{
	uint32_t room = f->ring == NULL ? 1024 : (f->mask + 1) * 2, count = f->tail - f->head;
	struct event *ring = must(malloc(room * sizeof(*ring)));

	for (uint32_t i = 0; i < count; i++)
		ring[i] = f->ring[(f->head + i) & f->mask];
	free(f->ring);
	*f = (struct fifo){.ring = ring, .mask = room - 1, .tail = count};
}

void fifo_push(struct fifo *f, struct event e)
{
	if (f->ring == NULL || f->tail - f->head > f->mask)
		fifo_grow(f);
	f->ring[f->tail++ & f->mask] = e;
}

void heap_push(struct heap *h, struct event e)
{
	uint32_t i;

	if (h->count == h->room) {
		h->room = h->room == 0 ? 256 : h->room * 2;
		h->list = must(realloc(h->list, h->room * sizeof(*h->list)));
	}
	for (i = h->count++; i > 0 && h->list[(i - 1) / 2].at > e.at; i = (i - 1) / 2)
		h->list[i] = h->list[(i - 1) / 2];
	h->list[i] = e;
}

struct event heap_pop(struct heap *h)
{
	struct event top = h->list[0], last = h->list[--h->count];
	uint32_t i = 0;

	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child >= h->count)
			break;
		if (child + 1 < h->count && h->list[child + 1].at < h->list[child].at)
			child++;
		if (h->list[child].at >= last.at)
			break;
		h->list[i] = h->list[child];
		i = child;
	}
	h->list[i] = last;
	return top;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "dataplane/track/wheel.h"

static void timer_link(struct kvl_wheel *w, uint32_t index, uint32_t at)
{
	struct kvl_timer *t = kvl_wheel_timer(w, index);
	uint32_t *head = &w->heads[at % KVL_WHEEL_BUCKETS];

	t->at = at;
	t->prev = KVL_TIMER_NONE;
	t->next = *head;
	t->linked = true;
	if (*head != KVL_TIMER_NONE)
		kvl_wheel_timer(w, *head)->prev = index;
	*head = index;
}

static void timer_unlink(struct kvl_wheel *w, uint32_t index)
{
	struct kvl_timer *t = kvl_wheel_timer(w, index);

	if (t->prev != KVL_TIMER_NONE)
		kvl_wheel_timer(w, t->prev)->next = t->next;
	else
		w->heads[t->at % KVL_WHEEL_BUCKETS] = t->next;
	if (t->next != KVL_TIMER_NONE)
		kvl_wheel_timer(w, t->next)->prev = t->prev;
	t->linked = false;
}

void kvl_wheel_init(struct kvl_wheel *w, void *first, size_t stride, uint32_t count)
{
	w->base = first;
	w->stride = stride;
	w->now = 0;
	memset(w->heads, 0xff, sizeof(w->heads)); /* KVL_TIMER_NONE */
	for (uint32_t i = 0; i < count; i++)
		memset(kvl_wheel_timer(w, i), 0, sizeof(struct kvl_timer));
}

/* Links at the deadline or, when that is beyond one lap, at the last bucket before the hand. */
static void timer_place(struct kvl_wheel *w, uint32_t index, uint32_t deadline)
{
	uint32_t horizon = w->now + KVL_WHEEL_BUCKETS - 1;

	timer_link(w, index, kvl_tick_before(horizon, deadline) ? horizon : deadline);
}

void kvl_wheel_link(struct kvl_wheel *w, uint32_t index, uint32_t deadline)
{
	if (kvl_wheel_timer(w, index)->linked)
		timer_unlink(w, index);
	timer_place(w, index, deadline);
}

uint32_t kvl_wheel_advance(struct kvl_wheel *w, uint32_t to, uint32_t *expired, uint32_t max)
{
	uint32_t found = 0;

	while (kvl_tick_before(w->now, to)) {
		uint32_t tick = w->now + 1;
		uint32_t *head = &w->heads[tick % KVL_WHEEL_BUCKETS];

		while (*head != KVL_TIMER_NONE) {
			uint32_t index = *head;
			struct kvl_timer *t = kvl_wheel_timer(w, index);

			if (found == max)
				return found; /* the bucket is visited again from where it stands */
			timer_unlink(w, index);
			if (!t->armed)
				continue;
			if (kvl_tick_before(tick, t->deadline)) {
				/* Armed again since: it cannot fall into this bucket, which is a
				 * whole lap before the horizon, so the loop ends. */
				w->now = tick;
				timer_place(w, index, t->deadline);
				w->now = tick - 1;
				continue;
			}
			t->armed = false;
			expired[found++] = index;
		}
		w->now = tick;
	}
	return found;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "ctrl/api/draw_now.h"
#include "lib/score/pick.h"

#define DRAWS 4096 /* a worker: a probability of a half is shown within 2 points */

/* A row of its own, of nodes 0 to 7 in order, so that only what belongs to it is copied. */
struct scene {
	struct kvl_row row;
	uint16_t weights[KVL_ROW_MAX];
	float handicaps[KVL_ROW_MAX];
	struct kvl_pulse pulses[KVL_ROW_MAX];
	unsigned int n;
	enum kvl_choice choice;
	uint32_t explore;
};

/* SplitMix64 (Steele et al. 2014): the same for every question, so that equal states answer alike. */
static uint64_t random_of(uint64_t i)
{
	uint64_t z = (i + 1) * 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static struct kvl_draw scene_draw(const struct scene *s, uint64_t random)
{
	if (s->n == 1)
		return kvl_draw_first(&s->row, s->weights);
	switch (s->choice) {
	case KVL_CHOOSE_LEAST:
		return kvl_draw_least(&s->row, s->handicaps, s->n, random, s->pulses, s->explore);
	case KVL_CHOOSE_P2C:
		return kvl_draw_p2c(&s->row, s->weights, s->n, random, s->pulses, KVL_PICK_HOT);
	case KVL_CHOOSE_BEST:
		return kvl_draw_best(&s->row, s->weights, s->n);
	default:
		return kvl_draw_weighted(&s->row, s->weights, s->n, random >> 32);
	}
}

/* Words of 4 bytes that their worker goes on writing: each is whole, together they need not be. */
static struct kvl_pulse pulse_read(const struct kvl_pulse *from)
{
	struct kvl_pulse p;

	__atomic_load(&from->queue, &p.queue, __ATOMIC_RELAXED);
	__atomic_load(&from->latency, &p.latency, __ATOMIC_RELAXED);
	__atomic_load(&from->blur, &p.blur, __ATOMIC_RELAXED);
	__atomic_load(&from->answered, &p.answered, __ATOMIC_RELAXED);
	return p;
}

/* Returns the number of places. */
static unsigned int scene_begin(
	struct scene *s, const struct kvl_row *row, const uint16_t weights[KVL_ROW_MAX])
{
	unsigned int length = 0;

	for (unsigned int i = 0; i < KVL_ROW_MAX; i++) {
		if (row->node[i] == KVL_NODE_NONE) {
			s->row.node[i] = KVL_NODE_NONE;
			continue;
		}
		s->row.node[i] = (uint16_t)i;
		s->weights[i] = weights[i];
		s->handicaps[i] = kvl_handicap(weights[i]);
		length++;
	}
	return length;
}

static void worker_ask(const struct kvl_worker *w, const struct kvl_row *row, unsigned int length,
	struct scene *s, struct draw_now *now, unsigned int known[KVL_ROW_MAX])
{
	for (unsigned int i = 0; i < length; i++) {
		s->pulses[i] = pulse_read(&w->pulses[row->node[i]]);
		now->in_flight[i] += kvl_pulse_in_flight(&s->pulses[i]);
		now->latency_us[i] += s->pulses[i].latency;
		known[i] += s->pulses[i].latency != 0;
	}
	for (unsigned int i = 0; i < DRAWS; i++) {
		struct kvl_draw draw = scene_draw(s, random_of(i));

		if (draw.node != KVL_NODE_NONE)
			now->probability[draw.place] += 1.0 / DRAWS;
	}
}

void draw_now(const struct kvl_router *r, const struct kvl_row *row,
	const uint16_t weights[KVL_ROW_MAX], unsigned int n, enum kvl_choice choice,
	uint32_t explore, struct draw_now *now)
{
	struct scene s = {.n = n, .choice = choice, .explore = explore};
	unsigned int length = scene_begin(&s, row, weights), known[KVL_ROW_MAX] = {0};

	memset(now, 0, sizeof(*now));
	for (uint16_t i = 0; i < r->worker_count; i++)
		worker_ask(r->workers[i], row, length, &s, now, known);
	for (unsigned int i = 0; i < length; i++) {
		now->probability[i] /= r->worker_count;
		if (known[i] != 0)
			now->latency_us[i] /= known[i];
	}
}

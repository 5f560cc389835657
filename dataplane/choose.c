/* SPDX-License-Identifier: BSD-3-Clause */
#include "dataplane/constrain.h"
#include "lib/score/pick.h"
#include "lib/score/weights.h"

/* By the service's rule (SPEC 5). The default first: it costs most. */
static inline __attribute__((always_inline)) struct kvl_draw read_draw(struct kvl_worker *w,
	const struct kvl_root *root, const struct kvl_packet *p, unsigned int n)
{
	const struct kvl_root_service *service = p->service;
	const uint16_t *weights = kvl_root_weights(root, 0);

	if (likely(service->choice == KVL_CHOOSE_LEAST))
		return kvl_draw_least(p->row, kvl_root_handicaps(root, 0), n, kvl_random(w),
			w->pulses, service->explore);
	if (service->choice == KVL_CHOOSE_P2C)
		return kvl_draw_p2c(p->row, weights, n, kvl_random(w), w->pulses, KVL_PICK_HOT);
	if (service->choice == KVL_CHOOSE_BEST)
		return kvl_draw_best(p->row, weights, n);
	return kvl_draw_weighted(p->row, weights, n, kvl_random(w) >> 32);
}

/*
 * Among the N first of the row that are in, by the service's rule (SPEC 5). Where N is known the
 * compiler unrolls.
 */
struct kvl_draw kvl_choose_read(
	struct kvl_worker *w, const struct kvl_root *root, const struct kvl_packet *p)
{
	if (likely(p->service->replication == 3))
		return read_draw(w, root, p, 3);
	return read_draw(w, root, p, p->service->replication);
}

/*
 * Reads of a replicated service choose among the holders; with N = 1 the score serves failover
 * only, and writes keep one order for all routers (SPEC 2.7).
 */
static inline struct kvl_draw candidate_draw(
	struct kvl_worker *w, const struct kvl_root *root, const struct kvl_packet *p)
{
	if (p->request.kind != KVL_KIND_READ)
		return kvl_draw_first(p->row, kvl_root_weights(root, kvl_write_class(p)));
	if (p->service->replication == 1)
		return kvl_draw_first(p->row, kvl_root_weights(root, 0));
	if (likely(p->service->replication == 3))
		return read_draw(w, root, p, 3);
	return kvl_choose_read(w, root, p);
}

struct kvl_draw kvl_choose_node(
	struct kvl_worker *w, const struct kvl_root *root, struct kvl_packet *p)
{
	p->verdict = KVL_REQUEST_NO_NODE;
	if (unlikely(kvl_is_constrained(p)))
		return kvl_constrain(w, root, p);
	return candidate_draw(w, root, p);
}

/*
 * A request is in flight from its choice on, so that a burst does not go as a whole to whom its
 * first one found idle. But by the few, since a draw that reads a figure just written waits for it.
 */
#define FEW 8

struct chosen {
	struct kvl_worker *w;
	struct kvl_list *list; /* its first `count` have their node */
	unsigned int count, counted;
};

static inline void chosen_count(struct chosen *c)
{
	for (; c->counted < c->count; c->counted++) {
		const struct kvl_packet *p = c->list->packets[c->counted];

		if (likely(kvl_packet_is_awaited(p)))
			kvl_pulse_sent(&c->w->pulses[p->node]);
	}
}

static inline struct kvl_draw chosen_next(
	struct chosen *c, const struct kvl_root *root, struct kvl_packet *p)
{
	if (likely(!kvl_is_constrained(p)))
		return candidate_draw(c->w, root, p);
	chosen_count(c); /* a bound is exact */
	return kvl_constrain(c->w, root, p);
}

static inline void request_choose(
	struct chosen *c, const struct kvl_root *root, struct kvl_burst *b, struct kvl_packet *p)
{
	struct kvl_draw draw = chosen_next(c, root, p);

	if (unlikely(draw.node == KVL_NODE_NONE)) {
		if (p->verdict == KVL_REQUEST_OK)
			p->verdict = KVL_REQUEST_NO_NODE;
		kvl_list_add(&b->answers, p);
		return;
	}
	p->node = draw.node;
	if (draw.place >= p->service->replication)
		kvl_count(&c->w->counters.fallbacks, 1);
	__builtin_prefetch(&kvl_root_nodes(root)[draw.node]);
	__builtin_prefetch(&c->w->nodes[draw.node], 1);
	c->list->packets[c->count++] = p;
}

void kvl_choose(struct kvl_worker *w, const struct kvl_root *root, struct kvl_burst *b)
{
	struct chosen chosen = {.w = w, .list = &b->requests};

	for (unsigned int i = 0; i < b->requests.count;) {
		unsigned int few = RTE_MIN(i + FEW, b->requests.count);

		for (; i < few; i++)
			request_choose(&chosen, root, b, b->requests.packets[i]);
		chosen_count(&chosen);
	}
	b->requests.count = chosen.count;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "dataplane/constrain.h"
#include "lib/score/pick.h"
#include "lib/score/weights.h"

#define HOT_IN_FLIGHT 2 /* p2c: of this core; more at one node is hot */

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
		return kvl_draw_p2c(p->row, weights, n, kvl_random(w), w->pulses, HOT_IN_FLIGHT);
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

static inline struct kvl_draw packet_draw(
	struct kvl_worker *w, const struct kvl_root *root, struct kvl_packet *p)
{
	if (unlikely(kvl_is_constrained(p)))
		return kvl_constrain(w, root, p);
	return candidate_draw(w, root, p);
}

struct kvl_draw kvl_choose_node(
	struct kvl_worker *w, const struct kvl_root *root, struct kvl_packet *p)
{
	p->verdict = KVL_REQUEST_NO_NODE;
	return packet_draw(w, root, p);
}

void kvl_choose(struct kvl_worker *w, const struct kvl_root *root, struct kvl_burst *b)
{
	const struct kvl_root_node *nodes = kvl_root_nodes(root);
	struct kvl_list *list = &b->requests;
	unsigned int chosen = 0;

	w->round++;
	for (unsigned int i = 0; i < list->count; i++) {
		struct kvl_packet *p = list->packets[i];
		struct kvl_draw draw = packet_draw(w, root, p);

		if (unlikely(draw.node == KVL_NODE_NONE)) {
			if (p->verdict == KVL_REQUEST_OK)
				p->verdict = KVL_REQUEST_NO_NODE;
			kvl_list_add(&b->answers, p);
			continue;
		}
		p->node = draw.node;
		if (draw.place >= p->service->replication)
			kvl_count(&w->counters.fallbacks, 1);
		__builtin_prefetch(&nodes[draw.node]);
		__builtin_prefetch(&w->nodes[draw.node], 1);
		list->packets[chosen++] = p;
	}
	list->count = chosen;
}

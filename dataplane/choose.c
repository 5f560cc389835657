/* SPDX-License-Identifier: BSD-3-Clause */
#include "dataplane/burst.h"
#include "lib/score/draw.h"

/* xorshift64 (Marsaglia 2003): a few cycles, and a draw needs no more than equidistribution. */
static uint32_t random_next(struct kvl_worker *w)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return w->random >> 32;
}

/* A read has no value, so its class is 0. */
static unsigned int write_class(const struct kvl_request *req)
{
	return (req->kind == KVL_KIND_WRITE ? KVL_CLASS_WRITE : 0)
	       | (req->value_len >= KVL_LARGE_VALUE ? KVL_CLASS_LARGE : 0);
}

/*
 * Reads of a replicated service are drawn among the holders by weight; with N = 1 the score serves
 * failover only, and writes keep one order for all routers (SPEC 2.7).
 */
static struct kvl_draw candidate_draw(
	struct kvl_worker *w, const struct kvl_root *root, const struct kvl_packet *p)
{
	unsigned int n = p->service->replication;

	if (p->request.kind != KVL_KIND_READ)
		return kvl_draw_first(p->row, kvl_root_weights(root, write_class(&p->request)));
	if (n == 1)
		return kvl_draw_first(p->row, kvl_root_weights(root, 0));
	return kvl_draw_weighted(p->row, kvl_root_weights(root, 0), n, random_next(w));
}

void kvl_choose(struct kvl_worker *w, const struct kvl_root *root, struct kvl_burst *b)
{
	const struct kvl_root_node *nodes = kvl_root_nodes(root);
	struct kvl_list *list = &b->requests;
	unsigned int chosen = 0;

	for (unsigned int i = 0; i < list->count; i++) {
		struct kvl_packet *p = list->packets[i];
		struct kvl_draw draw = candidate_draw(w, root, p);

		if (unlikely(draw.node == KVL_NODE_NONE)) {
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

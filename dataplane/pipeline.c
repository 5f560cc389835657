/* SPDX-License-Identifier: BSD-3-Clause */
#include "dataplane/admit.h"

static void burst_begin(struct kvl_burst *b, struct rte_mbuf **mbufs, uint16_t count, uint8_t port)
{
	b->count = count;
	b->requests.count = b->replies.count = b->errors.count = b->answers.count = b->odd.count =
		0;
	for (unsigned int i = 0; i < count; i++) {
		kvl_packet_begin(&b->packets[i], mbufs[i], port);
		rte_prefetch0(rte_pktmbuf_mtod(mbufs[i], void *));
		/* most keys end here */
		rte_prefetch0(rte_pktmbuf_mtod_offset(mbufs[i], void *, RTE_CACHE_LINE_SIZE));
	}
}

void kvl_pipeline(struct kvl_worker *w, const struct kvl_root *root, struct rte_mbuf **mbufs,
	uint16_t count, uint8_t port)
{
	struct kvl_burst b;
	bool guarded = unlikely(root->policies & KVL_POLICY_GUARD);

	burst_begin(&b, mbufs, count, port);
	kvl_classify(w, root, &b);

	/* Replies first: the slots they free are the warmest ones for the requests behind them. A
	 * freed slot keeps its contents until track, so rewriting may still read it. */
	if (b.replies.count != 0) {
		kvl_match(w, &b);
		kvl_account(w, &b);
		if (guarded)
			kvl_admit_replies(w, root, &b.replies);
		kvl_rewrite_replies(w, &b);
		kvl_transmit(w, &b.replies);
	}
	if (unlikely(b.errors.count != 0))
		kvl_refuse(w, root, &b);
	if (guarded)
		kvl_admit_requests(w, root, &b.requests);
	if (b.requests.count != 0) {
		kvl_parse(w, root, &b);
		kvl_lookup(w, &b);
		kvl_choose(w, root, &b);
		if (unlikely(b.odd.count != 0)) {
			kvl_odd(w, root, &b);
			if (guarded)
				kvl_admit_answers(w, root, &b.odd);
			kvl_transmit(w, &b.odd);
		}
		kvl_track(w, root, &b);
		kvl_rewrite_requests(w, root, &b);
		kvl_transmit(w, &b.requests);
	}
	if (b.answers.count != 0) {
		kvl_answer(w, &b);
		if (guarded)
			kvl_admit_answers(w, root, &b.answers);
		kvl_transmit(w, &b.answers);
	}
	if (unlikely(w->merges.ready_head != KVL_MERGE_NONE))
		kvl_merge_run(w, root);
}

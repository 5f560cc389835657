/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "dataplane/merge.h"

/* From the parts' replies to the client's message. */

static void part_end(struct kvl_worker *w, uint32_t merge, struct kvl_part *part, bool answered)
{
	struct kvl_merge *m = kvl_merge_at(&w->merges, merge);

	part->state = answered ? KVL_PART_DONE : KVL_PART_FAILED;
	part->why = KVL_REQUEST_NO_REPLY;
	if (!answered)
		kvl_part_forget(&w->merges, part);
	if (--m->waiting == 0)
		kvl_merge_ready(&w->merges, merge);
}

void kvl_merge_reply(struct kvl_worker *w, uint32_t merge, uint32_t part_number,
	const struct kvl_packet *p, bool whole)
{
	struct kvl_part *part = &w->merges.parts[part_number];

	if (!(part->flags & KVL_PART_LOST)
		&& !kvl_part_keep(&w->merges, part, p->reply.sequence,
			kvl_packet_payload(p) + KVL_FRAME_LEN, p->payload_len - KVL_FRAME_LEN)) {
		kvl_part_forget(&w->merges, part);
		part->flags |= KVL_PART_LOST;
		kvl_count(&w->counters.chunks_full, 1);
	}
	rte_pktmbuf_free(p->mbuf);
	kvl_count(&w->counters.absorbed, 1);
	if (whole)
		part_end(w, merge, part, !(part->flags & KVL_PART_LOST));
}

void kvl_merge_part_lost(struct kvl_worker *w, uint32_t merge, uint32_t part)
{
	part_end(w, merge, &w->merges.parts[part], false);
}

/* All that can be done without waiting; frees the merge at its end. */
static void merge_go_on(struct kvl_worker *w, const struct kvl_root *root, uint32_t merge)
{
	struct kvl_merge *m = kvl_merge_at(&w->merges, merge);

	while (m->waiting == 0) {
		if (m->head != KVL_PART_NONE)
			kvl_compose(w, root, m);
		if (m->at >= m->len) {
			kvl_merge_free(&w->merges, merge);
			return;
		}
		kvl_merge_parts_free(&w->merges, m);
		memset(m->reads, 0, sizeof(m->reads));
		memset(m->writes, 0, sizeof(m->writes));
		kvl_merge_ask(w, root, merge);
	}
}

void kvl_merge_run(struct kvl_worker *w, const struct kvl_root *root)
{
	uint32_t merge;

	while ((merge = kvl_merge_next_ready(&w->merges)) != KVL_MERGE_NONE)
		merge_go_on(w, root, merge);
}

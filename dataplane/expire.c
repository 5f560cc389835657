/* SPDX-License-Identifier: BSD-3-Clause */
#include "dataplane/burst.h"
#include "dataplane/merge.h"
#include "dataplane/retry.h"
#include "lib/score/pick.h"

/*
 * Requests whose time is up. The node is charged once; the slot goes back with its generation
 * advanced, so that the reply, should it still come, matches nothing.
 */

#define EXPIRE_MAX 64 /* a turn: a dead node's thousands must not hold up the packets of others */

static void slot_expire(struct kvl_worker *w, const struct kvl_root *root, uint32_t slot)
{
	const struct kvl_slot *s = &w->pending.slots[slot];
	struct kvl_node_counters *node = &w->nodes[s->node];

	if ((s->flags & KVL_SLOT_RETRY) && kvl_retry_expire(w, root, slot))
		return;
	if (s->flags & KVL_SLOT_QUIET) {
		kvl_count(&w->counters.quiet_expired, 1);
	} else {
		node->in_flight--;
		/* A reply that came in part, or was too large, is no silence. */
		if ((s->flags & KVL_SLOT_HEARD) || s->seen.total != 0)
			node->timeouts_in_a_row = 0;
		else
			node->timeouts_in_a_row++;
		/* It took at least as long as was waited for it. */
		kvl_latency_add(&node->latency,
			(uint32_t)RTE_MIN(((w->now - s->sent) * w->us_per_tsc) >> 32,
				(uint64_t)KVL_LATENCY_MOST));
		kvl_count(&node->timeouts, 1);
		kvl_count(&w->counters.timeouts, 1);
	}
	if (s->flags & KVL_SLOT_PART)
		kvl_merge_part_lost(w, s->merge, s->part);
	kvl_pending_abandon(&w->pending, slot);
}

uint32_t kvl_expire(struct kvl_worker *w, const struct kvl_root *root)
{
	uint32_t expired[EXPIRE_MAX];
	uint32_t n = kvl_wheel_advance(&w->pending.wheel, w->tick, expired, EXPIRE_MAX);

	for (uint32_t i = 0; i < n; i++)
		slot_expire(w, root, expired[i]);
	return n;
}

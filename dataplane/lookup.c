/* SPDX-License-Identifier: BSD-3-Clause */
#include "dataplane/burst.h"
#include "lib/ring/lookup.h"

/*
 * From key hash to token. Two passes, so that the cache misses of a burst overlap: the index
 * buckets were prefetched by parse, the tokens are by the first pass, the rows by the second.
 */
void kvl_lookup(struct kvl_worker *w, struct kvl_burst *b)
{
	const struct kvl_list *list = &b->requests;

	for (unsigned int i = 0; i < list->count; i++) {
		struct kvl_packet *p = list->packets[i];

		p->token = kvl_placement_start(p->service->placement, p->hash);
	}
	for (unsigned int i = 0; i < list->count; i++) {
		struct kvl_packet *p = list->packets[i];

		const struct kvl_placement *placement = p->service->placement;

		p->row = kvl_placement_row(
			placement, kvl_placement_find_from(placement, p->hash, p->token));
		__builtin_prefetch(p->row);
	}
}

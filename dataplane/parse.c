/* SPDX-License-Identifier: BSD-3-Clause */
#include "dataplane/burst.h"
#include "lib/ring/hash.h"
#include "lib/ring/lookup.h"

/*
 * Validates each request in full and hashes its key. What is not in order is answered by the
 * router and never reaches a node (SPEC 1.2).
 */
void kvl_parse(struct kvl_worker *w, struct kvl_burst *b)
{
	struct kvl_list *list = &b->requests;
	unsigned int good = 0;

	for (unsigned int i = 0; i < list->count; i++) {
		struct kvl_packet *p = list->packets[i];
		const uint8_t *payload = kvl_packet_payload(p);
		uint8_t scratch[KVL_KEY_MAX];
		const uint8_t *key;
		size_t len;

		p->verdict = kvl_request_parse(payload, p->payload_len, &p->request);
		kvl_count(&w->counters.verdicts[p->verdict], 1);
		if (unlikely(p->verdict != KVL_REQUEST_OK)) {
			kvl_list_add(&b->answers, p);
			continue;
		}
		key = kvl_request_key(payload, &p->request, scratch, &len);
		p->hash = kvl_key_hash(key, len, p->service->seed);
		kvl_placement_prefetch_index(p->service->placement, p->hash);
		list->packets[good++] = p;
	}
	list->count = good;
}

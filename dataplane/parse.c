/* SPDX-License-Identifier: BSD-3-Clause */
#include "dataplane/burst.h"
#include "lib/proto/get.h"
#include "lib/ring/hash.h"
#include "lib/ring/lookup.h"

static inline enum kvl_verdict request_parse(const uint8_t *payload, struct kvl_packet *p)
{
	if (likely(kvl_get_parse(payload, p->payload_len, &p->request)))
		return KVL_REQUEST_OK;
	return kvl_request_parse(payload, p->payload_len, &p->request);
}

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

		p->verdict = request_parse(payload, p);
		if (unlikely(p->verdict != KVL_REQUEST_OK)) {
			kvl_count(&w->counters.verdicts[p->verdict], 1);
			kvl_list_add(&b->answers, p);
			continue;
		}
		key = kvl_request_key(payload, &p->request, scratch, &len);
		p->hash = kvl_placement_key_hash(p->service->placement, key, len, p->service->seed);
		kvl_placement_prefetch_index(p->service->placement, p->hash);
		list->packets[good++] = p;
	}
	kvl_count(&w->counters.verdicts[KVL_REQUEST_OK], good);
	list->count = good;
}

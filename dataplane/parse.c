/* SPDX-License-Identifier: BSD-3-Clause */
#include "dataplane/burst.h"
#include "dataplane/checksum.h"
#include "lib/proto/get.h"
#include "lib/proto/hint.h"
#include "lib/proto/part.h"
#include "lib/ring/hash.h"
#include "lib/ring/lookup.h"

static inline enum kvl_verdict request_parse(const uint8_t *payload, struct kvl_packet *p)
{
	if (likely(kvl_get_parse(payload, p->payload_len, &p->request)))
		return KVL_REQUEST_OK;
	return kvl_request_parse(payload, p->payload_len, &p->request);
}

/* Hints to the router are taken and go no further: blanked, and the checksum follows, right or
 * wrong. */
static void hints_take(struct kvl_worker *w, struct kvl_packet *p)
{
	uint8_t *line = kvl_packet_payload(p) + KVL_FRAME_LEN;
	struct rte_udp_hdr *udp = kvl_packet_udp(p);
	kvl_csum_delta delta = 0;
	size_t len, off;

	while ((len = kvl_proxy_token(line, p->payload_len - KVL_FRAME_LEN, &off)) != 0) {
		kvl_count(kvl_hint_take(&p->request, line + off, len) ? &w->counters.hints
								      : &w->counters.hints_ignored,
			1);
		for (size_t i = off; i < off + len; i++) {
			/* a byte is half of a word of the sum, by its place */
			delta += i % 2 == 0 ? kvl_csum_change16(line[i], ' ')
					    : kvl_csum_change16((uint16_t)line[i] << 8, ' ' << 8);
			line[i] = ' ';
		}
	}
	udp->dgram_cksum = kvl_csum_apply_udp(udp->dgram_cksum, delta);
}

/* Behind a command with a fault there may be good ones, which run all the same. */
static bool fault_has_followers(const struct kvl_packet *p)
{
	struct kvl_command first;
	size_t at = KVL_FRAME_LEN;

	return p->verdict > KVL_REQUEST_FRAME_TOTAL && p->service->mode == KVL_MODE_NAT
	       && kvl_command_next(kvl_packet_payload(p), p->payload_len, &at, &first)
	       && at < p->payload_len;
}

/* True: the request is in order after all, and stays. */
static __attribute__((cold, noinline)) bool request_odd(
	struct kvl_worker *w, struct kvl_burst *b, struct kvl_packet *p)
{
	kvl_count(&w->counters.verdicts[p->verdict], 1);
	switch (p->verdict) {
	case KVL_REQUEST_PROXY_TOKEN:
		hints_take(w, p);
		p->verdict = KVL_REQUEST_OK;
		return true;
	case KVL_REQUEST_MULTI_KEY:
	case KVL_REQUEST_MULTI_COMMAND:
	case KVL_REQUEST_KEYLESS:
		kvl_list_add(&b->odd, p);
		return false;
	default:
		kvl_list_add(fault_has_followers(p) ? &b->odd : &b->answers, p);
		return false;
	}
}

/*
 * Validates each request in full and hashes its key. What is not in order is answered by the
 * router and never reaches a node (SPEC 1.2).
 */
void kvl_parse(struct kvl_worker *w, const struct kvl_root *root, struct kvl_burst *b)
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
		if (unlikely(p->verdict != KVL_REQUEST_OK) && !request_odd(w, b, p))
			continue;
		key = kvl_request_key(payload, &p->request, scratch, &len);
		if (unlikely(p->service->policy & KVL_POLICY_RULES))
			p->service = kvl_rule_apply(w, root, p->service, key, len);
		p->hash = kvl_service_hash(p->service, key, len);
		kvl_placement_prefetch_index(p->service->placement, p->hash);
		list->packets[good++] = p;
	}
	kvl_count(&w->counters.verdicts[KVL_REQUEST_OK], good);
	list->count = good;
}

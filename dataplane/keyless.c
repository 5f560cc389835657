/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "dataplane/merge.h"
#include "lib/proto/local.h"

/* Commands without a key, alone in their datagram (SPEC 1.5). */

/* The next node of the service that is in; KVL_NODE_NONE when none is. */
static uint16_t turn_node(
	struct kvl_worker *w, const struct kvl_root *root, const struct kvl_root_service *s)
{
	const uint16_t *weights = kvl_root_weights(root, 0);
	uint32_t *turn = &w->turns[s->number % KVL_TURNS];

	for (uint32_t i = 0; i < s->member_count; i++) {
		uint16_t node = s->members[(*turn)++ % s->member_count];

		if (weights[node] != 0)
			return node;
	}
	return KVL_NODE_NONE;
}

static void keyless_forward(struct kvl_worker *w, const struct kvl_root *root, struct kvl_burst *b,
	struct kvl_packet *p)
{
	p->node = turn_node(w, root, p->service);
	p->hash = 0;
	p->verdict = p->node == KVL_NODE_NONE ? KVL_REQUEST_NO_NODE : KVL_REQUEST_OK;
	if (p->node != KVL_NODE_NONE && kvl_packet_is_awaited(p))
		kvl_pulse_sent(&w->pulses[p->node]);
	kvl_list_add(p->node == KVL_NODE_NONE ? &b->answers : &b->requests, p);
}

/* memcached's reply to quit: a frame alone, of no datagrams. */
static bool frame_alone(const struct kvl_request *req)
{
	return req->op == KVL_OP_QUIT;
}

static bool keyless_answer(struct kvl_worker *w, struct kvl_packet *p)
{
	struct kvl_local_stat stats[KVL_STATS_MAX];
	uint8_t *payload = kvl_packet_payload(p);
	size_t count = 0, len = 0;

	if (p->request.op == KVL_OP_STATS)
		count = kvl_stats_list(w, stats);
	if (kvl_answer_fits(p, KVL_FRAME_LEN + KVL_LOCAL_MAX))
		len = kvl_local_answer(&p->request, payload + KVL_FRAME_LEN,
			p->payload_len - KVL_FRAME_LEN, stats, count, payload + KVL_FRAME_LEN);
	if (len == 0 && !frame_alone(&p->request)) {
		kvl_packet_drop(w, p, KVL_DROP_QUIET);
		return false;
	}
	memset(payload + 2, 0, KVL_FRAME_LEN - 2);
	payload[5] = len != 0; /* total */
	kvl_answer_turn(p, KVL_FRAME_LEN + len);
	kvl_count(&w->counters.answered[KVL_REQUEST_KEYLESS], 1);
	return true;
}

bool kvl_keyless(struct kvl_worker *w, const struct kvl_root *root, struct kvl_burst *b,
	struct kvl_packet *p)
{
	if (p->service->keyless != KVL_KEYLESS_ROUND_ROBIN || p->request.op == KVL_OP_QUIT)
		return keyless_answer(w, p);
	keyless_forward(w, root, b, p);
	return false;
}

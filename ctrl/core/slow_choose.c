/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/core/slow_choose.h"

#include "ctrl/core/clock.h"
#include "lib/proto/hint.h"
#include "lib/proto/part.h"
#include "lib/ring/lookup.h"
#include "lib/score/draw.h"

void kvl_slow_hints_take(struct kvl_request *request, uint8_t *datagram, size_t len)
{
	uint8_t *line = datagram + KVL_FRAME_LEN;
	size_t n, off;

	while ((n = kvl_proxy_token(line, len - KVL_FRAME_LEN, &off)) != 0) {
		kvl_hint_take(request, line + off, n);
		memset(line + off, ' ', n);
	}
}

static bool is_strong(const struct kvl_root_policy *policy, const struct kvl_request *request)
{
	if (request->flags & (KVL_REQ_STRONG | KVL_REQ_EVENTUAL))
		return request->flags & KVL_REQ_STRONG;
	return policy != NULL && policy->strong;
}

static uint16_t node_draw(const struct kvl_root *root, const struct kvl_root_service *service,
	const struct kvl_row *row, const struct kvl_request *request, bool strong, uint32_t random)
{
	unsigned int class = request->value_len >= KVL_LARGE_VALUE ? KVL_CLASS_LARGE : 0;

	/* As kvl_write_class() has it: a token's read goes where its cas will, if there is a choice. */
	if (request->kind != KVL_KIND_TOKEN || service->replication > 1)
		class |= KVL_CLASS_WRITE;
	if (request->kind != KVL_KIND_READ)
		return kvl_draw_first(row, kvl_root_weights(root, class)).node;
	if (strong)
		return kvl_draw_first(row, kvl_root_weights(root, KVL_CLASS_WRITE)).node;
	return kvl_draw_weighted(row, kvl_root_weights(root, 0), service->replication, random).node;
}

enum kvl_verdict kvl_slow_choose(struct kvl_slow_guard *g, const struct kvl_root *root,
	const struct kvl_root_service **service, const uint8_t *datagram,
	const struct kvl_request *request, uint32_t random, uint16_t *node)
{
	const struct kvl_root_policy *policy = NULL;
	const struct kvl_root_service *s = *service;
	uint8_t scratch[KVL_KEY_MAX];
	size_t len;
	const uint8_t *key = kvl_request_key(datagram, request, scratch, &len);
	uint64_t hash;

	if (s->policy & KVL_POLICY_RULES)
		*service = s = kvl_root_rule_service(root, s, key, len);
	if (s->policy & KVL_POLICY_CHOICE)
		policy = kvl_root_policy(root, s);
	if (policy != NULL && policy->tenant != KVL_TENANT_NONE
		&& !kvl_tenant_take(&g->tenants, policy->tenant,
			&kvl_root_tenants(root)[policy->tenant], kvl_now_ms()))
		return KVL_REQUEST_OVER_QUOTA;
	hash = kvl_service_hash(s, key, len);
	*node = node_draw(root, s,
		kvl_placement_row(s->placement, kvl_placement_find(s->placement, hash)), request,
		is_strong(policy, request), random);
	return *node == KVL_NODE_NONE ? KVL_REQUEST_NO_NODE : KVL_REQUEST_OK;
}

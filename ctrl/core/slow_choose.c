/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/core/slow_choose.h"

#include "ctrl/core/clock.h"
#include "lib/proto/hint.h"
#include "lib/proto/part.h"
#include "lib/ring/lookup.h"

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
	return policy->strong;
}

/* As kvl_write_class() has it: a token's read goes where its cas will, if there is a choice. And a
 * strong read goes where a write goes. */
static unsigned int class_of(
	const struct kvl_root_service *service, const struct kvl_request *request)
{
	unsigned int class = 0;

	if (request->kind != KVL_KIND_READ && request->value_len >= KVL_LARGE_VALUE)
		class |= KVL_CLASS_LARGE;
	if (request->kind != KVL_KIND_TOKEN || service->replication > 1)
		class |= KVL_CLASS_WRITE;
	return class;
}

static struct kvl_slow_terms terms_of(const struct kvl_root *root,
	const struct kvl_root_service *service, const struct kvl_request *request, uint64_t now_ms)
{
	static const struct kvl_root_policy none = {
		.tenant = KVL_TENANT_NONE, .lag_most = KVL_LAG_ANY};
	const struct kvl_root_policy *policy =
		service->policy & KVL_POLICY_CHOICE ? kvl_root_policy(root, service) : &none;
	const bool spread = request->kind == KVL_KIND_READ && !is_strong(policy, request);
	struct kvl_slow_terms t = {
		.nodes = kvl_root_nodes(root),
		.weights = kvl_root_weights(root, spread ? 0 : class_of(service, request)),
		.lag_most = policy->lag_most,
		.in_flight_most = policy->in_flight_most,
		.second = (uint32_t)(now_ms / 1000),
		.holders = spread ? service->replication : 1,
		.tenant = policy->tenant,
	};

	/* A client may be stricter than the service, not laxer. */
	if ((request->flags & KVL_REQ_LAG) && request->lag_allowed < t.lag_most)
		t.lag_most = request->lag_allowed;
	if (t.tenant != KVL_TENANT_NONE)
		t.quota = &kvl_root_tenants(root)[t.tenant];
	return t;
}

enum kvl_verdict kvl_slow_choose(const struct kvl_slow_load *load, const struct kvl_root *root,
	const struct kvl_root_service **service, const uint8_t *datagram,
	const struct kvl_request *request, uint32_t random, uint16_t *node)
{
	const struct kvl_root_service *s = *service;
	const uint64_t now_ms = kvl_now_ms();
	struct kvl_slow_terms t;
	uint8_t scratch[KVL_KEY_MAX];
	size_t len;
	const uint8_t *key = kvl_request_key(datagram, request, scratch, &len);
	uint64_t hash;

	if (s->policy & KVL_POLICY_RULES)
		*service = s = kvl_root_rule_service(root, s, key, len);
	t = terms_of(root, s, request, now_ms);
	if (t.quota != NULL && !kvl_tenant_take(load->tenants, t.tenant, t.quota, now_ms)) {
		kvl_slow_count(&load->counters->over_rate);
		return KVL_REQUEST_OVER_QUOTA;
	}
	hash = kvl_service_hash(s, key, len);
	return kvl_slow_draw(load, &t,
		kvl_placement_row(s->placement, kvl_placement_find(s->placement, hash)), random,
		node);
}

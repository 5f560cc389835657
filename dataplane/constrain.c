/* SPDX-License-Identifier: BSD-3-Clause */
#include "dataplane/constrain.h"
#include "lib/score/draw.h"

/* The conditions of one request. */
struct terms {
	const struct kvl_root_node *nodes;
	const struct kvl_root_tenant *quota; /* NULL: no tenant */
	uint32_t lag_most;
	uint32_t in_flight_most;
	uint32_t second;
	uint8_t tenant;
	bool strong;
};

/* Milliseconds that never wrap, as ticks do after 49 days: a bucket wants a rising clock. */
static uint64_t now_ms(const struct kvl_worker *w)
{
	return w->now / w->tsc_per_tick;
}

static bool is_strong(const struct kvl_packet *p, const struct kvl_root_policy *policy)
{
	if (p->request.kind != KVL_KIND_READ)
		return false;
	if (p->request.flags & (KVL_REQ_STRONG | KVL_REQ_EVENTUAL))
		return p->request.flags & KVL_REQ_STRONG;
	return policy->strong;
}

static struct terms terms_of(
	const struct kvl_worker *w, const struct kvl_root *root, const struct kvl_packet *p)
{
	static const struct kvl_root_policy none = {
		.tenant = KVL_TENANT_NONE, .lag_most = KVL_LAG_ANY};
	const struct kvl_root_policy *policy =
		p->service->policy != 0 ? kvl_root_policy(root, p->service) : &none;
	struct terms t = {
		.nodes = kvl_root_nodes(root),
		.lag_most = policy->lag_most,
		.in_flight_most = policy->in_flight_most,
		.second = w->tick / 1000,
		.tenant = policy->tenant,
		.strong = is_strong(p, policy),
	};

	/* A client may be stricter than the service, not laxer. */
	if ((p->request.flags & KVL_REQ_LAG) && p->request.lag_allowed < t.lag_most)
		t.lag_most = p->request.lag_allowed;
	if (t.tenant != KVL_TENANT_NONE)
		t.quota = &kvl_root_tenants(root)[t.tenant];
	return t;
}

static bool lags(const struct terms *t, uint16_t node)
{
	return t->nodes[node].version_lag > t->lag_most;
}

/* What the node has too much of; KVL_REQUEST_OK: nothing. */
static enum kvl_verdict load_check(const struct kvl_worker *w, const struct terms *t, uint16_t node)
{
	if (t->in_flight_most != 0 && kvl_pulse_in_flight(&w->pulses[node]) >= t->in_flight_most)
		return KVL_REQUEST_SHED;
	if (t->quota != NULL
		&& kvl_tenant_share_spent(&w->tenants, t->tenant, node, t->quota, t->second))
		return KVL_REQUEST_OVER_QUOTA;
	return KVL_REQUEST_OK;
}

static bool is_masked(const struct kvl_worker *w, const struct terms *t, uint16_t node)
{
	return lags(t, node) || load_check(w, t, node) != KVL_REQUEST_OK;
}

/* The first of `n` candidates that is not masked. *why: what all of them have too much of, or that
 * none was in and not lagging (KVL_REQUEST_NO_NODE). */
static struct kvl_draw first_unmasked(const struct kvl_worker *w, const struct terms *t,
	const struct kvl_row *row, const uint16_t *weights, unsigned int n, bool lag_counts,
	enum kvl_verdict *why)
{
	unsigned int found = 0;

	*why = KVL_REQUEST_NO_NODE;
	for (uint8_t i = 0; i < KVL_ROW_MAX && found < n && row->node[i] != KVL_NODE_NONE; i++) {
		uint16_t node = row->node[i];
		enum kvl_verdict load;

		if (weights[node] == 0 || (lag_counts && lags(t, node)))
			continue;
		found++;
		load = load_check(w, t, node);
		if (load == KVL_REQUEST_OK)
			return (struct kvl_draw){node, i};
		if (*why != KVL_REQUEST_SHED)
			*why = load;
	}
	return (struct kvl_draw){KVL_NODE_NONE, 0};
}

/* In the order of the list; when all lag, in spite of that. */
static struct kvl_draw listed_draw(struct kvl_worker *w, const struct terms *t,
	const struct kvl_packet *p, const uint16_t *weights, unsigned int n, enum kvl_verdict *why)
{
	struct kvl_draw draw = first_unmasked(w, t, p->row, weights, n, true, why);

	if (draw.node != KVL_NODE_NONE || *why != KVL_REQUEST_NO_NODE)
		return draw;
	draw = first_unmasked(w, t, p->row, weights, n, false, why);
	if (draw.node != KVL_NODE_NONE)
		kvl_count(&w->counters.lag_open, 1);
	return draw;
}

static struct kvl_draw read_draw(struct kvl_worker *w, const struct kvl_root *root,
	const struct terms *t, const struct kvl_packet *p, enum kvl_verdict *why)
{
	*why = KVL_REQUEST_NO_NODE;
	for (unsigned int i = 0; i <= KVL_REDRAWS; i++) {
		struct kvl_draw draw = kvl_choose_read(w, root, p);

		if (draw.node == KVL_NODE_NONE || likely(!is_masked(w, t, draw.node)))
			return draw;
		kvl_count(&w->counters.masked, 1);
	}
	return listed_draw(w, t, p, kvl_root_weights(root, 0), p->service->replication, why);
}

static struct kvl_draw constrained_draw(struct kvl_worker *w, const struct kvl_root *root,
	const struct terms *t, const struct kvl_packet *p, enum kvl_verdict *why)
{
	if (p->request.kind != KVL_KIND_READ)
		return listed_draw(w, t, p, kvl_root_weights(root, kvl_write_class(p)), 1, why);
	if (t->strong) /* where a write goes */
		return listed_draw(w, t, p, kvl_root_weights(root, KVL_CLASS_WRITE), 1, why);
	if (p->service->replication == 1)
		return listed_draw(w, t, p, kvl_root_weights(root, 0), 1, why);
	return read_draw(w, root, t, p, why);
}

static bool rate_take(struct kvl_worker *w, uint8_t tenant, const struct kvl_root_tenant *quota)
{
	if (likely(kvl_tenant_take(&w->tenants, tenant, quota, now_ms(w))))
		return true;
	kvl_count(&w->tenants.counters[tenant].over_rate, 1);
	kvl_count(&w->counters.over_quota, 1);
	return false;
}

static void refusal_count(struct kvl_worker *w, const struct terms *t, enum kvl_verdict why)
{
	if (why == KVL_REQUEST_SHED) {
		kvl_count(&w->counters.shed, 1);
	} else if (why == KVL_REQUEST_OVER_QUOTA) {
		kvl_count(&w->tenants.counters[t->tenant].over_share, 1);
		kvl_count(&w->counters.over_quota, 1);
	}
}

struct kvl_draw kvl_constrain(
	struct kvl_worker *w, const struct kvl_root *root, struct kvl_packet *p)
{
	const struct terms t = terms_of(w, root, p);
	struct kvl_draw draw = {KVL_NODE_NONE, 0};
	enum kvl_verdict why;

	if (t.quota != NULL && !rate_take(w, t.tenant, t.quota)) {
		p->verdict = KVL_REQUEST_OVER_QUOTA;
		return draw;
	}
	draw = constrained_draw(w, root, &t, p, &why);
	if (unlikely(draw.node == KVL_NODE_NONE)) {
		refusal_count(w, &t, why);
		p->verdict = why;
		return draw;
	}
	if (t.strong)
		p->request.flags &= ~KVL_REQ_IDEMPOTENT;
	if (t.quota != NULL) {
		kvl_tenant_share_add(&w->tenants, t.tenant, draw.node, t.second);
		kvl_count(&w->tenants.counters[t.tenant].requests, 1);
	}
	return draw;
}

bool kvl_constrain_retry(const struct kvl_worker *w, const struct kvl_root *root,
	const struct kvl_root_service *service, uint16_t node, uint32_t lag)
{
	const struct kvl_root_policy *policy;

	if (service->policy & KVL_POLICY_CHOICE) {
		policy = kvl_root_policy(root, service);
		if (policy->lag_most < lag)
			lag = policy->lag_most;
		if (policy->in_flight_most != 0
			&& kvl_pulse_in_flight(&w->pulses[node]) >= policy->in_flight_most)
			return false;
	}
	return kvl_root_nodes(root)[node].version_lag <= lag;
}

bool kvl_constrain_quota(
	struct kvl_worker *w, const struct kvl_root *root, const struct kvl_root_service *service)
{
	uint8_t tenant;

	if (!(service->policy & KVL_POLICY_CHOICE))
		return true;
	tenant = kvl_root_policy(root, service)->tenant;
	if (tenant == KVL_TENANT_NONE)
		return true;
	if (!rate_take(w, tenant, &kvl_root_tenants(root)[tenant]))
		return false;
	kvl_count(&w->tenants.counters[tenant].requests, 1);
	return true;
}

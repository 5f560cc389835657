/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/core/slow_conditions.h"

#include "lib/score/draw.h"

/* Of a row: what may be asked, in its order. */
struct candidates {
	struct kvl_row row;
	unsigned int count;
	bool passed_over; /* one that is in, for what it has too much of or lags by */
	/* Of none: what the nodes have too much of, or that none was in and not lagging
	 * (KVL_REQUEST_NO_NODE). */
	enum kvl_verdict why;
};

static bool lags(const struct kvl_slow_terms *t, uint16_t node)
{
	return t->nodes[node].version_lag > t->lag_most;
}

/* What the node has too much of; KVL_REQUEST_OK: nothing. */
static enum kvl_verdict load_check(
	const struct kvl_slow_load *load, const struct kvl_slow_terms *t, uint16_t node)
{
	if (t->in_flight_most != 0 && load->in_flight[node] >= t->in_flight_most)
		return KVL_REQUEST_SHED;
	if (t->quota != NULL
		&& kvl_tenant_share_spent(load->tenants, t->tenant, node, t->quota, t->second))
		return KVL_REQUEST_OVER_QUOTA;
	return KVL_REQUEST_OK;
}

static void candidate_add(struct candidates *c, uint16_t node, enum kvl_verdict load)
{
	if (load == KVL_REQUEST_OK) {
		c->row.node[c->count++] = node;
		return;
	}
	c->passed_over = true;
	if (c->why != KVL_REQUEST_SHED)
		c->why = load;
}

/* Who lags is replaced from the walk; who has too much is not. */
static void candidates_find(struct candidates *c, const struct kvl_slow_load *load,
	const struct kvl_slow_terms *t, const struct kvl_row *row, bool lag_counts)
{
	unsigned int found = 0;

	*c = (struct candidates){.why = KVL_REQUEST_NO_NODE};
	for (unsigned int i = 0; i < KVL_ROW_MAX && found < t->holders; i++) {
		uint16_t node = row->node[i];

		if (node == KVL_NODE_NONE)
			break;
		if (t->weights[node] == 0)
			continue;
		if (lag_counts && lags(t, node)) {
			c->passed_over = true;
			continue;
		}
		found++;
		candidate_add(c, node, load_check(load, t, node));
	}
}

/* In spite of lag only the first is asked: that is where writes go, too. */
static void candidates_open(struct candidates *c, const struct kvl_slow_load *load,
	const struct kvl_slow_terms *t, const struct kvl_row *row)
{
	candidates_find(c, load, t, row, false);
	if (c->count == 0)
		return;
	c->count = 1;
	kvl_slow_count(&load->counters->lag_open);
}

static enum kvl_verdict refuse(const struct kvl_slow_load *load, enum kvl_verdict why)
{
	if (why == KVL_REQUEST_SHED)
		kvl_slow_count(&load->counters->shed);
	else if (why == KVL_REQUEST_OVER_QUOTA)
		kvl_slow_count(&load->counters->over_share);
	return why;
}

enum kvl_verdict kvl_slow_draw(const struct kvl_slow_load *load, const struct kvl_slow_terms *t,
	const struct kvl_row *row, uint32_t random, uint16_t *node)
{
	struct candidates c;

	candidates_find(&c, load, t, row, true);
	if (c.count == 0 && c.why == KVL_REQUEST_NO_NODE)
		candidates_open(&c, load, t, row);
	if (c.count == 0)
		return refuse(load, c.why);
	if (c.passed_over)
		kvl_slow_count(&load->counters->masked);
	*node = c.row.node[kvl_draw_weighted(&c.row, t->weights, c.count, random).place];
	if (t->quota != NULL)
		kvl_tenant_share_add(load->tenants, t->tenant, *node, t->second);
	return KVL_REQUEST_OK;
}

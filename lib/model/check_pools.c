/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/model/draft.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What each service finds in its pool, of the nodes that stay. */

/* SPEC 2.3: an ordinary ring is smaller; a larger one is told what it costs. */
#define TOKENS_ORDINARY 50000

struct pool {
	size_t nodes, hosts;
	uint64_t tokens;
};

static int text_compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static size_t distinct(const char **texts, size_t count)
{
	size_t n = 0;

	qsort(texts, count, sizeof(*texts), text_compare);
	for (size_t i = 0; i < count; i++)
		n += i == 0 || strcmp(texts[i], texts[i - 1]) != 0;
	return n;
}

static struct pool pool_measure(
	const struct draft *d, const struct kvl_service_config *s, const char **hosts)
{
	struct pool p = {0};

	for (size_t i = 0; i < d->node_count; i++) {
		const struct node_draft *n = &d->nodes[i];

		if (n->left_out || strcmp(n->config.pool, s->pool) != 0)
			continue;
		hosts[p.nodes++] = n->config.host;
		p.tokens += kvl_placement_tokens_for(&s->placement, n->config.weight);
	}
	p.hosts = distinct(hosts, p.nodes);
	return p;
}

static void tokens_check(struct walk *w, const struct service_draft *s, const struct pool *p)
{
	if (p->tokens > KVL_TOKENS_MAX)
		walk_fault(w, s->at[SERVICE_VNODES], s->path, NULL,
			"%" PRIu64 " tokens in pool %s: must be at most %u", p->tokens,
			s->config.pool, KVL_TOKENS_MAX);
	else if (p->tokens > TOKENS_ORDINARY)
		walk_warn(w, s->at[SERVICE_VNODES], s->path,
			"%" PRIu64 " tokens: each NUMA node's copy takes %.0f MB", p->tokens,
			(double)p->tokens * KVL_TOKEN_BYTES_MAX / 1e6);
}

static void replication_check(struct walk *w, const struct service_draft *s, const struct pool *p)
{
	const uint32_t replication = s->config.placement.replication;

	if (replication == 1)
		return;
	walk_warn(w, s->at[SERVICE_REPLICATION], s->path,
		"replication %u: in this version writes go to the first healthy holder only",
		replication);
	if (p->nodes > 0 && p->hosts < replication)
		walk_warn(w, s->at[SERVICE_REPLICATION], s->path,
			"replication %u: pool %s has %zu node%s on %zu host%s", replication,
			s->config.pool, p->nodes, p->nodes == 1 ? "" : "s", p->hosts,
			p->hosts == 1 ? "" : "s");
}

static void service_pool_check(
	const struct draft *d, struct walk *w, const struct service_draft *s, const char **hosts)
{
	const struct pool p = pool_measure(d, &s->config, hosts);

	if (p.nodes == 0)
		walk_warn(w, s->at[SERVICE_POOL], s->path, "no node in pool %s", s->config.pool);
	tokens_check(w, s, &p);
	replication_check(w, s, &p);
}

static bool pool_used(const struct draft *d, const char *pool)
{
	for (size_t i = 0; i < d->service_count; i++)
		if (strcmp(d->services[i].config.pool, pool) == 0)
			return true;
	return false;
}

static int pool_compare(const void *a, const void *b)
{
	const struct node_draft *x = *(struct node_draft *const *)a;
	const struct node_draft *y = *(struct node_draft *const *)b;
	const int pools = strcmp(x->config.pool, y->config.pool);

	return pools != 0 ? pools : strcmp(x->config.id, y->config.id);
}

/* Said once a pool, at its first node. */
static void unused_pools_check(const struct draft *d, struct walk *w)
{
	struct node_draft **by = calloc(d->node_count + 1, sizeof(struct node_draft *));
	size_t n = 0;

	if (by == NULL)
		return;
	for (size_t i = 0; i < d->node_count; i++)
		if (!d->nodes[i].left_out && !pool_used(d, d->nodes[i].config.pool))
			by[n++] = &d->nodes[i];
	qsort(by, n, sizeof(struct node_draft *), pool_compare);
	for (size_t i = 0, next; i < n; i = next) {
		for (next = i + 1; next < n; next++)
			if (strcmp(by[next]->config.pool, by[i]->config.pool) != 0)
				break;
		walk_warn(w, by[i]->at[NODE_POOL], by[i]->path,
			"no service uses pool %s (node %s and %zu more)", by[i]->config.pool,
			by[i]->config.id, next - i - 1);
	}
	free(by);
}

void pools_check(struct draft *d, struct walk *services, struct walk *nodes)
{
	const char **hosts = calloc(d->node_count + 1, sizeof(*hosts));

	if (hosts == NULL)
		return;
	for (size_t i = 0; i < d->service_count; i++)
		service_pool_check(d, services, &d->services[i], hosts);
	unused_pools_check(d, nodes);
	free(hosts);
}

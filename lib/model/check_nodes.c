/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/model/draft.h"

#include <stdlib.h>
#include <string.h>

/* Nodes among themselves, and against ports and services. */

/* By id; of one id the one that stands first in the file is first, of those that are good. */
static int id_compare(const void *a, const void *b)
{
	const struct node_draft *x = a, *y = b;
	const int ids = strcmp(x->config.id, y->config.id);
	const struct pos p = x->at[NODE_ID], q = y->at[NODE_ID];

	if (ids != 0)
		return ids;
	if (x->config.unconfirmed != y->config.unconfirmed)
		return x->config.unconfirmed ? 1 : -1;
	if (p.line != q.line)
		return p.line < q.line ? -1 : 1;
	return (p.column > q.column) - (p.column < q.column);
}

static int endpoint_compare(const void *a, const void *b)
{
	const struct kvl_node_config *x = &(*(struct node_draft *const *)a)->config;
	const struct kvl_node_config *y = &(*(struct node_draft *const *)b)->config;
	const int address = memcmp(&x->address, &y->address, sizeof(x->address));

	if (address != 0)
		return address;
	if (x->port != y->port)
		return x->port < y->port ? -1 : 1;
	return strcmp(x->id, y->id);
}

/* The first of an id stays: its tokens are the same whichever stays. */
static void ids_check(struct draft *d, struct walk *w)
{
	struct node_draft *kept = NULL;

	for (size_t i = 0; i < d->node_count; i++) {
		struct node_draft *n = &d->nodes[i];

		if (kept != NULL && strcmp(kept->config.id, n->config.id) == 0)
			node_reject(d, w, n, NODE_ID, n->config.id,
				"id of %s in line %u as well, which stays", kept->path,
				kept->config.line);
		else
			kept = n;
	}
}

/* One memcached under two ids is odd, but no reason to lose its keys. Those that are unconfirmed
 * are looked at later. */
static void endpoints_check(struct draft *d, struct walk *w)
{
	struct node_draft **by = calloc(d->node_count + 1, sizeof(struct node_draft *));
	size_t count = 0;

	if (by == NULL)
		return;
	for (size_t i = 0; i < d->node_count; i++)
		if (!d->nodes[i].config.unconfirmed)
			by[count++] = &d->nodes[i];
	qsort(by, count, sizeof(struct node_draft *), endpoint_compare);
	for (size_t i = 1; i < count; i++) {
		const struct kvl_node_config *a = &by[i - 1]->config, *b = &by[i]->config;

		if (kvl_addr_eq(&a->address, &b->address) && a->port == b->port
			&& strcmp(a->id, b->id) != 0)
			walk_warn(w, by[i]->at[NODE_ADDRESS], by[i]->path,
				"node %s has the address and port of node %s", b->id, a->id);
	}
	free(by);
}

void nodes_check(struct draft *d, struct walk *w)
{
	const uint32_t max = d->config->router.max_nodes;

	qsort(d->nodes, d->node_count, sizeof(*d->nodes), id_compare);
	ids_check(d, w);
	endpoints_check(d, w);
	if (d->node_count > max)
		walk_fault(w, d->nodes_at, "nodes", NULL, "%zu nodes: router.max_nodes is %u",
			d->node_count, max);
}

/* The router's own addresses: sending there would bring the request back. */
static bool own_address_check(struct draft *d, struct walk *w, struct node_draft *n)
{
	char text[KVL_ADDR_STRLEN];

	kvl_addr_format(&n->config.address, text);
	for (size_t i = 0; i < d->service_count; i++)
		if (!d->services[i].faulty
			&& kvl_addr_eq(&n->config.address, &d->services[i].config.address)) {
			node_reject(d, w, n, NODE_ADDRESS, text, "address of service %s",
				d->services[i].config.name);
			return false;
		}
	for (size_t i = 0; i < d->port_count; i++)
		if (kvl_port_has_snat(&d->ports[i], &n->config.address)) {
			node_reject(d, w, n, NODE_ADDRESS, text, "snat address of port %s",
				d->ports[i].name);
			return false;
		}
	return true;
}

/* dsr on L2 changes the destination MAC only, so the port stays what it was (SPEC 1.3). */
static bool dsr_port_check(struct draft *d, struct walk *w, struct node_draft *n)
{
	char text[8];

	for (size_t i = 0; i < d->service_count; i++) {
		const struct kvl_service_config *s = &d->services[i].config;

		if (d->services[i].faulty || s->mode != KVL_MODE_DSR
			|| strcmp(s->pool, n->config.pool) != 0 || s->port == n->config.port)
			continue;
		snprintf(text, sizeof(text), "%u", n->config.port);
		node_reject(d, w, n, NODE_PORT, text, "must be %u, the port of dsr service %s",
			s->port, s->name);
		return false;
	}
	return true;
}

static bool nexthop_check(struct draft *d, struct walk *w, struct node_draft *n)
{
	if (!n->config.has_nexthop)
		return true;
	for (size_t i = 0; i < d->port_count; i++)
		if (strcmp(d->ports[i].name, n->config.nexthop_port) == 0)
			return true;
	node_reject(d, w, n, NODE_NEXTHOP, n->config.nexthop_port, "must be the name of a port");
	return false;
}

static bool services_check_one(struct draft *d, struct walk *w, struct node_draft *n)
{
	return own_address_check(d, w, n) && nexthop_check(d, w, n) && dsr_port_check(d, w, n);
}

static bool endpoint_is_same(const struct kvl_node_config *a, const struct kvl_node_config *b)
{
	return a->port == b->port && kvl_addr_eq(&a->address, &b->address);
}

/* What the file gives to another node is that node's now: two names for one would double its share. */
static void former_endpoint_check(struct draft *d, struct walk *w, struct node_draft *n)
{
	char text[KVL_ADDR_STRLEN];

	kvl_addr_format(&n->config.address, text);
	for (size_t i = 0; i < d->node_count; i++) {
		const struct node_draft *o = &d->nodes[i];

		if (o->left_out || o->config.unconfirmed
			|| !endpoint_is_same(&o->config, &n->config))
			continue;
		node_reject(d, w, n, NODE_ADDRESS, text,
			"its former address and port are those of node %s now", o->config.id);
		return;
	}
}

void nodes_services_check(struct draft *d, struct walk *w)
{
	for (size_t i = 0; i < d->node_count; i++)
		/* Twice when a former definition takes its place. */
		while (!d->nodes[i].left_out && !services_check_one(d, w, &d->nodes[i]))
			;
	for (size_t i = 0; i < d->node_count; i++)
		if (!d->nodes[i].left_out && d->nodes[i].config.unconfirmed)
			former_endpoint_check(d, w, &d->nodes[i]);
}

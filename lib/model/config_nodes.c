/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/model/draft.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* `nodes:`. A fault in one leaves that one out, by name, and the rest stays (SPEC 10.3). */

static void nexthop_walk(struct walk *w, yaml_node_t *value, const char *path, void *object);

const struct field node_fields[NODE_FIELDS] = {
	[NODE_ID] = {"id", set_name, AT(struct kvl_node_config, id), .required = true},
	[NODE_ADDRESS] = {"address", set_address, AT(struct kvl_node_config, address),
		.required = true},
	[NODE_PORT] = {"port", set_uint, AT(struct kvl_node_config, port), .min = 1,
		.max = UINT16_MAX},
	[NODE_HOST] = {"host", set_name, AT(struct kvl_node_config, host)},
	[NODE_ZONE] = {"zone", set_name, AT(struct kvl_node_config, zone)},
	[NODE_POOL] = {"pool", set_name, AT(struct kvl_node_config, pool)},
	[NODE_KETAMA_NAME] = {"ketama_name", set_name, AT(struct kvl_node_config, ketama_name)},
	[NODE_WEIGHT] = {"weight", set_uint, AT(struct kvl_node_config, weight), .min = 1,
		.max = 10000},
	[NODE_NEXTHOP] = {"nexthop", .nested = nexthop_walk},
};

static const struct field nexthop_fields[] = {
	{"mac", set_mac, AT(struct kvl_node_config, nexthop_mac),
		.flag = offsetof(struct kvl_node_config, has_nexthop), .required = true},
	{"port", set_name, AT(struct kvl_node_config, nexthop_port), .required = true},
};

static const struct kvl_node_config node_default = {
	.port = 11211,
	.zone = "default",
	.pool = "default",
	.weight = 100,
};

static void nexthop_walk(struct walk *w, yaml_node_t *value, const char *path, void *object)
{
	walk_map(w, value, path, nexthop_fields, 2, object, NULL);
}

#define CONSEQUENCE_MAX (KVL_NAME_MAX + 40)

/* The id of a node whose other fields may be bad; "" when it has none that could be one. */
static void id_read(struct walk *w, const yaml_node_t *element, char id[KVL_NAME_MAX])
{
	const struct field *f = &node_fields[NODE_ID];
	const yaml_node_t *node = walk_find(w, element, f->name);
	const char *text = node != NULL ? walk_text(node) : NULL;
	char why[128];

	if (text == NULL || strlen(text) != node->data.scalar.length
		|| f->set(f, text, id, why, sizeof(why)) < 0)
		id[0] = '\0';
}

static int id_search(const void *id, const void *node)
{
	return strcmp(id, ((const struct kvl_node_config *)node)->id);
}

static const struct kvl_node_config *former_find(const struct draft *d, const char *id)
{
	return d->former == NULL ? NULL
				 : bsearch(id, d->former->nodes, d->former->node_count,
					 sizeof(*d->former->nodes), id_search);
}

/* What is said behind a fault of this node. Only a good id is repeated. */
static void consequence(
	char out[CONSEQUENCE_MAX], const char *id, const struct kvl_node_config *former)
{
	if (id[0] == '\0')
		snprintf(out, CONSEQUENCE_MAX, "this node is left out");
	else
		snprintf(out, CONSEQUENCE_MAX,
			former != NULL ? "node %s keeps its former definition"
				       : "node %s is left out",
			id);
}

/* Where it stands now stays, for what is still to be said of it. */
static void node_keep(struct draft *d, struct node_draft *n, const struct kvl_node_config *former)
{
	const unsigned int line = n->config.line;

	n->config = *former;
	n->config.line = line;
	n->config.unconfirmed = true;
	d->nodes_kept++;
}

static void defaults_derive(struct kvl_node_config *c)
{
	char address[KVL_ADDR_STRLEN];

	kvl_addr_format(&c->address, address);
	if (c->host[0] == '\0')
		strcpy(c->host, address);
	if (c->ketama_name[0] == '\0')
		snprintf(c->ketama_name, sizeof(c->ketama_name), c->port == 11211 ? "%s" : "%s:%u",
			address, c->port);
}

static void node_walk(struct walk *w, yaml_node_t *element, const char *path, void *object)
{
	struct draft *d = object;
	struct node_draft *n = &d->nodes[d->node_count];
	const struct kvl_node_config *former;
	char said[CONSEQUENCE_MAX], id[KVL_NAME_MAX];

	id_read(w, element, id);
	former = former_find(d, id);
	consequence(said, id, former);
	w->severity = KVL_DIAG_NODE;
	w->consequence = said;
	w->faulty = false;
	*n = (struct node_draft){.config = node_default};
	n->config.line = walk_pos(element).line;
	snprintf(n->path, sizeof(n->path), "%s", path);
	walk_map(w, element, path, node_fields, NODE_FIELDS, &n->config, n->at);
	w->severity = KVL_DIAG_ERROR;
	w->consequence = NULL;

	/* A faulty one's fields are not all there: nothing more is checked of it. */
	if (w->faulty && former == NULL) {
		d->nodes_rejected++;
		return;
	}
	if (w->faulty)
		node_keep(d, n, former);
	else
		defaults_derive(&n->config);
	d->node_count++;
}

void nodes_walk(struct walk *w, yaml_node_t *value, const char *path, void *object)
{
	walk_list(w, value, path, KVL_NODES_MAX, node_walk, object);
}

void node_reject(struct draft *d, struct walk *w, struct node_draft *n, enum node_field field,
	const char *value, const char *format, ...)
{
	const struct kvl_node_config *former =
		n->config.unconfirmed || field == NODE_ID ? NULL : former_find(d, n->config.id);
	char said[CONSEQUENCE_MAX], path[64], message[160];
	va_list ap;

	va_start(ap, format);
	vsnprintf(message, sizeof(message), format, ap);
	va_end(ap);
	snprintf(path, sizeof(path), "%s.%s", n->path, node_fields[field].name);
	consequence(said, n->config.id, former);
	w->severity = KVL_DIAG_NODE;
	w->consequence = said;
	walk_fault(w, n->at[field], path, value, "%s", message);
	w->severity = KVL_DIAG_ERROR;
	w->consequence = NULL;
	if (former != NULL) {
		node_keep(d, n, former);
		return;
	}
	d->nodes_kept -= n->config.unconfirmed;
	n->left_out = true;
	d->nodes_rejected++;
}

int kvl_node_weight_parse(const char *text, uint32_t *weight, char *why, size_t size)
{
	const struct field *f = &node_fields[NODE_WEIGHT];

	return f->set(f, text, weight, why, size);
}

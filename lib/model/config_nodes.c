/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/model/draft.h"

#include <stdarg.h>
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

#define CONSEQUENCE_MAX (KVL_NAME_MAX + 32)

/* What is said behind a fault of this node. Only a good id is repeated. */
static void consequence(char out[CONSEQUENCE_MAX], const char *id)
{
	char name[KVL_NAME_MAX] = "", why[128];

	if (id != NULL
		&& node_fields[NODE_ID].set(&node_fields[NODE_ID], id, name, why, sizeof(why)) == 0)
		snprintf(out, CONSEQUENCE_MAX, "node %s is left out", name);
	else
		snprintf(out, CONSEQUENCE_MAX, "this node is left out");
}

static void node_walk(struct walk *w, yaml_node_t *element, const char *path, void *object)
{
	struct draft *d = object;
	struct node_draft *n = &d->nodes[d->node_count];
	yaml_node_t *id = walk_find(w, element, "id");
	char said[CONSEQUENCE_MAX], address[KVL_ADDR_STRLEN];

	consequence(said, id != NULL ? walk_text(id) : NULL);
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
	if (w->faulty) {
		d->nodes_rejected++;
		return;
	}
	kvl_addr_format(&n->config.address, address);
	if (n->config.host[0] == '\0')
		strcpy(n->config.host, address);
	if (n->config.ketama_name[0] == '\0')
		snprintf(n->config.ketama_name, sizeof(n->config.ketama_name),
			n->config.port == 11211 ? "%s" : "%s:%u", address, n->config.port);
	d->node_count++;
}

void nodes_walk(struct walk *w, yaml_node_t *value, const char *path, void *object)
{
	walk_list(w, value, path, KVL_NODES_MAX, node_walk, object);
}

void node_leave_out(struct draft *d, struct walk *w, struct node_draft *n, enum node_field field,
	const char *value, const char *format, ...)
{
	char said[CONSEQUENCE_MAX], path[64], message[160];
	va_list ap;

	va_start(ap, format);
	vsnprintf(message, sizeof(message), format, ap);
	va_end(ap);
	snprintf(path, sizeof(path), "%s.%s", n->path, node_fields[field].name);
	consequence(said, n->config.id);
	w->severity = KVL_DIAG_NODE;
	w->consequence = said;
	walk_fault(w, n->at[field], path, value, "%s", message);
	w->severity = KVL_DIAG_ERROR;
	w->consequence = NULL;
	n->left_out = true;
	d->nodes_rejected++;
}

int kvl_node_weight_parse(const char *text, uint32_t *weight, char *why, size_t size)
{
	const struct field *f = &node_fields[NODE_WEIGHT];

	return f->set(f, text, weight, why, size);
}

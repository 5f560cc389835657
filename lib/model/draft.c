/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/model/draft.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void kvl_config_free(struct kvl_config *config)
{
	if (config == NULL)
		return;
	free(config->ports);
	free(config->services);
	free(config->nodes);
	free(config);
}

struct kvl_service_config *kvl_config_service(struct kvl_config *config, const char *name)
{
	for (size_t i = 0; i < config->service_count; i++)
		if (strcmp(config->services[i].name, name) == 0)
			return &config->services[i];
	return NULL;
}

struct kvl_node_config *kvl_config_node(struct kvl_config *config, const char *id)
{
	for (size_t i = 0; i < config->node_count; i++)
		if (strcmp(config->nodes[i].id, id) == 0)
			return &config->nodes[i];
	return NULL;
}

static void draft_free(struct draft *d)
{
	if (d == NULL)
		return;
	kvl_config_free(d->config);
	free(d->nodes);
	free(d);
}

struct draft *draft_new(void)
{
	struct draft *d = calloc(1, sizeof(*d));

	if (d == NULL)
		return NULL;
	d->config = calloc(1, sizeof(*d->config));
	d->nodes = calloc(KVL_NODES_MAX, sizeof(*d->nodes));
	if (d->config == NULL || d->nodes == NULL) {
		draft_free(d);
		return NULL;
	}
	router_defaults(d->config);
	return d;
}

static void *array_copy(const void *from, size_t count, size_t size)
{
	void *to = calloc(count + 1, size);

	if (to != NULL)
		memcpy(to, from, count * size);
	return to;
}

/* Moves the draft's contents into its configuration. */
static int draft_finish(struct draft *d)
{
	struct kvl_config *c = d->config;

	c->ports = array_copy(d->ports, d->port_count, sizeof(*c->ports));
	c->services = calloc(d->service_count + 1, sizeof(*c->services));
	c->nodes = calloc(d->node_count + 1, sizeof(*c->nodes));
	if (c->ports == NULL || c->services == NULL || c->nodes == NULL)
		return -ENOMEM;
	c->port_count = d->port_count;
	for (size_t i = 0; i < d->service_count; i++)
		c->services[c->service_count++] = d->services[i].config;
	for (size_t i = 0; i < d->node_count; i++)
		if (!d->nodes[i].left_out)
			c->nodes[c->node_count++] = d->nodes[i].config;
	memcpy(c->tenants, d->tenants, sizeof(c->tenants));
	c->tenant_count = d->tenant_count;
	c->nodes_rejected = d->nodes_rejected;
	c->nodes_kept = d->nodes_kept;
	return 0;
}

struct kvl_config *draft_result(struct draft *d, int ret, const char *name, struct kvl_diags *diags)
{
	struct kvl_config *config = NULL;

	if (ret == 0 && diags->errors > 0)
		ret = -EINVAL;
	if (ret == 0)
		ret = draft_finish(d);
	if (ret < 0 && diags->errors == 0)
		kvl_diag_add(diags, KVL_DIAG_ERROR, "%s: %s", name, strerror(-ret));
	if (ret == 0) {
		config = d->config;
		d->config = NULL;
	}
	draft_free(d);
	if (ret < 0)
		errno = -ret;
	return config;
}

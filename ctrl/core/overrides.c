/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/core/overrides.h"

#include <errno.h>
#include <string.h>

#include "lib/model/scoring_fields.h"

static struct kvl_override_service *service_find(const struct kvl_overrides *o, const char *name)
{
	for (size_t i = 0; i < KVL_SERVICES_MAX; i++)
		if (strcmp(o->services[i].name, name) == 0)
			return (struct kvl_override_service *)&o->services[i];
	return NULL;
}

/* Copies the fields of the mask. */
static void fields_copy(
	struct kvl_scoring_config *to, const struct kvl_scoring_config *from, uint32_t fields)
{
	for (size_t i = 0; fields >> i != 0; i++)
		if (fields & 1u << i)
			kvl_scoring_copy(to, from, i);
}

bool kvl_overrides_field(const struct kvl_overrides *o, const char *service, size_t field,
	const struct kvl_scoring_config **file)
{
	const struct kvl_override_service *s = service_find(o, service);

	if (s == NULL || !(s->fields & 1u << field))
		return false;
	*file = &s->file;
	return true;
}

void kvl_overrides_set(struct kvl_overrides *o, const struct kvl_service_config *config,
	uint32_t fields, const struct kvl_scoring_config *now)
{
	struct kvl_override_service *s = service_find(o, config->name);

	if (s == NULL) {
		/* There are as many places as services, and those of services that went are free. */
		s = service_find(o, "");
		*s = (struct kvl_override_service){.file = config->scoring};
		memcpy(s->name, config->name, sizeof(s->name));
	}
	s->fields |= fields;
	s->now = *now;
}

int kvl_overrides_unset(struct kvl_overrides *o, struct kvl_service_config *config, uint32_t fields,
	char *why, size_t size)
{
	struct kvl_override_service *s = service_find(o, config->name);
	struct kvl_scoring_config left = config->scoring;

	if (s == NULL)
		return 0;
	/* What stays set may have gone together with what goes, and not with the file. */
	fields_copy(&left, &s->file, s->fields & fields);
	if (kvl_scoring_check(&left, why, size) < 0)
		return -EINVAL;
	config->scoring = left;
	fields_copy(&s->now, &s->file, s->fields & fields);
	s->fields &= ~fields;
	if (s->fields == 0)
		*s = (struct kvl_override_service){0};
	return 0;
}

const struct kvl_override_node *kvl_overrides_node(const struct kvl_overrides *o, const char *id)
{
	for (size_t i = 0; i < o->node_count; i++)
		if (strcmp(o->nodes[i].id, id) == 0)
			return &o->nodes[i];
	return NULL;
}

int kvl_overrides_node_set(
	struct kvl_overrides *o, const struct kvl_node_config *config, uint32_t weight)
{
	struct kvl_override_node *n = (struct kvl_override_node *)kvl_overrides_node(o, config->id);

	if (n == NULL) {
		if (o->node_count == KVL_OVERRIDES_NODES)
			return -ENOSPC;
		n = &o->nodes[o->node_count++];
		*n = (struct kvl_override_node){.file = config->weight};
		memcpy(n->id, config->id, sizeof(n->id));
	}
	n->now = weight;
	return 0;
}

void kvl_overrides_node_unset(struct kvl_overrides *o, const char *id)
{
	struct kvl_override_node *n = (struct kvl_override_node *)kvl_overrides_node(o, id);

	if (n != NULL)
		*n = o->nodes[--o->node_count];
}

static void service_apply(
	struct kvl_override_service *s, struct kvl_config *config, struct kvl_diags *diags)
{
	struct kvl_service_config *c = kvl_config_service(config, s->name);
	struct kvl_scoring_config now;
	char why[160];

	if (c == NULL) {
		kvl_diag_add(diags, KVL_DIAG_WARNING, "service %s is gone, and what was set of it",
			s->name);
		*s = (struct kvl_override_service){0};
		return;
	}
	now = c->scoring;
	fields_copy(&now, &s->now, s->fields);
	if (kvl_scoring_check(&now, why, sizeof(why)) < 0) {
		kvl_diag_add(diags, KVL_DIAG_WARNING,
			"service %s: what was set does not go with the file, which counts: %s",
			s->name, why);
		*s = (struct kvl_override_service){0};
		return;
	}
	s->file = c->scoring;
	s->now = c->scoring = now;
}

static void nodes_apply(struct kvl_overrides *o, struct kvl_config *config, struct kvl_diags *diags)
{
	size_t kept = 0;

	for (size_t i = 0; i < o->node_count; i++) {
		struct kvl_override_node *n = &o->nodes[i];
		struct kvl_node_config *c = kvl_config_node(config, n->id);

		if (c == NULL) {
			kvl_diag_add(diags, KVL_DIAG_WARNING,
				"node %s is gone, and the weight that was set of it", n->id);
			continue;
		}
		/* A former definition has what was set in it, and is not the file's. */
		if (!c->unconfirmed)
			n->file = c->weight;
		c->weight = n->now;
		o->nodes[kept++] = *n;
	}
	o->node_count = kept;
}

void kvl_overrides_apply(
	struct kvl_overrides *o, struct kvl_config *config, struct kvl_diags *diags)
{
	for (size_t i = 0; i < KVL_SERVICES_MAX; i++)
		if (o->services[i].name[0] != '\0')
			service_apply(&o->services[i], config, diags);
	nodes_apply(o, config, diags);
}

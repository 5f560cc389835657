/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/model/draft.h"

#include <string.h>

/* `tenants:` (SPEC 3.2). A rule names the tenant of the keys with its prefix. */

static const struct field tenant_fields[] = {
	{"name", set_name, AT(struct kvl_tenant_config, name), .required = true},
	{"rate", set_uint, AT(struct kvl_tenant_config, rate), .min = 1, .max = 100000000,
		.required = true},
	{"burst", set_uint, AT(struct kvl_tenant_config, burst), .min = 1, .max = 100000000},
	{"node_share", set_decimal, AT(struct kvl_tenant_config, node_share), .min = 1,
		.max = 1000},
};

static void tenant_walk(struct walk *w, yaml_node_t *element, const char *path, void *object)
{
	struct draft *d = object;
	struct kvl_tenant_config *t = &d->tenants[d->tenant_count];

	t->node_share = 1;
	walk_map(w, element, path, tenant_fields, sizeof(tenant_fields) / sizeof(*tenant_fields), t,
		NULL);
	if (t->burst == 0)
		t->burst = t->rate;
	for (size_t i = 0; i < d->tenant_count; i++)
		if (t->name[0] != '\0' && strcmp(d->tenants[i].name, t->name) == 0)
			walk_fault(w, walk_pos(element), path, t->name,
				"name of tenants[%zu] as well", i);
	d->tenant_count++;
}

void tenants_walk(struct walk *w, yaml_node_t *value, const char *path, void *object)
{
	walk_list(w, value, path, KVL_TENANTS_MAX, tenant_walk, object);
}

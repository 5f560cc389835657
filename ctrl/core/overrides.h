/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lib/model/config.h"

/*
 * Settings that an operator has changed while the router runs (SPEC 4.6, 11.1): fields of services'
 * `scoring:`, and nodes' static weights. They lie over the configuration: a reload keeps them, until
 * they are unset, their service or node goes from the configuration, or kvlaned ends. What the file
 * says is remembered beside them. Pure bookkeeping; control core only.
 *
 * Bounds: every field of every service, and KVL_OVERRIDES_NODES nodes; one more is refused.
 */
#define KVL_OVERRIDES_NODES 256

struct kvl_override_service {
	char name[KVL_NAME_MAX]; /* "" = this place is free */
	uint32_t fields;         /* bit 1 << field number (scoring_fields.h): changed */
	struct kvl_scoring_config now, file;
};

struct kvl_override_node {
	char id[KVL_NAME_MAX];
	uint32_t now, file;
};

struct kvl_overrides {
	struct kvl_override_service services[KVL_SERVICES_MAX];
	struct kvl_override_node nodes[KVL_OVERRIDES_NODES];
	size_t node_count;
};

/* Whether the field of the service is changed; *file gets what the file says. */
bool kvl_overrides_field(const struct kvl_overrides *o, const char *service, size_t field,
	const struct kvl_scoring_config **file);

/* The node's, or NULL. */
const struct kvl_override_node *kvl_overrides_node(const struct kvl_overrides *o, const char *id);

/*
 * `now` becomes the service's scoring, different from the file's in `fields`. Fields of no
 * difference that were changed before are kept. The service's configuration is *config as it was.
 */
void kvl_overrides_set(struct kvl_overrides *o, const struct kvl_service_config *config,
	uint32_t fields, const struct kvl_scoring_config *now);

/* The fields are the file's again, in *config too. 0; or -EINVAL with words in why and nothing
 * changed: the file's do not go with what stays set. */
int kvl_overrides_unset(struct kvl_overrides *o, struct kvl_service_config *config, uint32_t fields,
	char *why, size_t size);

/* 0 or -ENOSPC. `config` as it was. */
int kvl_overrides_node_set(
	struct kvl_overrides *o, const struct kvl_node_config *config, uint32_t weight);
void kvl_overrides_node_unset(struct kvl_overrides *o, const char *id);

/*
 * Lays them over a configuration that was just read. Those of services and nodes that are not in it
 * are dropped, and so are a service's if they no longer go with the rest; both are told in *diags.
 */
void kvl_overrides_apply(
	struct kvl_overrides *o, struct kvl_config *config, struct kvl_diags *diags);

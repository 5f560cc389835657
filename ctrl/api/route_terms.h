/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <jansson.h>

#include "ctrl/core/router.h"
#include "lib/score/filter.h"

/*
 * By which terms a key is served, for `route`: those of its service and of the prefix rule that
 * takes it, as dataplane/constrain.h applies them. For a plain read.
 */
struct route_terms {
	const struct kvl_rule_config *rule; /* NULL: none */
	const struct kvl_hash_rule *hash_rule;
	bool strong;
	uint32_t lag_most;
	uint32_t timeout_ms;
	uint8_t choice;
	uint8_t tenant; /* number; KVL_TENANT_NONE */
};

struct route_terms route_terms_of(const struct kvl_router *r,
	const struct kvl_topology_service *service, const uint8_t *key, size_t len);

/* What speaks against the node besides its weight; KVL_FILTER_IN: nothing. */
enum kvl_filter route_terms_filter(
	const struct kvl_router *r, const struct route_terms *t, uint16_t number);

/* In words; NULL for KVL_FILTER_IN. */
const char *route_filter_text(enum kvl_filter filter);

/* prefix, tenant, consistency, timeout_ms. */
json_t *route_terms_object(const struct kvl_router *r, const struct route_terms *t);

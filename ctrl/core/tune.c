/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "ctrl/core/log.h"
#include "ctrl/core/tune.h"

/* The topology's copy of a service is what roots and scorers are made from. */
static void scoring_switch(struct kvl_router *r, const struct kvl_service_config *config)
{
	for (uint32_t i = 0; i < r->topology->service_count; i++)
		if (strcmp(r->topology->services[i].config.name, config->name) == 0)
			r->topology->services[i].config.scoring = config->scoring;
	kvl_scoring_follow(
		r->nodes.scoring, r->topology, &r->config->health, r->config->reports.interval_ms);
	kvl_publisher_request(r->publisher);
}

void kvl_tune_service(struct kvl_router *r, struct kvl_service_config *config, uint32_t fields,
	const struct kvl_scoring_config *now)
{
	kvl_overrides_set(&r->overrides, config, fields, now);
	config->scoring = *now;
	scoring_switch(r, config);
}

int kvl_tune_service_unset(struct kvl_router *r, struct kvl_service_config *config, uint32_t fields,
	char *why, size_t size)
{
	int rc = kvl_overrides_unset(&r->overrides, config, fields, why, size);

	if (rc == 0)
		scoring_switch(r, config);
	return rc;
}

static uint32_t file_weight(const struct kvl_router *r, const struct kvl_node_config *config)
{
	const struct kvl_override_node *n = kvl_overrides_node(&r->overrides, config->id);

	return n != NULL ? n->file : config->weight;
}

int kvl_tune_node(struct kvl_router *r, struct kvl_node_config *config, uint32_t weight, bool unset,
	struct kvl_diags *diags)
{
	struct kvl_node_config before = *config;
	int rc = 0;

	if (unset)
		weight = file_weight(r, config);
	else if (r->overrides.node_count == KVL_OVERRIDES_NODES
		 && kvl_overrides_node(&r->overrides, config->id) == NULL)
		return -ENOSPC;
	config->weight = weight;
	if (weight != before.weight)
		rc = kvl_router_rebuild(r, diags);
	if (rc < 0) {
		config->weight = before.weight;
		return rc;
	}
	if (unset)
		kvl_overrides_node_unset(&r->overrides, config->id);
	else
		kvl_overrides_node_set(&r->overrides, &before, weight);
	kvl_log(KVL_LOG_NOTICE, "node %s: weight %u set, revision %lu", config->id, weight,
		(unsigned long)r->topology->revision);
	return 0;
}

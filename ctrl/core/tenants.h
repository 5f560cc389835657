/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "ctrl/core/topology.h"
#include "dataplane/worker.h"

/*
 * Tenants by number: a number stays a tenant's as long as it is configured, and is free at once
 * when it is not, since nothing in flight refers to it. Control core only.
 */
struct kvl_tenants {
	struct {
		struct kvl_tenant_config config; /* name "" = free */
		struct kvl_tenant_counters base; /* counted by whoever had the number before */
	} list[KVL_TENANTS_MAX];
};

/* Follows the configuration's tenants. */
void kvl_tenants_follow(struct kvl_tenants *tenants, const struct kvl_tenant_config *config,
	size_t count, struct kvl_worker *const *workers, uint16_t worker_count);

/* The tenant's number; KVL_TENANT_NONE. */
uint8_t kvl_tenants_find(const struct kvl_tenants *tenants, const char *name);

/* Each worker's part; returns the highest number + 1. */
uint32_t kvl_tenants_describe(const struct kvl_tenants *tenants, uint16_t workers,
	struct kvl_root_tenant quotas[KVL_TENANTS_MAX]);

/* What the tenant of a number did, all workers together. */
struct kvl_tenant_counters kvl_tenants_counters(const struct kvl_tenants *tenants, uint8_t number,
	struct kvl_worker *const *workers, uint16_t worker_count);

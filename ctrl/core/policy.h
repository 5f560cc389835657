/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "ctrl/core/tenants.h"
#include "ctrl/core/topology.h"

/*
 * The services' policies as a root has them: a policy for each service, a service of its own for
 * each prefix rule, and each worker's part of what is bounded for all of them together.
 */

/* Room for all services and those of their rules. */
#define KVL_POLICY_SERVICES (KVL_SERVICES_MAX * (1 + KVL_RULES_MAX))

/*
 * Completes spec->services, which has spec->service_count of them and room for KVL_POLICY_SERVICES,
 * and spec->policies, rules, tenants and clients. Arrays stay the callee's until the next call.
 */
void kvl_policy_describe(const struct kvl_topology *t, const struct kvl_tenants *tenants,
	uint16_t workers, struct kvl_root_service *services, struct kvl_root_spec *spec);

/* Part of one worker, of what `workers` share: rounded up, so that it is never nothing. */
static inline uint32_t kvl_policy_part(uint32_t whole, uint16_t workers)
{
	return (uint32_t)(((uint64_t)whole + workers - 1) / workers);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "dataplane/counters.h"
#include "dataplane/tenant.h"
#include "dataplane/track/client_table.h"
#include "lib/model/root.h"

/*
 * The slow path's part of dataplane/admit.h: the same lists of clients, and tables of its own of
 * clients' and tenants' rates and of tenants' shares of nodes, so that a client, or a tenant, has
 * here what it may have of one worker more. The slow path's thread only.
 */
#define KVL_SLOW_CLIENTS 4096

struct kvl_slow_guard {
	struct kvl_client_table clients;
	struct kvl_client places[KVL_SLOW_CLIENTS];
	struct kvl_tenant_state tenants;
	struct kvl_tenant_share shares[KVL_TENANTS_MAX * KVL_NODES_MAX];
};

void kvl_slow_guard_init(struct kvl_slow_guard *g);

/* Of a request: KVL_DROP_COUNT, or why not. *terms are for kvl_slow_guard_bytes(). */
enum kvl_drop kvl_slow_guard_request(struct kvl_slow_guard *g, const struct kvl_root *root,
	const struct kvl_root_service *service, const struct kvl_addr *client, size_t len,
	struct kvl_client_terms *terms);

/* May so many bytes go to the client? */
bool kvl_slow_guard_bytes(struct kvl_slow_guard *g, const struct kvl_addr *client, uint16_t service,
	const struct kvl_client_terms *terms, size_t len);

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lib/model/client_sets.h"
#include "lib/ring/tag.h"

/*
 * What a service asks for beyond the ordinary way of a request, as configured: who may ask and how
 * much (SPEC 12), rules by key prefix (2.5), consistency and tenants (3.1, 3.2), bounds of load (7).
 */
enum kvl_consistency {
	KVL_EVENTUAL, /* any replica that is fresh enough */
	KVL_STRONG,   /* the one that writes go to */
};

const char *kvl_consistency_name(enum kvl_consistency consistency);

/* `client_rate: {requests: N, burst: M}`: of one client address, a second; of each worker. */
struct kvl_client_rate {
	uint32_t requests; /* 0: no bound */
	uint32_t burst;    /* default: requests */
};
#define KVL_CLIENT_RATE_MAX 1000000

/*
 * `amplification: {factor: F, burst_bytes: B}`: a client address gets F bytes of reply for each byte
 * of request, and up to B bytes a second on top. Off (factor 0) unless asked for, or the service is
 * on a public address and names no clients.
 */
struct kvl_amplification {
	uint32_t factor;
	uint32_t burst_bytes;
};
#define KVL_AMPLIFICATION_FACTOR 20
#define KVL_AMPLIFICATION_BURST  (2u << 20)

#define KVL_RULES_MAX       64 /* of a service */
#define KVL_RULE_PREFIX_MAX 64 /* bytes */
#define KVL_TENANTS_MAX     64
#define KVL_POLICY_NAME_MAX 64 /* KVL_NAME_MAX */

/* One element of a service's `rules:`; what is not given is the service's own. */
struct kvl_rule_config {
	char prefix[KVL_RULE_PREFIX_MAX + 1];
	char tenant[KVL_POLICY_NAME_MAX]; /* "" = none */
	bool has_consistency, has_timeout, has_retries, has_choice, has_hash;
	enum kvl_consistency consistency;
	uint32_t timeout_ms;
	uint32_t retries;
	uint8_t choice; /* enum kvl_choice */
	struct kvl_hash_rule hash_rule;
	unsigned int tenant_line, tenant_column; /* where it stands, for later messages */
};

struct kvl_policy_config {
	struct kvl_prefix clients[KVL_CLIENTS_MAX];
	size_t client_count; /* 0: all may ask */
	struct kvl_client_rate client_rate;
	struct kvl_amplification amplification;
	enum kvl_consistency consistency; /* default eventual */
	bool has_version_lag;
	uint32_t max_version_lag; /* versions; a node known to lag by more is passed over */
	uint32_t max_in_flight;   /* at one node; 0: no bound */
	struct kvl_rule_config rules[KVL_RULES_MAX];
	size_t rule_count;
};

/* One element of `tenants:` */
struct kvl_tenant_config {
	char name[KVL_POLICY_NAME_MAX];
	uint32_t rate;     /* requests a second, of all workers together */
	uint32_t burst;    /* default: rate */
	double node_share; /* of the rate that one node may get within a second; default 1 */
};

bool kvl_policy_same(const struct kvl_policy_config *a, const struct kvl_policy_config *b);
bool kvl_tenant_same(const struct kvl_tenant_config *a, const struct kvl_tenant_config *b);

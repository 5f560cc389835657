/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/model/addr.h"
#include "lib/model/config.h"
#include "lib/model/rules.h"
#include "lib/ring/lookup.h"
#include "lib/ring/placement.h"

/*
 * The published root: everything a worker needs to decide, in one immutable block (SPEC 10.2).
 * The control core builds a new one aside for every change, checks every index in it, and swaps
 * the worker's pointer; a request sees exactly one root. The placements are separate blocks that
 * several roots share, since they are large and change with the topology only; all else is small
 * enough to be copied on every publication (48 KB of weights and handicaps, 64 KB of nodes at 1000 nodes).
 */

/* Request classes (SPEC 4.5): bits, so that a class is built without a branch. */
enum kvl_class_bit {
	KVL_CLASS_WRITE = 1 << 0,
	KVL_CLASS_HOT = 1 << 1,
	KVL_CLASS_LARGE = 1 << 2,
};
#define KVL_CLASSES 8

#define KVL_LARGE_VALUE 1024 /* bytes of a value from which on a write is of the large class */

enum kvl_node_flag {
	KVL_NODE_PRESENT = 1 << 0, /* the number is in use */
	KVL_NODE_NEXTHOP = 1 << 1, /* mac and egress are valid */
	KVL_NODE_SNAT = 1 << 2,    /* snat is valid: usable in nat mode */
};

/* A node as a worker sees it; one cache line. */
struct kvl_root_node {
	struct kvl_addr address;
	struct kvl_addr snat; /* what nat puts as source: the egress port's address */
	uint16_t port;        /* UDP, host order */
	uint16_t egress;      /* index of the router's port, not DPDK's id */
	uint8_t mac[6];       /* next hop */
	uint8_t source_mac[6];
	uint8_t flags; /* enum kvl_node_flag */
	uint8_t pad;
	uint16_t try_ms;      /* a read may be asked of another holder after this; from its p99 */
	uint32_t version_lag; /* versions; 0 when unknown: the bound is for nodes known to lag */
	uint16_t payload_max; /* of UDP, that the egress port's MTU allows toward it */
	uint8_t pads[6];
};
_Static_assert(sizeof(struct kvl_root_node) == 64, "one cache line a node");

/* What a service wants beyond the ordinary way; without any bit the hot path pays one branch. */
enum kvl_policy_bit {
	KVL_POLICY_GUARD = 1 << 0,  /* clients, client_rate, amplification */
	KVL_POLICY_RULES = 1 << 1,  /* by key prefix */
	KVL_POLICY_CHOICE = 1 << 2, /* consistency, lag, tenant, bound on what is in flight */
};

struct kvl_root_service {
	struct kvl_addr address;
	uint16_t port;                /* host order */
	uint16_t number;              /* stable, see numbers.h */
	uint8_t mode : 4, policy : 4; /* enum kvl_mode; kvl_policy_bit: has a kvl_root_policy */
	uint8_t replication : 4;
	uint8_t retries : 4; /* reads may be asked of so many further holders; nat only */
	uint8_t choice;      /* enum kvl_choice, among the candidates of a read when N > 1 */
	uint8_t keyless : 2, partial : 2; /* enum kvl_keyless, kvl_partial */
	uint8_t encapsulation : 2;        /* dsr: enum kvl_encapsulation */
	uint32_t timeout_ms;
	uint32_t explore; /* `least`: of 2^32 draws so many go to any candidate by chance */
	struct kvl_hash_rule hash_rule;
	uint16_t gue_port; /* host order */
	uint16_t member_count;
	uint64_t seed;
	const struct kvl_placement *placement; /* on the reader's NUMA node; outlives the root */
	/* Numbers of the nodes in its pool; a root has its own copy, in the order given. */
	const uint16_t *members;
};
_Static_assert(sizeof(struct kvl_root_service) == 64, "one cache line a service");

#define KVL_TENANT_NONE UINT8_MAX
#define KVL_LAG_ANY     UINT32_MAX

/*
 * The rest of what a service's policies say, by the index of the service; read only when its
 * `policy` has a bit. A prefix rule makes a service of its own: the same but for what it overrides.
 * So the rule's terms need no look-up further down the way: the packet's service is exchanged.
 */
struct kvl_root_policy {
	const struct kvl_rules *rules; /* NULL: none; targets are indices of services */
	uint8_t clients_listed;        /* not 0: who is in no list is denied */
	uint8_t client_bit;            /* of this service in the sets of clients */
	uint8_t strong;                /* reads go where writes go */
	uint8_t tenant;                /* number; KVL_TENANT_NONE */
	uint32_t lag_most;             /* versions; KVL_LAG_ANY */
	uint32_t in_flight_most;       /* of one worker at one node; 0: no bound */
	struct kvl_client_rate client_rate;
	struct kvl_amplification amplification;
	uint16_t rule; /* of a rule's service: index in the configuration; KVL_RULE_NONE */
	uint8_t pads[22];
};
_Static_assert(sizeof(struct kvl_root_policy) == 64, "one cache line a service");

/* A tenant's bounds for one worker: its part of what is configured. */
struct kvl_root_tenant {
	uint32_t rate, burst; /* requests; rate 0: the number is not in use */
	uint32_t node_most;   /* requests to one node within a second */
};

/* A rule as the control core describes it. */
struct kvl_root_rule {
	uint16_t service; /* index of the service whose keys it takes */
	struct kvl_rule rule;
};

struct kvl_clients; /* dataplane/clients.h: the sets of services by client prefix */

/* The hash of a key by the service's rule, seed and placement: what its lookups take. */
static inline uint64_t kvl_service_hash(
	const struct kvl_root_service *s, const uint8_t *key, size_t len)
{
	if (__builtin_expect(s->hash_rule.on, 0))
		kvl_hash_part(&s->hash_rule, &key, &len);
	return kvl_placement_key_hash(s->placement, key, len, s->seed);
}

#define KVL_VIP_SLOTS       256 /* at least twice KVL_SERVICES_MAX: short probes */
#define KVL_VIP_EMPTY       UINT8_MAX
#define KVL_PORT_BITS       1024
#define KVL_SERVICE_NUMBERS (4 * KVL_SERVICES_MAX) /* stable numbers are below this */

struct kvl_root {
	uint64_t revision;   /* of the topology; shown, and compared between routers */
	uint64_t generation; /* of this publication */
	uint32_t service_count;
	uint32_t node_count; /* highest number in use + 1 */
	uint32_t size;       /* bytes of the whole block */
	uint32_t nodes_off, services_off, weights_off, handicaps_off;
	uint32_t policies_off; /* 0: no service has any */
	uint32_t tenants_off;
	uint32_t tenant_count;                  /* highest number + 1 */
	uint32_t policies;                      /* enum kvl_policy_bit of all services together */
	const struct kvl_clients *clients;      /* outlives the root; NULL: no service lists any */
	uint8_t by_number[KVL_SERVICE_NUMBERS]; /* index into services; KVL_VIP_EMPTY */
	uint64_t server_ports[KVL_PORT_BITS
			      / 64]; /* bit port % KVL_PORT_BITS: a server may have it */
	uint8_t vip[KVL_VIP_SLOTS];  /* index into services, open addressing by (address, port) */
};

/*
 * What the control core gathered for one root. `weights` is [KVL_CLASSES][node_count]; a weight of
 * 0 takes the node out (the hard filter's verdict), any other is its share in a draw.
 */
struct kvl_root_spec {
	uint64_t revision, generation;
	const struct kvl_root_service *services;
	uint32_t service_count;
	const struct kvl_root_node *nodes; /* by number */
	uint32_t node_count;
	const uint16_t *weights;
	/* Services of rules stand behind the service_count others; policies are of all of them.
	 * Without policies none of the bits may be set. */
	uint32_t variant_count;
	const struct kvl_root_policy *policies; /* `rules` is filled in by kvl_root_init() */
	const struct kvl_root_rule *rules;      /* those of a service side by side */
	uint32_t rule_count;
	const struct kvl_root_tenant *tenants; /* by number */
	uint32_t tenant_count;
	const struct kvl_clients *clients;
	/* These placements, with these nodes, have been checked in a root before: rows are not walked
	 * again, which would cost a millisecond for each 100,000 tokens. */
	bool rows_known;
};

size_t kvl_root_size(const struct kvl_root_spec *spec);

/*
 * Lays the root out in `memory` (kvl_root_size() bytes, 64-byte aligned) and checks it whole:
 * every node number in every row, every egress below `port_count`, duplicate VIPs, every target of
 * a rule and number of a tenant. Returns 0, -EINVAL (an index would lead astray), or -EEXIST (two
 * services of one address and port). The memory is the caller's in every case.
 */
int kvl_root_init(void *memory, const struct kvl_root_spec *spec, uint32_t port_count);

static inline const struct kvl_root_node *kvl_root_nodes(const struct kvl_root *root)
{
	return (const void *)((const char *)root + root->nodes_off);
}

static inline const struct kvl_root_service *kvl_root_services(const struct kvl_root *root)
{
	return (const void *)((const char *)root + root->services_off);
}

/* Of a service, or a rule's, with a policy bit. */
static inline const struct kvl_root_policy *kvl_root_policy(
	const struct kvl_root *root, const struct kvl_root_service *service)
{
	const struct kvl_root_policy *all = (const void *)((const char *)root + root->policies_off);

	return &all[service - kvl_root_services(root)];
}

static inline const struct kvl_root_tenant *kvl_root_tenants(const struct kvl_root *root)
{
	return (const void *)((const char *)root + root->tenants_off);
}

/* The service of a stable number; NULL when it has gone. */
static inline const struct kvl_root_service *kvl_root_service_numbered(
	const struct kvl_root *root, uint16_t number)
{
	uint8_t index = number < KVL_SERVICE_NUMBERS ? root->by_number[number] : KVL_VIP_EMPTY;

	return index == KVL_VIP_EMPTY ? NULL : &kvl_root_services(root)[index];
}

/* The service by whose terms a key is served: that of its rule, or the same. With KVL_POLICY_RULES
 * only. */
static inline const struct kvl_root_service *kvl_root_rule_service(const struct kvl_root *root,
	const struct kvl_root_service *service, const uint8_t *key, size_t len)
{
	const struct kvl_rules *rules = kvl_root_policy(root, service)->rules;
	unsigned int rule = kvl_rules_match(rules, key, len);

	return rule == KVL_RULE_NONE ? service
				     : &kvl_root_services(root)[rules->rules[rule].target];
}

/* The weights of one class, by node number. */
static inline const uint16_t *kvl_root_weights(const struct kvl_root *root, unsigned int class)
{
	const uint16_t *all = (const void *)((const char *)root + root->weights_off);

	return all + (size_t) class * root->node_count;
}

/* kvl_handicap() of each weight of one class. */
static inline const float *kvl_root_handicaps(const struct kvl_root *root, unsigned int class)
{
	const float *all = (const void *)((const char *)root + root->handicaps_off);

	return all + (size_t) class * root->node_count;
}

/*
 * First slot of a VIP, of the address's halves as they lie in memory. Fibonacci hashing: the
 * product's top bits mix all input bits.
 */
static inline uint32_t kvl_vip_slot(uint64_t high, uint64_t low, uint16_t port)
{
	uint64_t x = (low ^ high * 0xff51afd7ed558ccdull ^ port) * 0x9e3779b97f4a7c15ull;

	return x >> 56;
}

static inline const struct kvl_root_service *kvl_root_service_find(
	const struct kvl_root *root, uint64_t high, uint64_t low, uint16_t port)
{
	const struct kvl_root_service *services = kvl_root_services(root);
	uint32_t slot = kvl_vip_slot(high, low, port);

	while (root->vip[slot] != KVL_VIP_EMPTY) {
		const struct kvl_root_service *s = &services[root->vip[slot]];

		if (kvl_addr_low(&s->address) == low && s->port == port
			&& kvl_addr_high(&s->address) == high)
			return s;
		slot = (slot + 1) % KVL_VIP_SLOTS;
	}
	return NULL;
}

/* The service of an address and port (host order); NULL when there is none. */
static inline const struct kvl_root_service *kvl_root_service_at(
	const struct kvl_root *root, const struct kvl_addr *address, uint16_t port)
{
	return kvl_root_service_find(root, kvl_addr_high(address), kvl_addr_low(address), port);
}

#define KVL_EPHEMERAL_FIRST 32768 /* Linux's; a client may well have such a port */

/*
 * Whether what says it is a client is a server: one of our nodes or services, or whoever uses the
 * service's own well-known port. It would take the answer for a request: a loop without end, or
 * commands at a node that nobody has validated (a value's bytes are the asker's to choose).
 */
bool kvl_root_is_server(const struct kvl_root *root, const struct kvl_addr *address, uint16_t port,
	uint16_t service_port);

/* Whether a server may have that port: spares nearly all clients the walk over the nodes. */
static inline bool kvl_root_port_is_servers(const struct kvl_root *root, uint16_t port)
{
	uint32_t bit = port % KVL_PORT_BITS;

	return root->server_ports[bit / 64] >> (bit % 64) & 1;
}

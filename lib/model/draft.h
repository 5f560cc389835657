/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lib/model/config.h"
#include "lib/model/walk.h"

/*
 * A configuration while it is read: what was given, and where each value stands, so that a check
 * across parts can point at it. Made into a kvl_config at the end, if nothing is wrong.
 */
enum service_field {
	SERVICE_NAME,
	SERVICE_ADDRESS,
	SERVICE_PORT,
	SERVICE_MODE,
	SERVICE_ENCAPSULATION,
	SERVICE_GUE_PORT,
	SERVICE_POOL,
	SERVICE_PLACEMENT,
	SERVICE_REPLICATION,
	SERVICE_VNODES,
	SERVICE_SEED,
	SERVICE_TIMEOUT,
	SERVICE_SCORING,
	SERVICE_KEYLESS,
	SERVICE_PARTIAL,
	SERVICE_RETRIES,
	SERVICE_HASH_TAG,
	SERVICE_HASH_SEPARATOR,
	SERVICE_CLIENTS,
	SERVICE_CLIENT_RATE,
	SERVICE_AMPLIFICATION,
	SERVICE_CONSISTENCY,
	SERVICE_MAX_VERSION_LAG,
	SERVICE_MAX_IN_FLIGHT,
	SERVICE_RULES,
	SERVICE_FIELDS,
};

struct service_draft {
	struct kvl_service_config config;
	struct pos at[SERVICE_FIELDS];
	char path[32]; /* "services[3]" */
	bool faulty;   /* some of config is not what was written */
};

enum node_field {
	NODE_ID,
	NODE_ADDRESS,
	NODE_PORT,
	NODE_HOST,
	NODE_ZONE,
	NODE_POOL,
	NODE_KETAMA_NAME,
	NODE_WEIGHT,
	NODE_NEXTHOP,
	NODE_FIELDS,
};

struct node_draft {
	struct kvl_node_config config;
	struct pos at[NODE_FIELDS];
	char path[32];
	bool left_out;
};

struct draft {
	struct kvl_config *config;       /* router, health, topology */
	const struct kvl_config *former; /* in force before; NULL = nothing */
	struct kvl_port_config ports[KVL_PORTS_MAX];
	size_t port_count;
	struct service_draft services[KVL_SERVICES_MAX];
	size_t service_count;
	struct kvl_tenant_config tenants[KVL_TENANTS_MAX];
	size_t tenant_count;
	struct node_draft *nodes; /* KVL_NODES_MAX of them; sorted by id when all are read */
	size_t node_count;        /* those left out included */
	size_t nodes_rejected;    /* left out before they were one of the above, too */
	size_t nodes_kept;        /* not left out, by their former definition */
	struct pos nodes_at, ports_at, topology_at;
	char topology[4096]; /* as written */
};

/* A draft full of defaults, or NULL without memory. */
struct draft *draft_new(void);

/*
 * Ends a draft (NULL: there never was one). With ret 0 and no error said it becomes the
 * configuration; otherwise NULL with errno, and an error is said if none was.
 */
struct kvl_config *draft_result(
	struct draft *d, int ret, const char *name, struct kvl_diags *diags);

/* Parts of the file: what walk_map() calls for `router:` and so on. object is the draft. */
void router_walk(struct walk *w, yaml_node_t *value, const char *path, void *object);
void health_walk(struct walk *w, yaml_node_t *value, const char *path, void *object);
void reports_walk(struct walk *w, yaml_node_t *value, const char *path, void *object);
void http_walk(struct walk *w, yaml_node_t *value, const char *path, void *object);
void ports_walk(struct walk *w, yaml_node_t *value, const char *path, void *object);
void services_walk(struct walk *w, yaml_node_t *value, const char *path, void *object);
void nodes_walk(struct walk *w, yaml_node_t *value, const char *path, void *object);
void tenants_walk(struct walk *w, yaml_node_t *value, const char *path, void *object);

/* Parts of a service; object is its kvl_service_config. */
void clients_walk(struct walk *w, yaml_node_t *value, const char *path, void *object);
void client_rate_walk(struct walk *w, yaml_node_t *value, const char *path, void *object);
void amplification_walk(struct walk *w, yaml_node_t *value, const char *path, void *object);
void rules_walk(struct walk *w, yaml_node_t *value, const char *path, void *object);

/* Setters that a service and its rules share. */
int set_hash_tag(const struct field *f, const char *text, void *to, char *why, size_t size);
int set_hash_separator(const struct field *f, const char *text, void *to, char *why, size_t size);
int set_choice_rule(const struct field *f, const char *text, void *to, char *why, size_t size);
int set_decimal(const struct field *f, const char *text, void *to, char *why, size_t size);
extern const struct choice consistencies[];

void router_defaults(struct kvl_config *config);

/*
 * What only the whole can tell. `services` is the walk of the file they stand in, `nodes` that of
 * the nodes' file: the same one, or the topology's.
 */
void nodes_check(struct draft *d, struct walk *nodes);
void services_check(struct draft *d, struct walk *services);
void policies_check(struct draft *d, struct walk *services);
void nodes_services_check(struct draft *d, struct walk *nodes);
void pools_check(struct draft *d, struct walk *services, struct walk *nodes);

/*
 * Says why, and leaves this node out; or puts the definition in its place that was in force before,
 * to be checked in turn. Not when that is what is bad, or when its id is another node's.
 */
__attribute__((format(printf, 6, 7))) void node_reject(struct draft *d, struct walk *w,
	struct node_draft *node, enum node_field field, const char *value, const char *format, ...);

/* config_scoring.c */
void scoring_walk(struct walk *w, yaml_node_t *value, const char *path, void *object);
struct kvl_scoring_config scoring_default(void);

extern const struct field service_fields[SERVICE_FIELDS];
extern const struct field node_fields[NODE_FIELDS];

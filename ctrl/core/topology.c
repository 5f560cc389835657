/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>

#include "ctrl/core/topology.h"
#include "lib/ring/lookup.h"

static int nodes_number(struct kvl_topology *t, const struct kvl_config *config,
	const struct kvl_topology_params *params, struct kvl_diags *diags)
{
	t->nodes = calloc(params->node_max, sizeof(*t->nodes));
	t->ownership = calloc(params->node_max, sizeof(*t->ownership));
	if (t->nodes == NULL || t->ownership == NULL)
		return -ENOMEM;

	for (size_t i = 0; i < config->node_count; i++) {
		uint16_t n =
			kvl_numbers_take(params->node_numbers, config->nodes[i].id, params->now_ms);

		if (n == KVL_NUMBER_NONE) {
			kvl_diag_add(diags, KVL_DIAG_NODE,
				"node %s: left out: all %u node numbers are in use or were within "
				"the last minute: raise router.max_nodes, or reload later",
				config->nodes[i].id, params->node_max);
			continue;
		}
		t->nodes[n] = config->nodes[i];
		if (n >= t->node_count)
			t->node_count = n + 1;
	}
	return 0;
}

/* The members of a pool; the strings stay the topology's. */
static uint32_t members_collect(
	const struct kvl_topology *t, const char *pool, struct kvl_member *members)
{
	uint32_t count = 0;

	for (uint32_t n = 0; n < t->node_count; n++) {
		const struct kvl_node_config *node = &t->nodes[n];

		if (node->id[0] == '\0' || strcmp(node->pool, pool) != 0)
			continue;
		members[count++] = (struct kvl_member){
			.id = node->id,
			.host = node->host,
			.zone = node->zone,
			.weight = node->weight,
			.number = n,
			.server = node->ketama_name,
		};
	}
	return count;
}

/* The first service of a pool tells what its nodes own. */
static void ownership_fill(struct kvl_topology *t, const struct kvl_topology_service *service)
{
	for (uint32_t n = 0; n < t->node_count; n++)
		if (t->ownership[n] == 0 && strcmp(t->nodes[n].pool, service->config.pool) == 0)
			t->ownership[n] = kvl_placement_share(service->master, n);
}

static int replicas_copy(
	struct kvl_topology *t, uint32_t service, const struct kvl_topology_params *params)
{
	const struct kvl_placement *master = t->services[service].master;
	size_t size = kvl_placement_size(master);

	for (uint16_t r = 0; r < params->replica_count; r++) {
		void *copy = rte_malloc_socket(
			"kvl_placement", size, KVL_PLACEMENT_ALIGN, params->sockets[r]);

		if (copy == NULL)
			return -ENOMEM;
		memcpy(copy, master, size);
		t->replicas[r * t->service_count + service] = copy;
	}
	return 0;
}

static int service_build(struct kvl_topology *t, uint32_t i,
	const struct kvl_service_config *config, const struct kvl_topology_params *params,
	struct kvl_diags *diags)
{
	struct kvl_topology_service *s = &t->services[i];
	struct kvl_member *members = calloc(t->node_count + 1, sizeof(*members));
	int rc;

	if (members == NULL)
		return -ENOMEM;
	s->config = *config;
	s->number = kvl_numbers_take(params->service_numbers, config->name, params->now_ms);
	s->nodes = members_collect(t, config->pool, members);
	s->master = kvl_placement_build(&config->placement, members, s->nodes);
	rc = s->master == NULL ? -errno : 0;
	free(members);
	if (s->number == KVL_NUMBER_NONE) {
		kvl_diag_add(diags, KVL_DIAG_ERROR,
			"service %s: all service numbers are in use or were within the last "
			"minute: reload later",
			config->name);
		return -EAGAIN;
	}
	if (rc < 0) {
		kvl_diag_add(diags, KVL_DIAG_ERROR, "service %s: cannot build its placement: %s",
			config->name, strerror(-rc));
		return rc;
	}
	ownership_fill(t, s);
	return replicas_copy(t, i, params);
}

static int services_build(struct kvl_topology *t, const struct kvl_config *config,
	const struct kvl_topology_params *params, struct kvl_diags *diags)
{
	t->service_count = config->service_count;
	t->replica_count = params->replica_count;
	t->services = calloc(config->service_count + 1, sizeof(*t->services));
	t->replicas = calloc(
		(size_t)params->replica_count * config->service_count + 1, sizeof(*t->replicas));
	if (t->services == NULL || t->replicas == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->service_count; i++) {
		int rc = service_build(t, i, &config->services[i], params, diags);

		if (rc < 0)
			return rc;
	}
	return 0;
}

/* A table is large and costs time, so it is kept as long as the lists are what they were. */
static int clients_build(struct kvl_topology *t, const struct kvl_config *config,
	const struct kvl_topology_params *params, struct kvl_diags *diags)
{
	struct kvl_client_list lists[KVL_SERVICES_MAX];
	struct kvl_clients *former = params->former == NULL ? NULL : params->former->clients;
	struct kvl_client_sets *sets;

	for (size_t i = 0; i < config->service_count; i++)
		lists[i] = (struct kvl_client_list){config->services[i].policy.clients,
			config->services[i].policy.client_count};
	sets = kvl_client_sets_new(lists, config->service_count);
	if (sets == NULL)
		return -errno;
	if (sets->count == 0 || (former != NULL && kvl_client_sets_same(sets, former->source))) {
		t->clients = sets->count == 0 ? NULL : kvl_clients_get(former);
		kvl_client_sets_free(sets);
		return 0;
	}
	t->clients = kvl_clients_new(sets, SOCKET_ID_ANY);
	if (t->clients != NULL)
		return 0;
	kvl_diag_add(diags, KVL_DIAG_ERROR,
		"clients: cannot build their table (%s): it takes 64 MB of hugepages for each "
		"family "
		"of addresses, and as much again while a new one takes its place",
		strerror(errno));
	return -errno;
}

struct kvl_topology *kvl_topology_new(const struct kvl_config *config,
	const struct kvl_topology_params *params, struct kvl_diags *diags)
{
	struct kvl_topology *t = calloc(1, sizeof(*t));
	int rc = t == NULL ? -ENOMEM : 0;

	if (rc == 0) {
		t->references = 1;
		t->revision = params->revision;
		rc = nodes_number(t, config, params, diags);
	}
	if (rc == 0)
		rc = services_build(t, config, params, diags);
	if (rc == 0)
		rc = clients_build(t, config, params, diags);
	if (rc == 0)
		return t;

	if (rc == -ENOMEM)
		kvl_diag_add(diags, KVL_DIAG_ERROR, "not enough memory for this topology");
	kvl_topology_put(t);
	errno = -rc;
	return NULL;
}

struct kvl_topology *kvl_topology_get(struct kvl_topology *t)
{
	t->references++;
	return t;
}

void kvl_topology_put(struct kvl_topology *t)
{
	if (t == NULL || --t->references != 0)
		return;
	for (size_t i = 0; t->replicas != NULL && i < (size_t)t->replica_count * t->service_count;
		i++)
		rte_free(t->replicas[i]);
	for (uint32_t i = 0; t->services != NULL && i < t->service_count; i++)
		free((void *)t->services[i].master);
	kvl_clients_put(t->clients);
	free(t->replicas);
	free(t->services);
	free(t->nodes);
	free(t->ownership);
	free(t);
}

const struct kvl_topology_service *kvl_topology_service(
	const struct kvl_topology *t, const char *name)
{
	for (uint32_t i = 0; i < t->service_count; i++)
		if (name == NULL || strcmp(t->services[i].config.name, name) == 0)
			return &t->services[i];
	return NULL;
}

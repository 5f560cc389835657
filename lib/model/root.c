/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "lib/model/root.h"
#include "lib/ring/lookup.h"

#define LINE 64u

static uint32_t line_up(size_t n)
{
	return (n + LINE - 1) & ~(size_t)(LINE - 1);
}

static uint32_t members_total(const struct kvl_root_spec *spec)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < spec->service_count; i++)
		n += spec->services[i].member_count;
	return n;
}

size_t kvl_root_size(const struct kvl_root_spec *spec)
{
	return line_up(sizeof(struct kvl_root))
	       + line_up(spec->service_count * sizeof(struct kvl_root_service))
	       + line_up(spec->node_count * sizeof(struct kvl_root_node))
	       + line_up((size_t)KVL_CLASSES * spec->node_count * sizeof(uint16_t))
	       + line_up(members_total(spec) * sizeof(uint16_t));
}

/* Copies every service's members to `at` and points the root's services at them. */
static int members_fill(struct kvl_root *root, const struct kvl_root_spec *spec, uint16_t *at)
{
	struct kvl_root_service *services = (void *)((char *)root + root->services_off);
	const struct kvl_root_node *nodes = kvl_root_nodes(root);

	for (uint32_t i = 0; i < root->service_count; i++) {
		for (uint32_t k = 0; k < services[i].member_count; k++) {
			uint16_t n = spec->services[i].members[k];

			if (n >= root->node_count || !(nodes[n].flags & KVL_NODE_PRESENT))
				return -EINVAL;
			at[k] = n;
		}
		services[i].members = at;
		at += services[i].member_count;
	}
	return 0;
}

static int vips_fill(struct kvl_root *root)
{
	const struct kvl_root_service *services = kvl_root_services(root);

	memset(root->vip, KVL_VIP_EMPTY, sizeof(root->vip));
	for (uint32_t i = 0; i < root->service_count; i++) {
		const struct kvl_addr *address = &services[i].address;
		uint32_t slot = kvl_vip_slot(
			kvl_addr_high(address), kvl_addr_low(address), services[i].port);

		if (kvl_root_service_at(root, address, services[i].port) != NULL)
			return -EEXIST;
		while (root->vip[slot] != KVL_VIP_EMPTY)
			slot = (slot + 1) % KVL_VIP_SLOTS;
		root->vip[slot] = i;
	}
	return 0;
}

/* A row may name only nodes that are there: the hot path follows these indices unchecked. */
static int rows_check(const struct kvl_root *root, const struct kvl_placement *placement)
{
	const struct kvl_root_node *nodes = kvl_root_nodes(root);
	uint32_t tokens = kvl_placement_tokens(placement);

	for (uint32_t t = 0; t < tokens; t++) {
		const struct kvl_row *row = kvl_placement_row(placement, t);

		for (unsigned int i = 0; i < KVL_ROW_MAX; i++) {
			uint16_t n = row->node[i];

			if (n == KVL_NODE_NONE)
				break;
			if (n >= root->node_count || !(nodes[n].flags & KVL_NODE_PRESENT))
				return -EINVAL;
		}
	}
	return 0;
}

static int root_check(
	const struct kvl_root *root, const struct kvl_root_spec *spec, uint32_t port_count)
{
	const struct kvl_root_service *services = kvl_root_services(root);
	const struct kvl_root_node *nodes = kvl_root_nodes(root);
	int rc = 0;

	for (uint32_t i = 0; i < root->service_count; i++) {
		if (services[i].placement == NULL || services[i].replication == 0
			|| services[i].replication > KVL_REPLICATION_MAX
			|| services[i].timeout_ms == 0)
			return -EINVAL;
		if (!spec->rows_known)
			rc = rows_check(root, services[i].placement);
		if (rc < 0)
			return rc;
	}
	for (uint32_t n = 0; n < root->node_count; n++)
		if ((nodes[n].flags & KVL_NODE_NEXTHOP) && nodes[n].egress >= port_count)
			return -EINVAL;
	return 0;
}

/* A node without a next hop must not be drawn, whatever the weights say. */
static int weights_check(const struct kvl_root *root)
{
	const struct kvl_root_node *nodes = kvl_root_nodes(root);

	for (unsigned int c = 0; c < KVL_CLASSES; c++) {
		const uint16_t *weights = kvl_root_weights(root, c);

		for (uint32_t n = 0; n < root->node_count; n++)
			if (weights[n] != 0 && !(nodes[n].flags & KVL_NODE_NEXTHOP))
				return -EINVAL;
	}
	return 0;
}

static void server_port_add(struct kvl_root *root, uint16_t port)
{
	uint32_t bit = port % KVL_PORT_BITS;

	root->server_ports[bit / 64] |= 1ull << (bit % 64);
}

static void server_ports_fill(struct kvl_root *root)
{
	for (uint32_t i = 0; i < root->service_count; i++)
		server_port_add(root, kvl_root_services(root)[i].port);
	for (uint32_t n = 0; n < root->node_count; n++)
		if (kvl_root_nodes(root)[n].flags & KVL_NODE_PRESENT)
			server_port_add(root, kvl_root_nodes(root)[n].port);
}

bool kvl_root_is_server(const struct kvl_root *root, const struct kvl_addr *address, uint16_t port,
	uint16_t service_port)
{
	const struct kvl_root_node *nodes = kvl_root_nodes(root);

	if (!kvl_root_port_is_servers(root, port))
		return false;
	if ((port == service_port && port < KVL_EPHEMERAL_FIRST)
		|| kvl_root_service_at(root, address, port) != NULL)
		return true;
	for (uint32_t n = 0; n < root->node_count; n++)
		if ((nodes[n].flags & KVL_NODE_PRESENT) && nodes[n].port == port
			&& kvl_addr_eq(&nodes[n].address, address))
			return true;
	return false;
}

int kvl_root_init(void *memory, const struct kvl_root_spec *spec, uint32_t port_count)
{
	struct kvl_root *root = memory;
	int rc;

	if (spec->service_count > KVL_SERVICES_MAX || spec->node_count > KVL_NODES_MAX)
		return -EINVAL;

	memset(root, 0, sizeof(*root));
	root->revision = spec->revision;
	root->generation = spec->generation;
	root->service_count = spec->service_count;
	root->node_count = spec->node_count;
	root->size = kvl_root_size(spec);
	root->services_off = line_up(sizeof(*root));
	root->nodes_off =
		root->services_off + line_up(spec->service_count * sizeof(*spec->services));
	root->weights_off = root->nodes_off + line_up(spec->node_count * sizeof(*spec->nodes));

	if (spec->service_count != 0)
		memcpy((char *)memory + root->services_off, spec->services,
			spec->service_count * sizeof(*spec->services));
	if (spec->node_count != 0) {
		memcpy((char *)memory + root->nodes_off, spec->nodes,
			spec->node_count * sizeof(*spec->nodes));
		memcpy((char *)memory + root->weights_off, spec->weights,
			(size_t)KVL_CLASSES * spec->node_count * sizeof(*spec->weights));
	}

	rc = members_fill(root, spec,
		(void *)((char *)memory + root->weights_off
			 + line_up((size_t)KVL_CLASSES * spec->node_count * sizeof(uint16_t))));
	server_ports_fill(root);
	if (rc == 0)
		rc = vips_fill(root);
	if (rc == 0)
		rc = root_check(root, spec, port_count);
	if (rc == 0)
		rc = weights_check(root);
	return rc;
}

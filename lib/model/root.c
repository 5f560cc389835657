/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "lib/model/root.h"
#include "lib/score/weights.h"
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

static uint32_t services_all(const struct kvl_root_spec *spec)
{
	return spec->service_count + spec->variant_count;
}

/* Rules of the service from *at on; moves *at behind them. */
static uint32_t rules_of(const struct kvl_root_spec *spec, uint32_t service, uint32_t *at)
{
	uint32_t first = *at;

	while (*at < spec->rule_count && spec->rules[*at].service == service)
		++*at;
	return *at - first;
}

static size_t rules_size(const struct kvl_root_spec *spec)
{
	size_t size = 0;
	uint32_t at = 0;

	for (uint32_t i = 0; i < spec->service_count; i++) {
		uint32_t count = rules_of(spec, i, &at);

		size += count != 0 ? line_up(kvl_rules_size(count)) : 0;
	}
	return size;
}

static size_t policies_size(const struct kvl_root_spec *spec)
{
	if (spec->policies == NULL)
		return 0;
	return services_all(spec) * sizeof(*spec->policies)
	       + line_up(spec->tenant_count * sizeof(*spec->tenants)) + rules_size(spec);
}

static size_t weights_size(const struct kvl_root_spec *spec)
{
	return line_up((size_t)KVL_CLASSES * spec->node_count * sizeof(*spec->weights));
}

static size_t handicaps_size(const struct kvl_root_spec *spec)
{
	return line_up((size_t)KVL_CLASSES * spec->node_count * sizeof(float));
}

size_t kvl_root_size(const struct kvl_root_spec *spec)
{
	return line_up(sizeof(struct kvl_root))
	       + line_up(services_all(spec) * sizeof(struct kvl_root_service))
	       + line_up(spec->node_count * sizeof(struct kvl_root_node)) + weights_size(spec)
	       + handicaps_size(spec) + line_up(members_total(spec) * sizeof(uint16_t))
	       + policies_size(spec);
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
	memset(root->by_number, KVL_VIP_EMPTY, sizeof(root->by_number));
	for (uint32_t i = 0; i < root->service_count; i++) {
		const struct kvl_addr *address = &services[i].address;
		uint32_t slot = kvl_vip_slot(
			kvl_addr_high(address), kvl_addr_low(address), services[i].port);

		if (kvl_root_service_at(root, address, services[i].port) != NULL)
			return -EEXIST;
		while (root->vip[slot] != KVL_VIP_EMPTY)
			slot = (slot + 1) % KVL_VIP_SLOTS;
		root->vip[slot] = i;
		if (services[i].number >= KVL_SERVICE_NUMBERS)
			return -EINVAL;
		root->by_number[services[i].number] = i;
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

	for (uint32_t i = 0; i < services_all(spec); i++) {
		if (services[i].placement == NULL || services[i].replication == 0
			|| services[i].replication > KVL_REPLICATION_MAX
			|| services[i].timeout_ms == 0)
			return -EINVAL;
		if (!spec->rows_known && i < root->service_count)
			rc = rows_check(root, services[i].placement);
		if (rc < 0)
			return rc;
	}
	for (uint32_t n = 0; n < root->node_count; n++)
		if ((nodes[n].flags & KVL_NODE_NEXTHOP) && nodes[n].egress >= port_count)
			return -EINVAL;
	return 0;
}

static void handicaps_fill(struct kvl_root *root, const struct kvl_root_spec *spec)
{
	float *handicaps = (void *)((char *)root + root->handicaps_off);

	for (size_t i = 0; i < (size_t)KVL_CLASSES * spec->node_count; i++)
		handicaps[i] = kvl_handicap(spec->weights[i]);
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

/* Of the services of rules, whose placement is that of the service they belong to. */
static int variants_check(const struct kvl_root *root, const struct kvl_root_spec *spec)
{
	const struct kvl_root_service *services = kvl_root_services(root);

	if (spec->policies == NULL && (spec->variant_count != 0 || root->policies != 0))
		return -EINVAL;
	for (uint32_t i = 0; i < spec->rule_count; i++) {
		const struct kvl_root_rule *r = &spec->rules[i];

		if (r->service >= root->service_count || r->rule.target < root->service_count
			|| r->rule.target >= services_all(spec)
			|| services[r->rule.target].placement != services[r->service].placement
			|| services[r->rule.target].member_count != 0
			|| (services[r->rule.target].policy & KVL_POLICY_RULES))
			return -EINVAL;
	}
	return 0;
}

static int policies_check(const struct kvl_root *root, const struct kvl_root_spec *spec)
{
	for (uint32_t i = 0; i < services_all(spec) && spec->policies != NULL; i++) {
		const struct kvl_root_policy *p = &spec->policies[i];

		if (p->tenant != KVL_TENANT_NONE
			&& (p->tenant >= spec->tenant_count || spec->tenants[p->tenant].rate == 0))
			return -EINVAL;
		if (p->client_bit >= 64 || (p->clients_listed && root->clients == NULL))
			return -EINVAL;
	}
	return 0;
}

/* The tables of rules, from `at` on. */
static int rules_fill(struct kvl_root *root, const struct kvl_root_spec *spec,
	struct kvl_root_policy *policies, char *at)
{
	const struct kvl_root_service *services = kvl_root_services(root);
	struct kvl_rule list[KVL_RULES_MAX];
	uint32_t taken = 0;

	for (uint32_t i = 0; i < spec->service_count; i++) {
		uint32_t first = taken, count = rules_of(spec, i, &taken);

		if (count > KVL_RULES_MAX || !(services[i].policy & KVL_POLICY_RULES) != !count)
			return -EINVAL;
		for (uint32_t k = 0; k < count; k++)
			list[k] = spec->rules[first + k].rule;
		if (count == 0)
			continue;
		if (kvl_rules_build(at, list, count) < 0)
			return -EINVAL;
		policies[i].rules = (void *)at;
		at += line_up(kvl_rules_size(count));
	}
	return taken == spec->rule_count ? 0 : -EINVAL; /* not side by side */
}

static int policies_fill(struct kvl_root *root, const struct kvl_root_spec *spec, uint32_t off)
{
	struct kvl_root_policy *policies = (void *)((char *)root + off);
	int rc;

	for (uint32_t i = 0; i < services_all(spec); i++)
		root->policies |= kvl_root_services(root)[i].policy;
	root->clients = spec->clients;
	rc = variants_check(root, spec);
	if (rc == 0)
		rc = policies_check(root, spec);
	if (rc < 0 || spec->policies == NULL)
		return rc;

	root->policies_off = off;
	memcpy(policies, spec->policies, services_all(spec) * sizeof(*policies));
	for (uint32_t i = 0; i < services_all(spec); i++)
		policies[i].rules = NULL;
	root->tenants_off = off + services_all(spec) * sizeof(*policies);
	root->tenant_count = spec->tenant_count;
	if (spec->tenant_count != 0)
		memcpy((char *)root + root->tenants_off, spec->tenants,
			spec->tenant_count * sizeof(*spec->tenants));
	return rules_fill(root, spec, policies,
		(char *)root + root->tenants_off
			+ line_up(spec->tenant_count * sizeof(*spec->tenants)));
}

int kvl_root_init(void *memory, const struct kvl_root_spec *spec, uint32_t port_count)
{
	struct kvl_root *root = memory;
	int rc;

	if (spec->service_count > KVL_SERVICES_MAX
		|| spec->variant_count > KVL_SERVICES_MAX * KVL_RULES_MAX
		|| spec->node_count > KVL_NODES_MAX)
		return -EINVAL;

	memset(root, 0, sizeof(*root));
	root->revision = spec->revision;
	root->generation = spec->generation;
	root->service_count = spec->service_count;
	root->node_count = spec->node_count;
	root->size = kvl_root_size(spec);
	root->services_off = line_up(sizeof(*root));
	root->nodes_off =
		root->services_off + line_up(services_all(spec) * sizeof(*spec->services));
	root->weights_off = root->nodes_off + line_up(spec->node_count * sizeof(*spec->nodes));
	root->handicaps_off = root->weights_off + (uint32_t)weights_size(spec);

	if (spec->service_count != 0)
		memcpy((char *)memory + root->services_off, spec->services,
			services_all(spec) * sizeof(*spec->services));
	if (spec->node_count != 0) {
		memcpy((char *)memory + root->nodes_off, spec->nodes,
			spec->node_count * sizeof(*spec->nodes));
		memcpy((char *)memory + root->weights_off, spec->weights,
			(size_t)KVL_CLASSES * spec->node_count * sizeof(*spec->weights));
		handicaps_fill(root, spec);
	}

	rc = members_fill(
		root, spec, (void *)((char *)memory + root->handicaps_off + handicaps_size(spec)));
	server_ports_fill(root);
	if (rc == 0)
		rc = policies_fill(root, spec, root->size - (uint32_t)policies_size(spec));
	if (rc == 0)
		rc = vips_fill(root);
	if (rc == 0)
		rc = root_check(root, spec, port_count);
	if (rc == 0)
		rc = weights_check(root);
	return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ctrl/core/clock.h"
#include "ctrl/core/nodes.h"

#define UDP_OVER_IPV4 28 /* bytes of headers in a packet's MTU */
#define UDP_OVER_IPV6 48

int kvl_nodes_init(
	struct kvl_nodes *nodes, uint32_t max, const struct kvl_port *ports, uint16_t port_count)
{
	*nodes = (struct kvl_nodes){.max = max, .ports = ports, .port_count = port_count};
	nodes->list = calloc(max, sizeof(*nodes->list));
	nodes->root_nodes = calloc(max, sizeof(*nodes->root_nodes));
	nodes->weights = calloc((size_t)max * KVL_CLASSES, sizeof(*nodes->weights));
	nodes->scoring = kvl_scoring_new(max);
	if (nodes->scoring == NULL || nodes->list == NULL || nodes->root_nodes == NULL
		|| nodes->weights == NULL) {
		kvl_nodes_free(nodes);
		return -ENOMEM;
	}
	return 0;
}

void kvl_nodes_free(struct kvl_nodes *nodes)
{
	kvl_scoring_free(nodes->scoring);
	free(nodes->list);
	free(nodes->root_nodes);
	free(nodes->weights);
	*nodes = (struct kvl_nodes){0};
}

static void node_begin(struct kvl_node *node, uint16_t number, struct kvl_worker *const *workers,
	uint16_t worker_count)
{
	memset(node, 0, sizeof(*node));
	node->present = true;
	node->hop_status = KVL_HOP_UNRESOLVED;
	kvl_tally_node(workers, worker_count, number, true, &node->base);
	node->seen = node->base;
}

static bool node_is_same(const struct kvl_node *node, const struct kvl_node_config *config)
{
	return node->present && strcmp(node->config.id, config->id) == 0
	       && kvl_addr_eq(&node->config.address, &config->address)
	       && node->config.port == config->port;
}

static void node_services_note(struct kvl_node *node, const struct kvl_topology *t)
{
	node->serves_nat = node->serves_link = node->serves_tunnel = false;
	for (uint32_t i = 0; i < t->service_count; i++) {
		const struct kvl_service_config *service = &t->services[i].config;

		if (strcmp(service->pool, node->config.pool) != 0)
			continue;
		node->serves_nat |= service->mode == KVL_MODE_NAT;
		node->serves_tunnel |= service->encapsulation != KVL_ENCAP_NONE;
		node->serves_link |=
			service->mode == KVL_MODE_DSR && service->encapsulation == KVL_ENCAP_NONE;
	}
}

void kvl_nodes_follow(struct kvl_nodes *nodes, const struct kvl_topology *t,
	struct kvl_worker *const *workers, uint16_t worker_count, uint64_t now_ms,
	void (*changed)(void *ctx, uint16_t number), void *ctx)
{
	nodes->count = t->node_count;
	for (uint32_t n = 0; n < nodes->max; n++) {
		struct kvl_node *node = &nodes->list[n];
		const struct kvl_node_config *config = &t->nodes[n];

		if (n >= t->node_count || config->id[0] == '\0') {
			if (node->present) {
				changed(ctx, n);
				kvl_scoring_leave(nodes->scoring, n);
			}
			node->present = false;
			continue;
		}
		if (!node_is_same(node, config)) {
			changed(ctx, n);
			node_begin(node, n, workers, worker_count);
			kvl_scoring_leave(nodes->scoring, n);
		}
		/* A pool that a service has come to use, or a node that changed pools. */
		if (kvl_scoring_node(nodes->scoring, n) == NULL
			|| strcmp(node->config.pool, config->pool) != 0)
			kvl_scoring_join(nodes->scoring, n, config->pool, now_ms);
		node->scored = kvl_scoring_node(nodes->scoring, n);
		node->config = *config;
		node_services_note(node, t);
	}
}

static bool node_is_kept(const struct kvl_config *config, const char *id)
{
	for (size_t i = 0; config->nodes_kept != 0 && i < config->node_count; i++)
		if (config->nodes[i].unconfirmed && strcmp(config->nodes[i].id, id) == 0)
			return true;
	return false;
}

void kvl_nodes_confirm(struct kvl_nodes *nodes, const struct kvl_config *config)
{
	for (uint32_t n = 0; n < nodes->count; n++) {
		struct kvl_node *node = &nodes->list[n];

		if (!node->present)
			continue;
		node->config.unconfirmed = node_is_kept(config, node->config.id);
		if (node->scored != NULL)
			node->scored->unconfirmed = node->config.unconfirmed;
	}
}

static bool port_find(const struct kvl_nodes *nodes, struct kvl_node *node)
{
	for (uint16_t i = 0; i < nodes->port_count; i++) {
		const struct kvl_port *port = &nodes->ports[i];

		if (node->config.has_nexthop
				? strcmp(port->config.name, node->config.nexthop_port) == 0
				: node->hop.ifindex != 0 && port->ifindex == node->hop.ifindex) {
			node->egress = i;
			return true;
		}
	}
	return false;
}

static void hop_find(
	const struct kvl_nodes *nodes, struct kvl_node *node, struct kvl_neighbours *neighbours)
{
	if (node->config.has_nexthop) {
		node->hop = (struct kvl_hop){.on_link = true};
		memcpy(node->hop.mac, node->config.nexthop_mac, sizeof(node->hop.mac));
		node->hop_status = KVL_HOP_OK;
	} else {
		node->hop_status =
			kvl_neighbours_hop(neighbours, &node->config.address, &node->hop);
	}
	node->has_egress = port_find(nodes, node);
}

/* In the order in which an operator would look for the cause. */
static const char *unreachable_reason(const struct kvl_nodes *nodes, const struct kvl_node *node)
{
	if (node->scored == NULL)
		return "no service uses its pool";
	if (node->hop_status != KVL_HOP_OK)
		return kvl_hop_status_text(node->hop_status);
	if (!node->has_egress)
		return "its route leaves by an interface that is none of the router's ports";
	if ((node->serves_nat || node->serves_tunnel)
		&& !nodes->ports[node->egress]
			    .config.has_snat[kvl_addr_family(&node->config.address)])
		return "the port toward it has no snat address of its family, which nat and "
		       "encapsulation need";
	if (node->serves_link && !node->hop.on_link)
		return "behind a gateway, which dsr crosses by encapsulation only";
	return NULL;
}

/* The hard filter's verdict in words; of plain reads. */
static const char *filter_reason(enum kvl_filter filter)
{
	switch (filter) {
	case KVL_FILTER_IN:
		return NULL;
	case KVL_FILTER_DOWN:
		return "down: no answer to requests or probes";
	case KVL_FILTER_COOLDOWN:
		return "cooldown: three low scores in a row, or it fell again";
	case KVL_FILTER_DRAINING:
		return "draining: takes no new work";
	case KVL_FILTER_EJECTED:
		return "ejected by an operator";
	default:
		return kvl_filter_name(filter);
	}
}

static const char *judged_reason(const struct kvl_scored_node *scored)
{
	/* Let in by fail-open: asked, but nothing to rely on. */
	if (scored->reason[0] == KVL_FILTER_IN && scored->own[0] == KVL_FILTER_DOWN)
		return "down, and asked all the same: its whole pool is";
	return filter_reason(scored->reason[0]);
}

bool kvl_nodes_resolve(struct kvl_nodes *nodes, struct kvl_neighbours *neighbours)
{
	bool changed = false;

	for (uint32_t n = 0; n < nodes->count; n++) {
		struct kvl_node *node = &nodes->list[n];
		struct kvl_node before = *node;

		if (!node->present)
			continue;
		hop_find(nodes, node, neighbours);
		node->unreachable = unreachable_reason(nodes, node);
		if (node->scored != NULL)
			node->scored->reachable = node->unreachable == NULL;
		changed |= before.hop_status != node->hop_status
			   || memcmp(before.hop.mac, node->hop.mac, sizeof(node->hop.mac)) != 0
			   || before.has_egress != node->has_egress || before.egress != node->egress
			   || before.unreachable != node->unreachable;
	}
	return changed;
}

/* SPEC 7: twice its p99; as long as that is not known the service's own timeout, which is less. */
static uint16_t try_ms(const struct kvl_node *node)
{
	struct kvl_retry_params params = kvl_retry_defaults();
	double p99 = node->scored == NULL ? 0 : node->scored->p99_us;

	params.timeout_cap_us = 60000000;
	return (uint16_t)((kvl_retry_timeout_us(&params, p99) + 999) / 1000);
}

uint32_t kvl_node_version_lag(const struct kvl_node *node)
{
	const struct kvl_scored_node *scored = node->scored;
	double lag = scored == NULL || scored->report_ms + KVL_LAG_TRUSTED_MS < kvl_now_ms()
			     ? NAN
			     : kvl_window_newest(&scored->windows[KVL_METRIC_VERSION_LAG]);

	return !(lag > 0) ? 0 : lag < KVL_LAG_ANY ? (uint32_t)lag : KVL_LAG_ANY - 1;
}

static void root_node_fill(
	const struct kvl_nodes *nodes, const struct kvl_node *node, struct kvl_root_node *root)
{
	const struct kvl_port *port = &nodes->ports[node->egress];
	const enum kvl_family family = kvl_addr_family(&node->config.address);

	*root = (struct kvl_root_node){
		.address = node->config.address,
		.port = node->config.port,
		.flags = KVL_NODE_PRESENT,
		.try_ms = try_ms(node),
		.version_lag = kvl_node_version_lag(node),
	};
	if (node->hop_status != KVL_HOP_OK || !node->has_egress)
		return;
	root->flags |= KVL_NODE_NEXTHOP;
	root->egress = node->egress;
	root->payload_max =
		port->frames.mtu - (kvl_addr_is_v4(&root->address) ? UDP_OVER_IPV4 : UDP_OVER_IPV6);
	memcpy(root->mac, node->hop.mac, sizeof(root->mac));
	memcpy(root->source_mac, port->mac, sizeof(root->source_mac));
	if (port->config.has_snat[family]) {
		root->snat = port->config.snat[family];
		root->flags |= KVL_NODE_SNAT;
	}
}

void kvl_nodes_judge(struct kvl_nodes *nodes, uint64_t now_ms)
{
	kvl_scoring_weights(nodes->scoring, now_ms, nodes->weights, nodes->count);
	nodes->eligible = 0;
	for (uint32_t n = 0; n < nodes->count; n++) {
		struct kvl_node *node = &nodes->list[n];

		if (!node->present)
			continue;
		node->reason = node->unreachable;
		if (node->reason == NULL)
			node->reason = judged_reason(node->scored);
		nodes->eligible += node->reason == NULL;
	}
}

void kvl_nodes_describe(struct kvl_nodes *nodes, uint64_t now_ms)
{
	kvl_nodes_judge(nodes, now_ms);
	for (uint32_t n = 0; n < nodes->count; n++) {
		if (nodes->list[n].present)
			root_node_fill(nodes, &nodes->list[n], &nodes->root_nodes[n]);
		else
			nodes->root_nodes[n] = (struct kvl_root_node){0};
	}
}

size_t kvl_nodes_watched(const struct kvl_nodes *nodes, struct kvl_addr *list)
{
	size_t count = 0;

	for (uint32_t n = 0; n < nodes->count; n++)
		if (nodes->list[n].present && !nodes->list[n].config.has_nexthop)
			list[count++] = nodes->list[n].config.address;
	return count;
}

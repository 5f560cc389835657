/* SPDX-License-Identifier: BSD-3-Clause */
#include <time.h>
#include <unistd.h>

#include <rte_ethdev.h>

#include "ctrl/api/commands.h"
#include "ctrl/api/format.h"
#include "ctrl/core/clock.h"
#include "ctrl/core/router.h"

static double busy_percent(const struct kvl_router *r, const struct kvl_counters *c)
{
	double elapsed = (double)(kvl_now_ms() - r->started_ms) / 1000 * (double)rte_get_tsc_hz();

	return elapsed > 0 ? 100 * (double)kvl_counter_read(&c->busy_cycles) / elapsed : 0;
}

static json_t *workers_list(const struct kvl_router *r)
{
	json_t *list = json_array();

	for (uint16_t i = 0; i < r->worker_count; i++) {
		const struct kvl_worker *w = r->workers[i];

		json_array_append_new(list,
			json_pack("{s:i, s:i, s:I, s:I, s:f, s:I, s:I, s:I}", "id", w->id, "lcore",
				(int)w->lcore, "revision",
				(json_int_t)kvl_counter_read(&w->running_revision), "generation",
				(json_int_t)kvl_counter_read(&w->running_generation), "busy_pct",
				busy_percent(r, &w->counters), "rx",
				(json_int_t)kvl_counter_read(&w->counters.rx), "tx",
				(json_int_t)kvl_counter_read(&w->counters.tx), "pending",
				(json_int_t)kvl_counter_read(&w->counters.pending)));
	}
	return list;
}

static const char *steering_name(const struct kvl_port *port)
{
	if (port->tap_fd >= 0)
		return "tap";
	switch (port->steering.kind) {
	case KVL_STEERING_XDP:
		return "xdp";
	case KVL_STEERING_TC:
		return "tc";
	default:
		return "none";
	}
}

static json_t *snat_text(const struct kvl_port_config *config, enum kvl_family family)
{
	char text[KVL_ADDR_STRLEN];

	return kvl_json_text(
		config->has_snat[family] ? kvl_addr_format(&config->snat[family], text) : NULL);
}

static json_t *port_object(const struct kvl_port *port)
{
	const struct kvl_port_config *config = &port->config;
	struct rte_eth_link link = {0};

	rte_eth_link_get_nowait(port->dpdk_port, &link);
	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:b, s:i, s:i, s:s}", "name", config->name,
		"device", config->device, "interface",
		kvl_json_text(config->interface[0] != '\0' ? config->interface : NULL), "mac",
		kvl_json_mac(port->mac), "snat", snat_text(config, KVL_IPV4), "snat6",
		snat_text(config, KVL_IPV6), "link", link.link_status == RTE_ETH_LINK_UP, "mtu",
		port->frames.mtu, "queues", port->queues, "steering", steering_name(port));
}

static json_t *ports_list(const struct kvl_router *r)
{
	json_t *list = json_array();

	for (uint16_t i = 0; i < r->port_count; i++)
		json_array_append_new(list, port_object(&r->ports[i]));
	return list;
}

/* The configuration's nodes; those left out of it are counted apart. */
static uint32_t nodes_present(const struct kvl_router *r)
{
	uint32_t count = 0;

	for (uint32_t n = 0; n < r->nodes.count; n++)
		count += r->nodes.list[n].present;
	return count;
}

#define TIME_MAX 32

static const char *time_format(uint64_t then_ms, char text[TIME_MAX])
{
	time_t then = time(NULL) - (time_t)((kvl_now_ms() - then_ms) / 1000);

	strftime(text, TIME_MAX, "%Y-%m-%dT%H:%M:%SZ", gmtime(&then));
	return text;
}

static json_t *time_text(uint64_t then_ms)
{
	char text[TIME_MAX];

	return json_string(time_format(then_ms, text));
}

static json_t *stale_text(const struct kvl_router *r)
{
	char since[TIME_MAX], confirmed[TIME_MAX];

	return json_sprintf("the topology is stale since %s: the newest reload failed, and the "
			    "last good one was at %s: `kvlanectl check` tells why",
		time_format(kvl_source_stale_since(&r->source, r->config->health.topology_fresh_ms),
			since),
		time_format(r->source.confirmed_ms, confirmed));
}

static json_t *alarms_list(const struct kvl_router *r, const struct kvl_publisher_status *status)
{
	json_t *list = json_array();
	const char *pool = NULL;
	unsigned int scoring;

	if (r->config->nodes_rejected != 0)
		json_array_append_new(
			list, json_sprintf("%zu nodes of the configuration are left out: "
					   "`kvlanectl check` names them",
				      r->config->nodes_rejected));
	if (r->config->nodes_kept != 0)
		json_array_append_new(
			list, json_sprintf("%zu nodes keep their former definition, for the "
					   "configuration's is bad: `kvlanectl check` tells why",
				      r->config->nodes_kept));
	if (r->topology_stale)
		json_array_append_new(list, stale_text(r));
	if (r->nodes.eligible == 0)
		json_array_append_new(list, json_string("no node is eligible: `kvlanectl nodes` "
							"tells why"));
	scoring = kvl_scoring_alarms(r->nodes.scoring, &pool);
	if (scoring != 0)
		json_array_append_new(
			list, json_sprintf("pool %s: scores no longer tell good nodes from bad: "
					   "`kvlanectl scores`",
				      pool));
	if (status->failed != 0)
		json_array_append_new(list, json_sprintf("%llu publications failed",
						    (unsigned long long)status->failed));
	return list;
}

json_t *kvl_command_status(void *ctx, const json_t *params, struct kvl_message_error *error)
{
	struct kvl_router *r = ctx;
	struct kvl_publisher_status status;

	kvl_nodes_judge(&r->nodes, kvl_now_ms());
	kvl_publisher_status(r->publisher, &status);
	return json_pack(
		"{s:s, s:i, s:I, s:I, s:I, s:o, s:o, s:b, s:I, s:I, s:I, s:o, s:o, s:{s:I, s:I}, "
		"s:o, s:o, s:I}",
		"version", KVL_VERSION, "pid", (int)getpid(), "uptime_s",
		(json_int_t)((kvl_now_ms() - r->started_ms) / 1000), "revision",
		(json_int_t)r->topology->revision, "generation", (json_int_t)status.generation,
		"published_at", time_text(status.published_ms), "confirmed_at",
		time_text(r->source.confirmed_ms), "topology_stale", r->topology_stale,
		"publish_us", (json_int_t)status.publish_us, "settle_us",
		(json_int_t)status.settle_us, "coalesced", (json_int_t)status.coalesced, "workers",
		workers_list(r), "ports", ports_list(r), "nodes", "total",
		(json_int_t)nodes_present(r), "eligible", (json_int_t)r->nodes.eligible, "alarms",
		alarms_list(r, &status), "overrides", kvl_overrides_list(r), "log_suppressed",
		(json_int_t)r->nodes.log_suppressed);
}

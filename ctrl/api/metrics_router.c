/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>

#include "ctrl/api/metrics.h"
#include "ctrl/core/clock.h"
#include "ctrl/core/reports.h"
#include "ctrl/core/slow_path.h"
#include "lib/ring/lookup.h"

static void one(FILE *out, const char *name, const char *type, double value, const char *help)
{
	metrics_family(out, name, type, help);
	fprintf(out, "%s %.15g\n", name, value);
}

static void labelled(
	FILE *out, const char *name, const char *label, const char *value, uint64_t count)
{
	fprintf(out, "%s{%s=\"%s\"} %" PRIu64 "\n", name, label, value, count);
}

static void packets(FILE *out, const struct kvl_counters *c)
{
	one(out, "kvlane_packets_in_total", "counter", (double)c->rx, "Packets received.");
	one(out, "kvlane_packets_out_total", "counter", (double)c->tx, "Packets sent.");
	one(out, "kvlane_packets_created_total", "counter", (double)c->created,
		"Packets made for parts and merged replies.");
	one(out, "kvlane_packets_absorbed_total", "counter", (double)c->absorbed,
		"Packets taken apart or merged.");
	one(out, "kvlane_exception_in_total", "counter", (double)c->exception_in,
		"Frames from the kernel, by the taps of ports that DPDK owns.");
	one(out, "kvlane_exception_out_total", "counter", (double)c->exception_out,
		"Frames handed to the kernel there.");
	one(out, "kvlane_packets_held", "gauge", (double)kvl_counters_held(c),
		"In + exception in + created - out - exception out - absorbed - drops.");
	metrics_family(out, "kvlane_drops_total", "counter", "Packets dropped, by reason.");
	for (unsigned int i = 0; i < KVL_DROP_COUNT; i++)
		labelled(out, "kvlane_drops_total", "reason", kvl_drop_name(i), c->drops[i]);
}

static void requests(FILE *out, const struct kvl_counters *c)
{
	one(out, "kvlane_requests_total", "counter", (double)c->requests,
		"Requests sent to nodes.");
	one(out, "kvlane_replies_total", "counter", (double)c->replies, "Replies from nodes.");
	one(out, "kvlane_timeouts_total", "counter", (double)c->timeouts,
		"Requests that no node answered in time.");
	one(out, "kvlane_timeouts_refused_total", "counter", (double)c->refused,
		"Of them: because ICMP said that their node cannot be reached.");
	one(out, "kvlane_quiet_expired_total", "counter", (double)c->quiet_expired,
		"Quiet requests let go: neither timeouts nor losses.");
	one(out, "kvlane_fallbacks_total", "counter", (double)c->fallbacks,
		"Requests sent to a candidate that is not the first of its row.");
	one(out, "kvlane_pending", "gauge", (double)c->pending, "Requests in flight.");
	one(out, "kvlane_split_datagrams_total", "counter", (double)c->splits,
		"Datagrams of several keys or commands that were taken apart.");
	metrics_family(out, "kvlane_verdicts_total", "counter",
		"Client requests, by what the parser found.");
	for (unsigned int i = 0; i < KVL_VERDICT_COUNT; i++)
		labelled(out, "kvlane_verdicts_total", "verdict", kvl_verdict_name(i),
			c->verdicts[i]);
	metrics_family(out, "kvlane_answered_total", "counter",
		"Requests that the router answered itself, by why.");
	for (unsigned int i = 0; i < KVL_VERDICT_COUNT; i++)
		labelled(out, "kvlane_answered_total", "verdict", kvl_verdict_name(i),
			c->answered[i]);
	metrics_family(out, "kvlane_retries_total", "counter",
		"Reads that timed out: asked of another holder (sent), or why not.");
	for (unsigned int i = 0; i < KVL_RETRY_VERDICTS; i++)
		labelled(out, "kvlane_retries_total", "verdict",
			i == KVL_RETRY_YES ? "sent" : kvl_retry_name(i), c->retries[i]);
}

static void policies(FILE *out, const struct kvl_counters *c)
{
	metrics_family(out, "kvlane_policy_total", "counter",
		"What the services' policies did: rules, hints, quotas, bounds, guards.");
#define X(name) labelled(out, "kvlane_policy_total", "what", #name, c->name);
	KVL_POLICY_COUNTERS(X)
#undef X
}

static void slow_path(FILE *out, const struct kvl_router *r)
{
	struct kvl_slow_counters c;

	kvl_slow_path_counters(r->slow, &c);
	metrics_family(out, "kvlane_slow_path_total", "counter",
		"Requests of more than one packet, by what became of them.");
#define X(name) labelled(out, "kvlane_slow_path_total", "what", #name, c.name);
	KVL_SLOW_COUNTERS(X)
#undef X
}

static void reports(FILE *out, const struct kvl_router *r)
{
	struct kvl_reports_counters c = kvl_reports_counters(r->reports);

	metrics_family(out, "kvlane_reports_total", "counter", "Nodes' reports, by fault.");
	for (unsigned int i = 0; i < KVL_REPORT_FAULTS; i++)
		labelled(out, "kvlane_reports_total", "fault",
			i == KVL_REPORT_OK ? "taken" : kvl_report_fault_name(i), c.faults[i]);
	labelled(out, "kvlane_reports_total", "fault", "unknown_node", c.unknown_node);
	one(out, "kvlane_reports_rejected_figures_total", "counter", (double)c.rejected_figures,
		"Figures of reports that were out of range.");
}

static void workers(FILE *out, const struct kvl_router *r)
{
	metrics_family(out, "kvlane_worker_busy_cycles_total", "counter",
		"TSC cycles of loops that found work.");
	for (uint16_t i = 0; i < r->worker_count; i++)
		fprintf(out,
			"kvlane_worker_busy_cycles_total{worker=\"%u\",lcore=\"%u\"} %" PRIu64 "\n",
			r->workers[i]->id, r->workers[i]->lcore,
			kvl_counter_read(&r->workers[i]->counters.busy_cycles));
	metrics_family(out, "kvlane_worker_generation", "gauge", "The root that the worker runs.");
	for (uint16_t i = 0; i < r->worker_count; i++)
		fprintf(out, "kvlane_worker_generation{worker=\"%u\"} %" PRIu64 "\n",
			r->workers[i]->id, kvl_counter_read(&r->workers[i]->running_generation));
}

static void topology(FILE *out, const struct kvl_router *r)
{
	struct kvl_publisher_status status;
	const struct kvl_topology *t = r->topology;
	const char *pool;
	uint32_t present = 0;

	kvl_publisher_status(r->publisher, &status);
	for (uint32_t n = 0; n < r->nodes.count; n++)
		present += r->nodes.list[n].present;
	one(out, "kvlane_uptime_seconds", "gauge", (double)(kvl_now_ms() - r->started_ms) / 1000,
		"Since the start.");
	one(out, "kvlane_revision", "gauge", (double)t->revision, "Of the topology.");
	one(out, "kvlane_topology_stale", "gauge", r->topology_stale,
		"1 when the newest reload failed and the last good one is too long ago.");
	one(out, "kvlane_generation", "gauge", (double)status.generation, "Of the published root.");
	one(out, "kvlane_publication_seconds", "gauge", (double)status.publish_us / 1e6,
		"That the last publication took.");
	one(out, "kvlane_publication_settle_seconds", "gauge", (double)status.settle_us / 1e6,
		"From the last publication to all workers running it.");
	one(out, "kvlane_publications_failed_total", "counter", (double)status.failed,
		"Roots that could not be published.");
	one(out, "kvlane_nodes", "gauge", present, "Nodes of the topology.");
	one(out, "kvlane_nodes_eligible", "gauge", r->nodes.eligible, "Nodes that may be chosen.");
	one(out, "kvlane_log_suppressed_total", "counter", (double)r->nodes.log_suppressed,
		"Log lines about nodes' states that were not logged, for there were too many.");
	one(out, "kvlane_scoring_alarms", "gauge", kvl_scoring_alarms(r->nodes.scoring, &pool),
		"Pools whose scores no longer follow what is observed.");
	metrics_family(
		out, "kvlane_service_tokens", "gauge", "Virtual nodes in the service's placement.");
	for (uint32_t i = 0; i < t->service_count; i++)
		labelled(out, "kvlane_service_tokens", "service", t->services[i].config.name,
			kvl_placement_tokens(t->services[i].master));
	metrics_family(out, "kvlane_service_keys_moved", "gauge",
		"Share of the keys whose first node the last revision changed, 0..1.");
	for (uint32_t i = 0; i < t->service_count; i++)
		fprintf(out, "kvlane_service_keys_moved{service=\"%s\"} %.15g\n",
			t->services[i].config.name, t->services[i].moved);
	metrics_family(out, "kvlane_service_nodes", "gauge", "Nodes of the service's pool.");
	for (uint32_t i = 0; i < t->service_count; i++)
		labelled(out, "kvlane_service_nodes", "service", t->services[i].config.name,
			t->services[i].nodes);
}

void metrics_router(FILE *out, struct kvl_router *r)
{
	struct kvl_counters sum;

	kvl_tally_counters(r->workers, r->worker_count, &sum);
	topology(out, r);
	packets(out, &sum);
	requests(out, &sum);
	policies(out, &sum);
	slow_path(out, r);
	reports(out, r);
	workers(out, r);
}

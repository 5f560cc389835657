/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_cycles.h>

#include "dataplane/merge.h"
#include "lib/proto/local.h"

/*
 * What `stats` says, under memcached's names where the router has the figure. Reads the other
 * workers' counters as the control core does.
 */

static uint64_t sum(const struct kvl_worker *w, size_t offset)
{
	uint64_t total = 0;

	for (uint16_t i = 0; i < w->worker_count; i++)
		total += kvl_counter_read(
			(const uint64_t *)((const char *)&w->all[i]->counters + offset));
	return total;
}

static uint64_t sum_range(const struct kvl_worker *w, size_t offset, size_t count)
{
	uint64_t total = 0;

	for (size_t i = 0; i < count; i++)
		total += sum(w, offset + i * sizeof(uint64_t));
	return total;
}

static uint64_t sum_nodes(const struct kvl_worker *w, size_t offset)
{
	uint64_t total = 0;

	for (uint16_t i = 0; i < w->worker_count; i++)
		for (uint32_t n = 0; n < w->node_max; n++)
			total += kvl_counter_read(
				(const uint64_t *)((const char *)&w->all[i]->nodes[n] + offset));
	return total;
}

#define WORKERS(member) sum(w, offsetof(struct kvl_counters, member))
#define NODES(member)   sum_nodes(w, offsetof(struct kvl_node_counters, member))
#define RANGE(member)                                       \
	sum_range(w, offsetof(struct kvl_counters, member), \
		sizeof(((struct kvl_counters *)0)->member) / sizeof(uint64_t))

size_t kvl_stats_list(const struct kvl_worker *w, struct kvl_local_stat stats[KVL_STATS_MAX])
{
	uint64_t uptime = (w->now - w->started) / rte_get_tsc_hz();
	const struct kvl_local_stat list[] = {
		{"pid", .number = w->pid},
		{"uptime", .number = w->now > w->started ? uptime : 0},
		{"time", .number = w->started_time + (w->now > w->started ? uptime : 0)},
		{"version", .text = KVL_LOCAL_VERSION},
		{"pointer_size", .number = 64},
		{"threads", .number = w->worker_count},
		{"get_hits", .number = NODES(hits)},
		{"get_misses", .number = NODES(misses)},
		{"bytes_read", .number = NODES(bytes_in)},
		{"bytes_written", .number = NODES(bytes_out)},
		{"router_in", .number = WORKERS(rx)},
		{"router_out", .number = WORKERS(tx)},
		{"router_dropped", .number = RANGE(drops)},
		{"router_answered", .number = RANGE(answered)},
		{"router_requests", .number = WORKERS(requests)},
		{"router_replies", .number = WORKERS(replies)},
		{"router_fallbacks", .number = WORKERS(fallbacks)},
		{"router_timeouts", .number = WORKERS(timeouts)},
		{"router_pending", .number = WORKERS(pending)},
		{"router_splits", .number = WORKERS(splits)},
		{"router_parts", .number = WORKERS(parts)},
		{"router_unanswered", .number = WORKERS(unanswered)},
		{"node_errors", .number = NODES(errors)},
		{"node_rejects", .number = NODES(rejects)},
	};
	_Static_assert(sizeof(list) / sizeof(list[0]) <= KVL_STATS_MAX, "the callers' arrays");

	for (size_t i = 0; i < RTE_DIM(list); i++)
		stats[i] = list[i];
	return RTE_DIM(list);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "dataplane/worker.h"

/*
 * Sums of the workers' counters, read while they run. Each figure is right at some moment of the
 * call; figures of one sum may be from moments a little apart, so the conservation law holds
 * exactly only when the workers are idle.
 */
struct kvl_node_tally {
	uint64_t requests, replies;
	uint64_t writes; /* of requests */
	uint64_t bytes_out, bytes_in;
	uint64_t hits, misses;
	uint64_t errors, rejects, timeouts, refused, late;
	uint32_t in_flight;
	uint32_t timeouts_in_a_row; /* the least of the workers that asked this node since its last
				     * reply: one worker's silence is not the node's */
	struct kvl_histogram latency;
};

/* Without the histogram when `latency` is false (it costs the most). */
void kvl_tally_node(struct kvl_worker *const *workers, uint16_t count, uint16_t node, bool latency,
	struct kvl_node_tally *tally);

/* All of struct kvl_counters, member by member. */
void kvl_tally_counters(
	struct kvl_worker *const *workers, uint16_t count, struct kvl_counters *sum);

/* later - earlier for what only grows; gauges from later. */
void kvl_tally_since(const struct kvl_node_tally *later, const struct kvl_node_tally *earlier,
	struct kvl_node_tally *since);

uint64_t kvl_counters_dropped(const struct kvl_counters *counters);

/* What is held now, by the law of counters.h, were all read at once. */
int64_t kvl_counters_held(const struct kvl_counters *counters);

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
	struct kvl_histogram latency;
};

/* Without the histogram when `latency` is false (it costs the most). */
void kvl_tally_node(struct kvl_worker *const *workers, uint16_t count, uint16_t node, bool latency,
	struct kvl_node_tally *tally);

/*
 * Timeouts of the node in a row: the least of the workers that hear of it, since one worker's silence
 * is not the node's. Of a worker without any whose last reply is older than `silence_ms`, the
 * longest that a request waits, nothing follows: it has not asked since.
 */
uint32_t kvl_tally_timeouts_in_a_row(
	struct kvl_worker *const *workers, uint16_t count, uint16_t node, uint32_t silence_ms);

/* All of struct kvl_counters, member by member. */
void kvl_tally_counters(
	struct kvl_worker *const *workers, uint16_t count, struct kvl_counters *sum);

/* later - earlier for what only grows; gauges from later. */
void kvl_tally_since(const struct kvl_node_tally *later, const struct kvl_node_tally *earlier,
	struct kvl_node_tally *since);

uint64_t kvl_counters_dropped(const struct kvl_counters *counters);

/* What is held now, by the law of counters.h, were all read at once. */
int64_t kvl_counters_held(const struct kvl_counters *counters);

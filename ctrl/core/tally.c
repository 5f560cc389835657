/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "ctrl/core/tally.h"

static uint32_t gauge_read(const uint32_t *gauge)
{
	return __atomic_load_n(gauge, __ATOMIC_RELAXED);
}

static void node_add(struct kvl_node_tally *tally, const struct kvl_node_counters *c)
{
	tally->requests += kvl_counter_read(&c->requests);
	tally->replies += kvl_counter_read(&c->replies);
	tally->writes += kvl_counter_read(&c->writes);
	tally->bytes_out += kvl_counter_read(&c->bytes_out);
	tally->bytes_in += kvl_counter_read(&c->bytes_in);
	tally->hits += kvl_counter_read(&c->hits);
	tally->misses += kvl_counter_read(&c->misses);
	tally->errors += kvl_counter_read(&c->errors);
	tally->rejects += kvl_counter_read(&c->rejects);
	tally->timeouts += kvl_counter_read(&c->timeouts);
	tally->refused += kvl_counter_read(&c->refused);
	tally->late += kvl_counter_read(&c->late);
}

static uint32_t in_flight_read(const struct kvl_pulse *pulse)
{
	struct kvl_pulse now;

	__atomic_load(&pulse->queue, &now.queue, __ATOMIC_RELAXED);
	return kvl_pulse_in_flight(&now);
}

void kvl_tally_node(struct kvl_worker *const *workers, uint16_t count, uint16_t node, bool latency,
	struct kvl_node_tally *tally)
{
	memset(tally, 0, latency ? sizeof(*tally) : offsetof(struct kvl_node_tally, latency));
	for (uint16_t i = 0; i < count; i++) {
		node_add(tally, &workers[i]->nodes[node]);
		tally->in_flight += in_flight_read(&workers[i]->pulses[node]);
		if (latency)
			kvl_hist_merge(&tally->latency, &workers[i]->latency[node]);
	}
}

uint32_t kvl_tally_timeouts_in_a_row(
	struct kvl_worker *const *workers, uint16_t count, uint16_t node, uint32_t silence_ms)
{
	uint32_t least = UINT32_MAX;

	for (uint16_t i = 0; i < count; i++) {
		const struct kvl_worker *w = workers[i];
		uint32_t in_a_row = gauge_read(&w->nodes[node].timeouts_in_a_row);
		/* First, and so never ahead of the tick. */
		uint32_t answered = __atomic_load_n(&w->pulses[node].answered, __ATOMIC_ACQUIRE);
		uint32_t age = gauge_read(&w->tick) - answered;

		if (in_a_row != 0 || age <= silence_ms)
			least = RTE_MIN(least, in_a_row);
	}
	return least == UINT32_MAX ? 0 : least;
}

void kvl_tally_counters(struct kvl_worker *const *workers, uint16_t count, struct kvl_counters *sum)
{
	/* The struct is nothing but uint64_t members. */
	uint64_t *into = (uint64_t *)sum;

	memset(sum, 0, sizeof(*sum));
	for (uint16_t i = 0; i < count; i++) {
		const uint64_t *from = (const uint64_t *)&workers[i]->counters;

		for (size_t k = 0; k < sizeof(*sum) / sizeof(uint64_t); k++)
			into[k] += kvl_counter_read(&from[k]);
	}
}

void kvl_tally_since(const struct kvl_node_tally *later, const struct kvl_node_tally *earlier,
	struct kvl_node_tally *since)
{
	*since = *later;
	since->requests -= earlier->requests;
	since->replies -= earlier->replies;
	since->writes -= earlier->writes;
	since->bytes_out -= earlier->bytes_out;
	since->bytes_in -= earlier->bytes_in;
	since->hits -= earlier->hits;
	since->misses -= earlier->misses;
	since->errors -= earlier->errors;
	since->rejects -= earlier->rejects;
	since->timeouts -= earlier->timeouts;
	since->refused -= earlier->refused;
	since->late -= earlier->late;
	kvl_hist_since(&later->latency, &earlier->latency, &since->latency);
}

uint64_t kvl_counters_dropped(const struct kvl_counters *counters)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < KVL_DROP_COUNT; i++)
		sum += counters->drops[i];
	return sum;
}

int64_t kvl_counters_held(const struct kvl_counters *counters)
{
	return (int64_t)(counters->rx + counters->exception_in + counters->inbox_in
			 + counters->created - counters->tx - counters->exception_out
			 - counters->inbox_out - counters->absorbed
			 - kvl_counters_dropped(counters));
}

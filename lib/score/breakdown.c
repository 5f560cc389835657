/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "lib/score/breakdown.h"

_Static_assert(KVL_TERM_COUNT <= 32, "one bit a term");

void kvl_breakdown_clear(struct kvl_breakdown *b)
{
	memset(b, 0, sizeof(*b));
}

double kvl_breakdown_sum(const struct kvl_breakdown *b)
{
	double sum = 0;

	for (unsigned int t = 0; t < KVL_TERM_COUNT; t++)
		sum += b->points[t];
	return sum;
}

void kvl_breakdown_add(struct kvl_breakdown *b, enum kvl_term term, double points)
{
	b->known |= 1u << term;
	b->points[term] += points;
}

void kvl_breakdown_scale(struct kvl_breakdown *b, enum kvl_term term, double factor)
{
	kvl_breakdown_add(b, term, kvl_breakdown_sum(b) * (factor - 1));
}

void kvl_breakdown_finish(struct kvl_breakdown *b)
{
	double sum = kvl_breakdown_sum(b);

	/* Rounding alone is no clamp. */
	if (sum < -1e-9)
		kvl_breakdown_add(b, KVL_TERM_CLAMP, -sum);
	else if (sum > 100 + 1e-9)
		kvl_breakdown_add(b, KVL_TERM_CLAMP, 100 - sum);
	b->score = sum < 0 ? 0 : sum > 100 ? 1 : sum / 100;
}

const char *kvl_term_name(enum kvl_term term)
{
	static const char *const names[KVL_TERM_COUNT] = {
		[KVL_TERM_BASE] = "base",
		[KVL_TERM_CAPACITY_FREE] = "capacity_free",
		[KVL_TERM_LOAD] = "load",
		[KVL_TERM_LATENCY_HEALTH] = "latency_health",
		[KVL_TERM_LOCAL_HIT] = "local_hit",
		[KVL_TERM_SUCCESS] = "success",
		[KVL_TERM_HEARTBEAT] = "heartbeat",
		[KVL_TERM_PROBE] = "probe",
		[KVL_TERM_COMPACTING] = "compacting",
		[KVL_TERM_REPAIRING] = "repairing",
		[KVL_TERM_CPU] = "cpu",
		[KVL_TERM_P99] = "p99",
		[KVL_TERM_ERRORS] = "errors",
		[KVL_TERM_QUEUE] = "queue",
		[KVL_TERM_IO_WAIT] = "io_wait",
		[KVL_TERM_NETWORK_COST] = "network_cost",
		[KVL_TERM_REJECTS] = "rejects",
		[KVL_TERM_CAPABILITY] = "capability",
		[KVL_TERM_UNCONFIRMED] = "unconfirmed",
		[KVL_TERM_OBSERVATION] = "observation",
		[KVL_TERM_COOLDOWN] = "cooldown",
		[KVL_TERM_CLAMP] = "clamp",
	};

	return term < KVL_TERM_COUNT ? names[term] : "unknown";
}

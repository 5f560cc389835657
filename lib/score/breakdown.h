/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

/*
 * A node's score and where it came from: every term of both models (SPEC 4) under a fixed name, in
 * points of 100, signed. The points of all terms add up to 100 * score, always: a multiplier
 * stands there as the points it took, and what clamping took or gave has a term of its own.
 */
enum kvl_term {
	KVL_TERM_BASE, /* penalty: 100 */
	/* weighted (SPEC 4.1) */
	KVL_TERM_CAPACITY_FREE,
	KVL_TERM_LOAD,
	KVL_TERM_LATENCY_HEALTH,
	KVL_TERM_LOCAL_HIT,
	KVL_TERM_SUCCESS,
	/* penalty (SPEC 4.2): multipliers, then deductions */
	KVL_TERM_HEARTBEAT,
	KVL_TERM_PROBE,
	KVL_TERM_COMPACTING,
	KVL_TERM_REPAIRING,
	KVL_TERM_CPU,
	KVL_TERM_P99,
	KVL_TERM_ERRORS,
	KVL_TERM_QUEUE,
	KVL_TERM_IO_WAIT,
	/* both (SPEC 4.3, 4.4, 5.3, 6.6) */
	KVL_TERM_NETWORK_COST,
	KVL_TERM_REJECTS,
	KVL_TERM_CAPABILITY,
	KVL_TERM_UNCONFIRMED,
	KVL_TERM_OBSERVATION,
	KVL_TERM_COOLDOWN,
	KVL_TERM_CLAMP,
	KVL_TERM_COUNT,
};

struct kvl_breakdown {
	double score;   /* 0..1 */
	uint32_t known; /* bit 1 << term: the term applied; the others are 0 and not shown */
	double points[KVL_TERM_COUNT];
};

void kvl_breakdown_clear(struct kvl_breakdown *b);

/* The sum so far. */
double kvl_breakdown_sum(const struct kvl_breakdown *b);

/* Adds points (or takes, when negative) under a name. */
void kvl_breakdown_add(struct kvl_breakdown *b, enum kvl_term term, double points);

/* Multiplies what there is so far: records the points that it takes. */
void kvl_breakdown_scale(struct kvl_breakdown *b, enum kvl_term term, double factor);

/* Clamps to 0..100 and sets the score. */
void kvl_breakdown_finish(struct kvl_breakdown *b);

/* "p99", "io_wait"...: stable, in JSON and metrics. */
const char *kvl_term_name(enum kvl_term term);

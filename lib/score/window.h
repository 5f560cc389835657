/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

#include "lib/score/metric.h"

/*
 * The last 60 samples of one metric and what they amount to now (SPEC 4.8). The value is a mean in
 * which each sample weighs KVL_WINDOW_DECAY times the next newer one (the newest a fifth of all),
 * without the one sample that lies farthest from it: so one bad sample, wherever it stands, does
 * not move the value at all, and the second in a row does. Fixed size, no allocation.
 *
 * Samples of what the router measures (kvl_metric_passive()) age by time too, since a node that they
 * speak against gets few requests, and so few samples. Where they come further apart than
 * KVL_WINDOW_STEP_MS, each such step between two of them is a decay of its own, up to
 * KVL_WINDOW_STEPS_MOST, so that one late sample (two thirds of all, at most) does not wipe out what
 * several have said. And kvl_window_expire() tells which are too old: those weigh nothing, and only
 * tell still which of the others is the odd one. What nodes report has a staleness of its own
 * (fresh.h), and its senders' clocks.
 */
#define KVL_WINDOW_SAMPLES    60
#define KVL_WINDOW_DECAY      0.8
#define KVL_WINDOW_STEP_MS    1000
#define KVL_WINDOW_STEPS_MOST 5

struct kvl_window {
	float samples[KVL_WINDOW_SAMPLES];
	uint32_t times_ms[KVL_WINDOW_SAMPLES]; /* the lower bits: differences are right */
	uint8_t count, next;
	uint8_t live;     /* of those, how many have not expired: the newest */
	uint64_t last_ms; /* of the newest sample; 0 = none */
	uint32_t rejected[KVL_METRIC_FAULTS];
};

void kvl_window_clear(struct kvl_window *w);

/* As if none had come; what was rejected, and that times must rise, is kept. */
void kvl_window_forget(struct kvl_window *w);

/* Samples older than that count no more. Not for reported metrics, whose times are another clock's. */
void kvl_window_expire(struct kvl_window *w, uint32_t trust_ms, uint64_t now_ms);

/*
 * Checks (SPEC 4.7) and adds. Times are the source's own, above 0, and must rise strictly. Returns
 * the fault under which the sample was rejected and counted, or KVL_METRIC_OK.
 */
enum kvl_metric_fault kvl_window_add(
	struct kvl_window *w, enum kvl_metric metric, double value, uint64_t time_ms);

/* The value, NAN when no sample counts. Up to two samples count whole: which of two is the bad one
 * cannot be told. */
double kvl_window_value(const struct kvl_window *w, enum kvl_metric metric);

/* The newest sample, NAN when none counts. */
double kvl_window_newest(const struct kvl_window *w);

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

#include "lib/score/metric.h"

/*
 * The last 60 samples of one metric and what they amount to now (SPEC 4.8). The value is a mean in
 * which each sample weighs KVL_WINDOW_DECAY times the next newer one (the newest a fifth of all),
 * without the one sample that lies farthest from it: so one bad sample, wherever it stands, does
 * not move the value at all, and the second in a row does. Fixed size, no allocation.
 */
#define KVL_WINDOW_SAMPLES 60
#define KVL_WINDOW_DECAY   0.8

struct kvl_window {
	float samples[KVL_WINDOW_SAMPLES];
	uint8_t count, next;
	uint64_t last_ms; /* of the newest sample; 0 = none */
	uint32_t rejected[KVL_METRIC_FAULTS];
};

void kvl_window_clear(struct kvl_window *w);

/*
 * Checks (SPEC 4.7) and adds. Times are the source's own, above 0, and must rise strictly. Returns
 * the fault under which the sample was rejected and counted, or KVL_METRIC_OK.
 */
enum kvl_metric_fault kvl_window_add(
	struct kvl_window *w, enum kvl_metric metric, double value, uint64_t time_ms);

/* The value, NAN when there is no sample. Up to two samples count whole: which of two is the bad
 * one cannot be told. */
double kvl_window_value(const struct kvl_window *w);

/* The newest sample, NAN when there is none. */
double kvl_window_newest(const struct kvl_window *w);

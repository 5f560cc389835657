/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * The figures that nodes report and routers measure, each with the range in which it is believed
 * (SPEC 4.7). A bad one is rejected by name and counted and never enters a window: a CPU of -1
 * once orphaned a node.
 */
enum kvl_metric {
	KVL_METRIC_CPU, /* shares are 0..1 */
	KVL_METRIC_IO_WAIT,
	KVL_METRIC_NETWORK_IN, /* of the NIC's speed */
	KVL_METRIC_NETWORK_OUT,
	KVL_METRIC_MEMORY,
	KVL_METRIC_CAPACITY_FREE,
	KVL_METRIC_QUEUE, /* requests waiting */
	KVL_METRIC_IN_FLIGHT,
	KVL_METRIC_QPS_1M,
	KVL_METRIC_QPS_5M,
	KVL_METRIC_PAUSE_MS, /* garbage collection and the like, in the interval */
	KVL_METRIC_RTT_AVG_US,
	KVL_METRIC_RTT_P99_US,
	KVL_METRIC_ERROR_RATE,
	KVL_METRIC_VERSION_LAG, /* in versions */
	KVL_METRIC_HIT_RATE,
	KVL_METRIC_REPORTED, /* how many those are; from here on measured by the router */
	KVL_METRIC_P95_US = KVL_METRIC_REPORTED,
	KVL_METRIC_P99_US,
	KVL_METRIC_FAILURES, /* errors and timeouts of all requests */
	KVL_METRIC_REJECTS,
	KVL_METRIC_COUNT,
};

enum kvl_metric_fault {
	KVL_METRIC_OK,
	KVL_METRIC_NOT_FINITE,
	KVL_METRIC_NEGATIVE,
	KVL_METRIC_TOO_LARGE,
	KVL_METRIC_NOT_LATER, /* its time is not after the last sample's */
	KVL_METRIC_FAULTS,
};

/* Measured by the router, on its own clock. */
static inline bool kvl_metric_passive(enum kvl_metric metric)
{
	return metric >= KVL_METRIC_REPORTED;
}

/* One value by itself. */
enum kvl_metric_fault kvl_metric_check(enum kvl_metric metric, double value);

/* The largest value that is believed. */
double kvl_metric_most(enum kvl_metric metric);

const char *kvl_metric_name(enum kvl_metric metric);            /* "io_wait" */
const char *kvl_metric_fault_name(enum kvl_metric_fault fault); /* "not_finite" */

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lib/wire/report.h"

/* Of report*.c only. The reported metrics, by the name that they have on the wire. */
#define KVL_REPORT_FIGURES(X)           \
	X(cpu, CPU)                     \
	X(io_wait, IO_WAIT)             \
	X(network_in, NETWORK_IN)       \
	X(network_out, NETWORK_OUT)     \
	X(memory, MEMORY)               \
	X(capacity_free, CAPACITY_FREE) \
	X(queue, QUEUE)                 \
	X(in_flight, IN_FLIGHT)         \
	X(qps_1m, QPS_1M)               \
	X(qps_5m, QPS_5M)               \
	X(pause_ms, PAUSE_MS)           \
	X(rtt_avg_us, RTT_AVG_US)       \
	X(rtt_p99_us, RTT_P99_US)       \
	X(error_rate, ERROR_RATE)       \
	X(version_lag, VERSION_LAG)     \
	X(hit_rate, HIT_RATE)

#define KVL_REPORT_FLAGS(X)       \
	X(compacting, COMPACTING) \
	X(repairing, REPAIRING)   \
	X(read_only, READ_ONLY)   \
	X(recovering, RECOVERING)

/* The last step of both decoders: bad figures out and marked; what cannot be at all is absurd. */
enum kvl_report_fault kvl_report_examine(struct kvl_report *report);

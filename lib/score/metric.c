/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stddef.h>

#include "lib/score/metric.h"

#define COUNT_MOST 1e9
#define TIME_US    3.6e9 /* an hour */

static const struct {
	const char *name;
	double most;
} metrics[KVL_METRIC_COUNT] = {
	[KVL_METRIC_CPU] = {"cpu", 1},
	[KVL_METRIC_IO_WAIT] = {"io_wait", 1},
	[KVL_METRIC_NETWORK_IN] = {"network_in", 1},
	[KVL_METRIC_NETWORK_OUT] = {"network_out", 1},
	[KVL_METRIC_MEMORY] = {"memory", 1},
	[KVL_METRIC_CAPACITY_FREE] = {"capacity_free", 1},
	[KVL_METRIC_QUEUE] = {"queue", COUNT_MOST},
	[KVL_METRIC_IN_FLIGHT] = {"in_flight", COUNT_MOST},
	[KVL_METRIC_QPS_1M] = {"qps_1m", COUNT_MOST},
	[KVL_METRIC_QPS_5M] = {"qps_5m", COUNT_MOST},
	[KVL_METRIC_PAUSE_MS] = {"pause_ms", TIME_US / 1000},
	[KVL_METRIC_RTT_AVG_US] = {"rtt_avg_us", TIME_US},
	[KVL_METRIC_RTT_P99_US] = {"rtt_p99_us", TIME_US},
	[KVL_METRIC_ERROR_RATE] = {"error_rate", 1},
	[KVL_METRIC_VERSION_LAG] = {"version_lag", 1e15},
	[KVL_METRIC_HIT_RATE] = {"hit_rate", 1},
	[KVL_METRIC_P95_US] = {"p95_us", TIME_US},
	[KVL_METRIC_P99_US] = {"p99_us", TIME_US},
	[KVL_METRIC_FAILURES] = {"failures", 1},
	[KVL_METRIC_REJECTS] = {"rejects", 1},
};

enum kvl_metric_fault kvl_metric_check(enum kvl_metric metric, double value)
{
	if (!isfinite(value))
		return KVL_METRIC_NOT_FINITE;
	if (value < 0)
		return KVL_METRIC_NEGATIVE;
	if (value > metrics[metric].most)
		return KVL_METRIC_TOO_LARGE;
	return KVL_METRIC_OK;
}

double kvl_metric_most(enum kvl_metric metric)
{
	return metrics[metric].most;
}

const char *kvl_metric_name(enum kvl_metric metric)
{
	return metric < KVL_METRIC_COUNT ? metrics[metric].name : "unknown";
}

const char *kvl_metric_fault_name(enum kvl_metric_fault fault)
{
	static const char *const names[KVL_METRIC_FAULTS] = {
		[KVL_METRIC_OK] = "ok",
		[KVL_METRIC_NOT_FINITE] = "not_finite",
		[KVL_METRIC_NEGATIVE] = "negative",
		[KVL_METRIC_TOO_LARGE] = "too_large",
		[KVL_METRIC_NOT_LATER] = "not_later",
	};

	return fault < KVL_METRIC_FAULTS ? names[fault] : "unknown";
}

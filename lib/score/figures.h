/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

#include "lib/score/capability.h"
#include "lib/score/metric.h"

/* What a node says of itself (SPEC 6.1): a report as the scorer takes it. NAN = not reported. */
struct kvl_report_figures {
	uint64_t time_ms; /* the node's clock; strictly increasing */
	double value[KVL_METRIC_REPORTED];
	uint32_t flags; /* of KVL_FACT_COMPACTING, _REPAIRING, _READ_ONLY, _RECOVERING (facts.h) */
	struct kvl_capability capability;
};

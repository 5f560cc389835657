/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

#include "lib/wire/report.h"

/*
 * Takes nodes' reports (lib/wire/report.h) on a UDP socket of the kernel's, apart from request
 * traffic, and hands them to the scores. What does not hold is counted by its fault and ignored.
 * Control core only.
 */
struct kvl_router;
struct kvl_reports;

struct kvl_reports_counters {
	uint64_t faults[KVL_REPORT_FAULTS]; /* [KVL_REPORT_OK]: taken */
	uint64_t unknown_node;              /* signed, and of a node that is not in the topology */
	uint64_t rejected_figures;          /* of reports that were taken otherwise */
};

/* Listens as configured; NULL with errno 0 when no `reports:` is, else with errno. */
struct kvl_reports *kvl_reports_new(struct kvl_router *router);
void kvl_reports_free(struct kvl_reports *reports);

/* NULL reports: all zero. */
struct kvl_reports_counters kvl_reports_counters(const struct kvl_reports *reports);

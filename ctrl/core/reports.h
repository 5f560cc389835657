/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

#include "lib/wire/report.h"

/*
 * Takes nodes' reports (lib/wire/report.h) on a UDP socket of the kernel's, apart from request
 * traffic, or as JSON from whoever has received them (HTTP), and hands them to the scores. What
 * does not hold is counted by its fault and ignored, whichever way it came. Control core only.
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

/* What came of a report, for who sent it and waits for an answer. */
struct kvl_report_taken {
	enum kvl_report_fault fault;
	bool unknown_node;
	uint32_t rejected; /* figures left out, bit 1 << metric; the rest was taken */
};

/* A report as JSON, signed apart from it. */
struct kvl_report_signed {
	const char *json;
	size_t len;
	uint32_t key_id;
	const uint8_t *mac;
	size_t mac_len;
};

struct kvl_report_taken kvl_reports_json(
	struct kvl_reports *reports, const struct kvl_report_signed *report);

/* NULL reports: all zero. */
struct kvl_reports_counters kvl_reports_counters(const struct kvl_reports *reports);

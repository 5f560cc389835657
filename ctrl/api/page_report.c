/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/api/pages.h"
#include "ctrl/core/reports.h"
#include "ctrl/core/router.h"

/*
 * POST /v1/report: a node's report as JSON (SPEC 6.1), for workers that have no agent. Signed with
 * the same keys as the datagrams, over the body as sent:
 *   X-Kvlane-Key: 7
 *   X-Kvlane-Signature: 64 hex digits, see lib/wire/report.h
 */

static int status_of(enum kvl_report_fault fault)
{
	switch (fault) {
	case KVL_REPORT_TOO_LONG:
		return 413;
	case KVL_REPORT_UNKNOWN_KEY:
	case KVL_REPORT_FORGED:
		return 401;
	case KVL_REPORT_REPLAYED:
	case KVL_REPORT_STALE:
	case KVL_REPORT_AHEAD:
		return 409;
	case KVL_REPORT_ABSURD:
		return 422;
	default:
		return 400;
	}
}

static const char *fault_text(enum kvl_report_fault fault)
{
	switch (fault) {
	case KVL_REPORT_MALFORMED:
		return "not JSON, or a member is missing or of another type";
	case KVL_REPORT_UNKNOWN_KEY:
		return "X-Kvlane-Key names no key of `reports: keys`";
	case KVL_REPORT_FORGED:
		return "X-Kvlane-Signature is not this body's with this key";
	case KVL_REPORT_ABSURD:
		return "a node id, time, prefix or capability that cannot be";
	case KVL_REPORT_REPLAYED:
		return "time_ms is not later than the node's last report";
	case KVL_REPORT_STALE:
		return "time_ms is too old: compare the clocks";
	case KVL_REPORT_AHEAD:
		return "time_ms is in the future: compare the clocks";
	default:
		return kvl_report_fault_name(fault);
	}
}

/* The rest was taken, so this is told and no reason to send it again. */
static void rejected_answer(struct kvl_http_answer *answer, uint32_t rejected)
{
	json_t *names = json_array();

	for (unsigned int m = 0; m < KVL_METRIC_REPORTED; m++)
		if (rejected & 1u << m)
			json_array_append_new(names, json_string(kvl_metric_name(m)));
	kvl_http_json(answer, 422,
		json_pack("{s:{s:s, s:s, s:o}}", "error", "code", "rejected_figures", "text",
			"these figures are out of range and were left out; the rest was taken",
			"details", names));
}

static void taken_answer(struct kvl_http_answer *answer, const struct kvl_report_taken *taken)
{
	if (taken->unknown_node)
		kvl_http_fail(answer, 404, "unknown_node", "no such node in the topology");
	else if (taken->fault != KVL_REPORT_OK)
		kvl_http_fail(answer, status_of(taken->fault), kvl_report_fault_name(taken->fault),
			"%s", fault_text(taken->fault));
	else if (taken->rejected != 0)
		rejected_answer(answer, taken->rejected);
	else
		kvl_http_json(answer, 200, json_pack("{s:b}", "taken", true));
}

void kvl_page_report(
	void *ctx, const struct kvl_http_request *request, struct kvl_http_answer *answer)
{
	const struct kvl_router *r = ctx;
	struct kvl_http_text key = kvl_http_header(request->head, "X-Kvlane-Key");
	struct kvl_http_text hex = kvl_http_header(request->head, "X-Kvlane-Signature");
	uint8_t mac[KVL_REPORT_MAC_BYTES];
	struct kvl_report_signed report = {.json = request->body, .len = request->head->body_len};
	struct kvl_report_taken taken;
	uint64_t id = 0;

	if (r->reports == NULL) {
		kvl_http_fail(answer, 404, "no_reports",
			"no reports are taken: the configuration has no `reports:`");
		return;
	}
	/* A header that is missing or no hex is a signature that does not hold, and counted so: key
	 * ids start at 1. */
	if (kvl_http_uint(key, UINT32_MAX, &id) == 0 && kvl_http_hex(hex, mac, sizeof(mac)) == 0) {
		report.mac = mac;
		report.mac_len = sizeof(mac);
	}
	report.key_id = (uint32_t)id;
	taken = kvl_reports_json(r->reports, &report);
	taken_answer(answer, &taken);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "lib/score/facts.h"
#include "lib/wire/report_internal.h"

#define NIC_MBIT_MOST  10000000u   /* 10 Tbit/s */
#define MEMORY_MB_MOST 1000000000u /* 1 PB */

_Static_assert(KVL_METRIC_REPORTED <= 32, "one bit a metric");

void kvl_report_init(struct kvl_report *report, const char *node, uint64_t time_ms)
{
	memset(report, 0, sizeof(*report));
	strncpy(report->node, node, sizeof(report->node) - 1);
	report->figures.time_ms = time_ms;
	for (unsigned int m = 0; m < KVL_METRIC_REPORTED; m++)
		report->figures.value[m] = KVL_UNKNOWN;
}

bool kvl_report_node_ok(const char *node)
{
	size_t len =
		strspn(node, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-");

	return len > 0 && len < KVL_NAME_MAX && node[len] == '\0';
}

static bool capability_ok(const struct kvl_capability *c)
{
	return c->disk <= KVL_DISK_SSD && c->nic_mbit <= NIC_MBIT_MOST
	       && c->memory_mb <= MEMORY_MB_MOST;
}

enum kvl_report_fault kvl_report_examine(struct kvl_report *report)
{
	struct kvl_report_figures *f = &report->figures;

	if (!kvl_report_node_ok(report->node) || f->time_ms == 0 || !capability_ok(&f->capability))
		return KVL_REPORT_ABSURD;
	for (uint32_t i = 0; i < report->prefix_count; i++)
		if (report->prefixes[i].len == 0
			|| kvl_metric_check(KVL_METRIC_HIT_RATE, report->prefixes[i].hit_rate)
				   != KVL_METRIC_OK)
			return KVL_REPORT_ABSURD;
	for (unsigned int m = 0; m < KVL_METRIC_REPORTED; m++) {
		/* A NAN that was sent is marked by the decoder; here it is what was not sent. */
		if (isnan(f->value[m]) || kvl_metric_check(m, f->value[m]) == KVL_METRIC_OK)
			continue;
		f->value[m] = KVL_UNKNOWN;
		report->rejected |= 1u << m;
	}
	return KVL_REPORT_OK;
}

enum kvl_report_fault kvl_report_accept(
	const struct kvl_report *report, uint64_t *last_ms, uint64_t now_ms)
{
	uint64_t time = report->figures.time_ms;

	/* Our clock was set back: by this one the last was not to be had yet, nor is what may be. */
	if (*last_ms > now_ms && *last_ms - now_ms > KVL_REPORT_AHEAD_MS)
		*last_ms = now_ms + KVL_REPORT_AHEAD_MS;
	if (time <= *last_ms)
		return KVL_REPORT_REPLAYED;
	if (time > now_ms && time - now_ms > KVL_REPORT_AHEAD_MS)
		return KVL_REPORT_AHEAD;
	if (time < now_ms && now_ms - time > KVL_REPORT_AGE_MS)
		return KVL_REPORT_STALE;
	*last_ms = time;
	return KVL_REPORT_OK;
}

uint64_t kvl_report_next_time(uint64_t last_ms, uint64_t now_ms)
{
	bool back = now_ms <= last_ms && last_ms - now_ms <= KVL_REPORT_AHEAD_MS;

	return back ? last_ms + 1 : now_ms;
}

const char *kvl_report_fault_name(enum kvl_report_fault fault)
{
	static const char *const names[KVL_REPORT_FAULTS] = {
		[KVL_REPORT_OK] = "ok",
		[KVL_REPORT_TOO_LONG] = "too_long",
		[KVL_REPORT_MALFORMED] = "malformed",
		[KVL_REPORT_UNVERSIONED] = "version",
		[KVL_REPORT_UNKNOWN_KEY] = "unknown_key",
		[KVL_REPORT_FORGED] = "forged",
		[KVL_REPORT_ABSURD] = "absurd",
		[KVL_REPORT_REPLAYED] = "replayed",
		[KVL_REPORT_STALE] = "stale",
		[KVL_REPORT_AHEAD] = "ahead",
	};

	return fault < KVL_REPORT_FAULTS ? names[fault] : "unknown";
}

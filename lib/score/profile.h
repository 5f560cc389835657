/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "lib/score/score.h"

/*
 * Which weights apply now (SPEC 4.6): fixed ones, by time of day (recommended), or by the ratio of
 * reads to writes. The clock is the caller's.
 */
#define KVL_SCHEDULE_MAX 24
#define KVL_DAY_MINUTES  1440

struct kvl_schedule_entry {
	uint16_t from_minute; /* of the day, 0..1439 */
	struct kvl_score_weights weights;
};

struct kvl_schedule {
	struct kvl_schedule_entry entries[KVL_SCHEDULE_MAX]; /* from_minute strictly rising */
	size_t count;
};

/* 0, or -EINVAL: none or too many, not rising, not a minute of a day. */
int kvl_schedule_check(const struct kvl_schedule *schedule);

/* The last entry that began; before the day's first one, yesterday's last. */
const struct kvl_score_weights *kvl_schedule_at(
	const struct kvl_schedule *schedule, uint32_t minute_of_day);

/*
 * Read-heavy or write-heavy by what came in the last 5 minutes. It cannot oscillate: the share of
 * reads must cross 60% to leave write-heavy and 40% to leave read-heavy, the counts are decayed
 * over 5 minutes, and a change is at least 5 minutes old before the next.
 */
#define KVL_AUTO_STEP_MS  30000
#define KVL_AUTO_DWELL_MS 300000
#define KVL_AUTO_LEAST    1000 /* requests within the 5 minutes; fewer decide nothing */

struct kvl_profile_auto {
	bool write_heavy;
	double reads, writes; /* decayed */
	uint64_t step_ms, changed_ms;
};

void kvl_profile_auto_init(struct kvl_profile_auto *p, uint64_t now_ms);

/* What came since the last call. Returns true when the profile changed. */
bool kvl_profile_auto_count(
	struct kvl_profile_auto *p, uint64_t reads, uint64_t writes, uint64_t now_ms);

const struct kvl_score_weights *kvl_profile_auto_weights(const struct kvl_profile_auto *p);

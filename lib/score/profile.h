/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

#include "lib/score/profile_rule.h"
#include "lib/score/score.h"

/*
 * Which weights apply now (SPEC 4.6), as a rule says: fixed ones, by time of day, or by the ratio
 * of reads to writes. The clocks are the caller's.
 */
const struct kvl_score_weights *kvl_profile_weights(enum kvl_profile profile);

/* That of the last entry that began; before the day's first one, yesterday's last. */
enum kvl_profile kvl_schedule_at(const struct kvl_schedule *schedule, uint32_t minute_of_day);

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

/* 0..1, of the last 5 minutes; NAN while they held less than KVL_AUTO_LEAST. */
double kvl_profile_auto_share(const struct kvl_profile_auto *p);

/* A pool's profile: what applies, since when. */
struct kvl_profile_state {
	struct kvl_profile_auto
		counted; /* whatever the rule, so that `auto` can be turned on late */
	enum kvl_profile active;
	uint64_t since_ms;
};

/* What applies stays what it is: all zero is read-heavy. */
void kvl_profile_begin(struct kvl_profile_state *p, uint64_t now_ms);

/* Follows the rule, the clock and what came since the last call. Returns true when what applies
 * has changed. */
bool kvl_profile_follow(struct kvl_profile_state *p, const struct kvl_profile_rule *rule,
	uint64_t reads, uint64_t writes, uint32_t minute_of_day, uint64_t now_ms);

/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "lib/score/profile.h"

/* Each 30 s step keeps 90%: counts live 1 / (1 - 0.9) = 10 steps = 5 minutes. */
#define STEP_KEEPS  0.9
#define READ_SHARE  0.6
#define WRITE_SHARE 0.4

int kvl_schedule_check(const struct kvl_schedule *schedule)
{
	if (schedule->count == 0 || schedule->count > KVL_SCHEDULE_MAX)
		return -EINVAL;
	for (size_t i = 0; i < schedule->count; i++) {
		uint16_t from = schedule->entries[i].from_minute;

		if (from >= KVL_DAY_MINUTES
			|| (i > 0 && from <= schedule->entries[i - 1].from_minute))
			return -EINVAL;
	}
	return 0;
}

const struct kvl_score_weights *kvl_schedule_at(
	const struct kvl_schedule *schedule, uint32_t minute_of_day)
{
	size_t at = schedule->count - 1;

	for (size_t i = 0; i < schedule->count; i++)
		if (schedule->entries[i].from_minute <= minute_of_day)
			at = i;
	return &schedule->entries[at].weights;
}

void kvl_profile_auto_init(struct kvl_profile_auto *p, uint64_t now_ms)
{
	*p = (struct kvl_profile_auto){.step_ms = now_ms, .changed_ms = now_ms};
}

static void decay(struct kvl_profile_auto *p, uint64_t now_ms)
{
	uint64_t steps = (now_ms - p->step_ms) / KVL_AUTO_STEP_MS;

	p->step_ms += steps * KVL_AUTO_STEP_MS;
	/* After 1000 steps nothing is left. */
	for (uint64_t i = 0; i < steps && i < 1000; i++) {
		p->reads *= STEP_KEEPS;
		p->writes *= STEP_KEEPS;
	}
}

bool kvl_profile_auto_count(
	struct kvl_profile_auto *p, uint64_t reads, uint64_t writes, uint64_t now_ms)
{
	double all, share;
	bool heavy;

	decay(p, now_ms);
	p->reads += (double)reads;
	p->writes += (double)writes;
	all = p->reads + p->writes;
	if (all < KVL_AUTO_LEAST || now_ms - p->changed_ms < KVL_AUTO_DWELL_MS)
		return false;
	share = p->reads / all;
	heavy = p->write_heavy ? share < READ_SHARE : share < WRITE_SHARE;
	if (heavy == p->write_heavy)
		return false;
	p->write_heavy = heavy;
	p->changed_ms = now_ms;
	return true;
}

const struct kvl_score_weights *kvl_profile_auto_weights(const struct kvl_profile_auto *p)
{
	return p->write_heavy ? &kvl_weights_write_heavy : &kvl_weights_read_heavy;
}

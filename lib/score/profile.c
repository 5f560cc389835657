/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/score/profile.h"

/* Each 30 s step keeps 90%: counts live 1 / (1 - 0.9) = 10 steps = 5 minutes. */
#define STEP_KEEPS  0.9
#define READ_SHARE  0.6
#define WRITE_SHARE 0.4

const struct kvl_score_weights *kvl_profile_weights(enum kvl_profile profile)
{
	return profile == KVL_PROFILE_WRITE_HEAVY ? &kvl_weights_write_heavy
						  : &kvl_weights_read_heavy;
}

enum kvl_profile kvl_schedule_at(const struct kvl_schedule *schedule, uint32_t minute_of_day)
{
	size_t at = schedule->count - 1;

	for (size_t i = 0; i < schedule->count; i++)
		if (schedule->entries[i].from_minute <= minute_of_day)
			at = i;
	return schedule->entries[at].profile;
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
	double share;
	bool heavy;

	decay(p, now_ms);
	p->reads += (double)reads;
	p->writes += (double)writes;
	share = kvl_profile_auto_share(p);
	if (isnan(share) || now_ms - p->changed_ms < KVL_AUTO_DWELL_MS)
		return false;
	heavy = p->write_heavy ? share < READ_SHARE : share < WRITE_SHARE;
	if (heavy == p->write_heavy)
		return false;
	p->write_heavy = heavy;
	p->changed_ms = now_ms;
	return true;
}

double kvl_profile_auto_share(const struct kvl_profile_auto *p)
{
	double all = p->reads + p->writes;

	return all < KVL_AUTO_LEAST ? NAN : p->reads / all;
}

void kvl_profile_begin(struct kvl_profile_state *p, uint64_t now_ms)
{
	p->since_ms = now_ms;
	kvl_profile_auto_init(&p->counted, now_ms);
}

static enum kvl_profile profile_now(const struct kvl_profile_state *p,
	const struct kvl_profile_rule *rule, uint32_t minute_of_day)
{
	switch (rule->by) {
	case KVL_PROFILE_AUTO:
		return p->counted.write_heavy ? KVL_PROFILE_WRITE_HEAVY : KVL_PROFILE_READ_HEAVY;
	case KVL_PROFILE_SCHEDULE:
		return kvl_schedule_at(&rule->schedule, minute_of_day);
	default:
		return rule->fixed;
	}
}

bool kvl_profile_follow(struct kvl_profile_state *p, const struct kvl_profile_rule *rule,
	uint64_t reads, uint64_t writes, uint32_t minute_of_day, uint64_t now_ms)
{
	enum kvl_profile now;

	kvl_profile_auto_count(&p->counted, reads, writes, now_ms);
	now = profile_now(p, rule, minute_of_day);
	if (now == p->active)
		return false;
	p->active = now;
	p->since_ms = now_ms;
	return true;
}

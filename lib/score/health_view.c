/* SPDX-License-Identifier: BSD-3-Clause */
/* What a node's health means for others; nothing in here changes it. */
#include "lib/score/health.h"

static uint32_t or_default(uint32_t value, uint32_t otherwise)
{
	return value == 0 ? otherwise : value;
}

uint64_t kvl_health_cooldown_until(
	const struct kvl_health *h, const struct kvl_health_params *params)
{
	uint64_t first = or_default(params->cooldown_ms, KVL_HEALTH_COOLDOWN_MS);
	uint64_t most = or_default(params->cooldown_most_ms, KVL_HEALTH_COOLDOWN_MOST);
	uint32_t doublings = h->falls > 0 ? h->falls - 1 : 0;

	if (kvl_health_eligible(h))
		return 0;
	first <<= doublings < 20 ? doublings : 20;
	return h->since_ms + (first < most ? first : most);
}

double kvl_health_share(
	const struct kvl_health *h, const struct kvl_health_params *params, uint64_t now_ms)
{
	uint64_t step = or_default(params->ramp_ms, KVL_HEALTH_RAMP_MS) / KVL_HEALTH_RAMP_STEPS;
	uint64_t steps;

	if (!kvl_health_eligible(h))
		return 0;
	if (h->state == KVL_HEALTH_HALF_OPEN)
		return KVL_HEALTH_TRIAL_SHARE;
	if (h->ramp_ms == 0 || step == 0)
		return 1;
	steps = 1 + (now_ms - h->ramp_ms) / step;
	return steps >= KVL_HEALTH_RAMP_STEPS ? 1 : (double)steps / KVL_HEALTH_RAMP_STEPS;
}

bool kvl_health_observed(const struct kvl_health *h, uint64_t now_ms)
{
	if (h->state != KVL_HEALTH_HEALTHY)
		return true;
	return h->anomaly_ms != 0 && now_ms - h->anomaly_ms < KVL_HEALTH_OBSERVE_MS;
}

uint64_t kvl_health_probe_at(const struct kvl_health *h, const struct kvl_health_params *params)
{
	uint64_t next = h->probe_ms == 0 ? 0 : h->probe_ms + params->probe_interval_ms, stale;

	if (params->always_probe || h->state != KVL_HEALTH_HEALTHY)
		return next;
	stale = h->passive_ms == 0 ? 0 : h->passive_ms + params->passive_fresh_ms;
	return stale > next ? stale : next;
}

const char *kvl_health_name(enum kvl_health_state state)
{
	static const char *const names[KVL_HEALTH_STATES] = {
		[KVL_HEALTH_HEALTHY] = "healthy",
		[KVL_HEALTH_SUSPECT] = "suspect",
		[KVL_HEALTH_DOWN] = "down",
		[KVL_HEALTH_HALF_OPEN] = "half_open",
		[KVL_HEALTH_COOLDOWN] = "cooldown",
	};

	return state < KVL_HEALTH_STATES ? names[state] : "unknown";
}

const char *kvl_silence_name(enum kvl_silence silence)
{
	static const char *const names[KVL_SILENCES] = {
		[KVL_SILENCE_NONE] = "none",
		[KVL_SILENCE_DOUBTED] = "doubted",
		[KVL_SILENCE_SETTLED] = "settled",
	};

	return silence < KVL_SILENCES ? names[silence] : "unknown";
}

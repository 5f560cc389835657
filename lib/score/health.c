/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/score/health.h"
#include "lib/score/phi.h"

static void note_falls(struct kvl_health *h, enum kvl_health_state from, uint64_t now_ms)
{
	bool was_in = from != KVL_HEALTH_DOWN && from != KVL_HEALTH_COOLDOWN;

	if (was_in && !kvl_health_eligible(h)) {
		h->falls++;
		h->forgiven_ms = now_ms;
	}
	if (from == KVL_HEALTH_HALF_OPEN && h->state == KVL_HEALTH_HEALTHY)
		h->ramp_ms = h->forgiven_ms = now_ms;
}

static bool enter(struct kvl_health *h, enum kvl_health_state state, uint64_t now_ms)
{
	enum kvl_health_state from = h->state;

	if (from == state)
		return false;
	h->state = state;
	h->since_ms = now_ms;
	h->successes = 0;
	h->low_scores = 0;
	h->anomaly_ms = now_ms; /* going, coming back and suspicion all are */
	note_falls(h, from, now_ms);
	return true;
}

static uint32_t down_after(const struct kvl_health_params *params)
{
	return params->timeouts_to_down < 2 ? 2 : params->timeouts_to_down;
}

/* The state that a run of failures means to a node that is not on trial. */
static bool judge_run(struct kvl_health *h, const struct kvl_health_params *params, uint64_t now_ms)
{
	if (h->state == KVL_HEALTH_DOWN)
		return false;
	if (h->state == KVL_HEALTH_HALF_OPEN)
		return h->failures > 0 && enter(h, KVL_HEALTH_DOWN, now_ms);
	if (h->failures >= down_after(params))
		return enter(h, KVL_HEALTH_DOWN, now_ms);
	if (h->state == KVL_HEALTH_COOLDOWN)
		return false;
	if (h->failures >= KVL_HEALTH_SUSPECT_AFTER)
		return enter(h, KVL_HEALTH_SUSPECT, now_ms);
	return false; /* one failure clears nobody of suspicion */
}

/* It lives: whatever its agent's silence is about, it is not that. */
static void note_life(struct kvl_health *h, uint64_t now_ms)
{
	h->alive_ms = now_ms;
	if (h->silence == KVL_SILENCE_DOUBTED)
		h->silence = KVL_SILENCE_SETTLED;
}

static bool succeed(struct kvl_health *h, uint64_t times, uint64_t now_ms)
{
	h->failures = 0;
	note_life(h, now_ms);
	switch (h->state) {
	case KVL_HEALTH_SUSPECT:
		return enter(h, KVL_HEALTH_HEALTHY, now_ms);
	case KVL_HEALTH_HALF_OPEN:
		h->successes = times > KVL_HEALTH_RECOVER - h->successes
				       ? KVL_HEALTH_RECOVER
				       : h->successes + (uint32_t)times;
		return h->successes >= KVL_HEALTH_RECOVER && enter(h, KVL_HEALTH_HEALTHY, now_ms);
	case KVL_HEALTH_HEALTHY:
	case KVL_HEALTH_COOLDOWN: /* only time brings it back */
	case KVL_HEALTH_DOWN:     /* only a probe does */
	case KVL_HEALTH_STATES:
		break;
	}
	return false;
}

static uint32_t add_saturated(uint32_t a, uint64_t b)
{
	return b > UINT32_MAX - a ? UINT32_MAX : a + (uint32_t)b;
}

void kvl_health_init(struct kvl_health *h, uint64_t now_ms)
{
	*h = (struct kvl_health){.state = KVL_HEALTH_HEALTHY, .since_ms = now_ms};
}

static bool settling(
	const struct kvl_health *h, const struct kvl_health_params *params, uint64_t now_ms)
{
	return h->state == KVL_HEALTH_HALF_OPEN && now_ms < h->since_ms + params->settle_ms;
}

bool kvl_health_passive(struct kvl_health *h, const struct kvl_health_params *params,
	uint64_t replies, uint64_t timeouts, uint64_t consecutive_timeouts, uint64_t now_ms)
{
	uint32_t limit = down_after(params);

	if (replies == 0 && timeouts == 0)
		return false;
	h->passive_ms = now_ms;
	if (timeouts == 0 || consecutive_timeouts == 0)
		return replies > 0 && succeed(h, replies, now_ms);
	if (settling(h, params, now_ms))
		return replies > 0 && succeed(h, replies, now_ms);
	if (replies > 0) {
		/* Held one short: see the header. */
		note_life(h, now_ms);
		h->failures =
			consecutive_timeouts < limit ? (uint32_t)consecutive_timeouts : limit - 1;
		if (h->state == KVL_HEALTH_SUSPECT && h->failures < KVL_HEALTH_SUSPECT_AFTER)
			return enter(h, KVL_HEALTH_HEALTHY, now_ms);
		return judge_run(h, params, now_ms);
	}
	/* The workers' run may have begun before a probe's success, or after a probe's failure. */
	h->failures = add_saturated(h->failures, timeouts);
	if (consecutive_timeouts > h->failures)
		h->failures = add_saturated(0, consecutive_timeouts);
	return judge_run(h, params, now_ms);
}

void kvl_health_probe_sent(struct kvl_health *h, uint64_t now_ms)
{
	h->probe_ms = now_ms;
}

bool kvl_health_probe(
	struct kvl_health *h, const struct kvl_health_params *params, bool ok, uint64_t now_ms)
{
	if (ok && h->state == KVL_HEALTH_DOWN) {
		h->failures = 0;
		note_life(h, now_ms);
		return now_ms >= kvl_health_cooldown_until(h, params)
		       && enter(h, KVL_HEALTH_HALF_OPEN, now_ms);
	}
	if (ok)
		return succeed(h, 1, now_ms);
	h->failures = add_saturated(h->failures, 1);
	return judge_run(h, params, now_ms);
}

bool kvl_health_phi(
	struct kvl_health *h, const struct kvl_health_params *params, double phi, uint64_t now_ms)
{
	if (phi <= KVL_PHI_DOWN)
		h->silence = KVL_SILENCE_NONE;
	else if (h->silence == KVL_SILENCE_NONE)
		h->silence = KVL_SILENCE_DOUBTED;
	if (h->silence != KVL_SILENCE_DOUBTED || !kvl_health_eligible(h))
		return false;
	if (h->state == KVL_HEALTH_HEALTHY)
		return h->anomaly_ms + KVL_HEALTH_OBSERVE_MS < now_ms
		       && enter(h, KVL_HEALTH_SUSPECT, now_ms);
	/* An idle node shows no life because nobody asks it: the probes must have had their time. */
	return h->alive_ms + KVL_HEALTH_ALIVE_MS < now_ms
	       && h->since_ms + KVL_HEALTH_ALIVE_MS < now_ms && enter(h, KVL_HEALTH_DOWN, now_ms);
}

bool kvl_health_low(
	struct kvl_health *h, const struct kvl_health_params *params, bool low, uint64_t now_ms)
{
	if (!kvl_health_eligible(h))
		return false;
	if (!low) {
		h->low_scores = 0;
		return false;
	}
	h->anomaly_ms = now_ms;
	return ++h->low_scores >= KVL_HEALTH_LOW_SCORES && enter(h, KVL_HEALTH_COOLDOWN, now_ms);
}

bool kvl_health_tick(struct kvl_health *h, const struct kvl_health_params *params, uint64_t now_ms)
{
	if (h->state == KVL_HEALTH_COOLDOWN && now_ms >= kvl_health_cooldown_until(h, params))
		return enter(h, KVL_HEALTH_HALF_OPEN, now_ms);
	if (h->state == KVL_HEALTH_HEALTHY && h->falls > 0
		&& now_ms - h->forgiven_ms >= KVL_HEALTH_FORGIVE_MS) {
		h->falls--;
		h->forgiven_ms = now_ms;
	}
	return false;
}

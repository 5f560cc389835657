/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * A node's health as a function of what was seen of it and of time (SPEC 6.3-6.6): no clock, no
 * I/O, no allocation in here. Inputs are what the workers counted (passive), what probes found,
 * the silence of its reports (phi), and its scores.
 *
 *   HEALTHY --2 failures--> SUSPECT --3 (timeouts_to_down)--> DOWN
 *    ^ | ^  ^------success------'                              | cooldown over, and a probe
 *    | | ramp (10 s)                                           v succeeds
 *    | | `----- KVL_HEALTH_RECOVER successes ------------ HALF_OPEN --first failure--> DOWN
 *    | `--3 low scores--> COOLDOWN --------cooldown over-------^
 *
 * "Failures" are in a row: a success between them starts the count anew. Only the run counts, so a
 * lossy path keeps its node; and a run that ended in an interval that brought replies too does not
 * take a node out by itself: a dead node is silent for one whole request timeout before its first
 * timeout is noticed, so such an interval shows a living one. It stays one failure short of DOWN,
 * and the probe that SUSPECT asks for, or the next interval, decides.
 *
 * Precedence of the inputs:
 *   1. Runs of failures (timeouts, failed probes) take a node out whatever its scores or reports say.
 *   2. A sign of life (reply, answered probe) outranks missing reports: the agent is dead then, not
 *      the node. It is suspected, so probed, and stays in. The answer settles that silence for good:
 *      until the agent is heard again it says nothing more of the node, which is judged as one
 *      without an agent is. Its reports are stale, which is another matter (fresh.h).
 *   3. Missing reports (phi) take it out when KVL_HEALTH_ALIVE_MS of suspicion, and so of probes,
 *      brought no sign of life either. An idle node, which nobody asks, is alive all the same.
 *   4. Low scores cool it down, from HEALTHY, SUSPECT or HALF_OPEN only; slowness by itself does
 *      not score low (SPEC 4.9; see kvl_health_low()).
 * Whether the last usable replica may go is no node's matter: filter.h.
 *
 * Flapping: each fall doubles the cooldown, 1 s to 30 s, and one fall is forgiven for each
 * KVL_HEALTH_FORGIVE_MS that the node stays healthy. So whatever a node does, it comes or goes at
 * most KVL_HEALTH_CHANGES_PEAK times in any minute (the first: falls after cooldowns of 1, 2, 4, 8
 * and 16 s), and KVL_HEALTH_CHANGES_LASTING times in any minute after its first two.
 */
#define KVL_HEALTH_SUSPECT_AFTER   2
#define KVL_HEALTH_RECOVER         5 /* replies or probes answered in HALF_OPEN */
#define KVL_HEALTH_LOW_SCORES      3 /* in a row: cooldown */
#define KVL_HEALTH_ALIVE_MS        2000
#define KVL_HEALTH_COOLDOWN_MS     1000
#define KVL_HEALTH_COOLDOWN_MOST   30000
#define KVL_HEALTH_FORGIVE_MS      60000
#define KVL_HEALTH_OBSERVE_MS      5000 /* observation outlasts what caused it by this */
#define KVL_HEALTH_RAMP_MS         10000
#define KVL_HEALTH_RAMP_STEPS      10
#define KVL_HEALTH_TRIAL_SHARE     0.05 /* of its weight, in HALF_OPEN */
#define KVL_HEALTH_CHANGES_PEAK    12
#define KVL_HEALTH_CHANGES_LASTING 6

enum kvl_health_state {
	KVL_HEALTH_HEALTHY,
	KVL_HEALTH_SUSPECT,   /* still in */
	KVL_HEALTH_DOWN,      /* out: not reachable */
	KVL_HEALTH_HALF_OPEN, /* in again, on trial */
	KVL_HEALTH_COOLDOWN,  /* out: reachable, and no good */
	KVL_HEALTH_STATES,
};

/* What the node's agent, if it has one, is keeping quiet about. */
enum kvl_silence {
	KVL_SILENCE_NONE,    /* its reports come, or none ever came */
	KVL_SILENCE_DOUBTED, /* they have stopped (phi), and the node has shown no life since */
	KVL_SILENCE_SETTLED, /* they have stopped, and the node lives: the agent's trouble, not its own */
	KVL_SILENCES,
};

/* Times in milliseconds. One per service policy; borrowed by the nodes, may change at any time. */
struct kvl_health_params {
	uint32_t timeouts_to_down; /* failures in a row; less than 2 is taken as 2 (SPEC 6.6) */
	uint32_t probe_interval_ms;
	uint32_t passive_fresh_ms; /* trust in passive data; without any for this long: probe */
	/* The longest request timeout. Timeouts noticed within it after a node came back are of
	 * requests sent before it went, and no failure on trial. */
	uint32_t settle_ms;
	bool always_probe; /* dsr: there is no passive data */
	/* 0 = the defaults above */
	uint32_t cooldown_ms, cooldown_most_ms;
	uint32_t ramp_ms;
};

struct kvl_health {
	enum kvl_health_state state;
	enum kvl_silence silence;
	uint32_t failures;             /* in a row */
	uint32_t successes;            /* since HALF_OPEN began */
	uint32_t low_scores;           /* in a row */
	uint32_t falls;                /* not yet forgiven: the cooldown doubles with each */
	uint64_t since_ms;             /* when the state began */
	uint64_t passive_ms, probe_ms; /* last passive data, last probe sent; 0 = never */
	uint64_t alive_ms;             /* last sign of life */
	uint64_t anomaly_ms;           /* last cause for observation; 0 = never */
	uint64_t ramp_ms;              /* when it came back; 0 = it never went */
	uint64_t forgiven_ms;          /* since when the next fall's forgiveness is being earned */
};

#define KVL_HEALTH_NEVER UINT64_MAX

/* A node not heard of yet is HEALTHY and wants a probe at once. now_ms: a monotonic clock, > 0. */
void kvl_health_init(struct kvl_health *h, uint64_t now_ms);

/*
 * What the workers counted since the last call: replies in time, timeouts, and how many timeouts
 * the node has had in a row by now (since its last reply, whenever that was). A call with neither
 * replies nor timeouts changes nothing. Returns true when the state changed.
 */
bool kvl_health_passive(struct kvl_health *h, const struct kvl_health_params *params,
	uint64_t replies, uint64_t timeouts, uint64_t consecutive_timeouts, uint64_t now_ms);

/* A probe was sent: the next is not due before the interval has passed. */
void kvl_health_probe_sent(struct kvl_health *h, uint64_t now_ms);

/* A probe was answered, or failed (timeout, ICMP error). Returns true when the state changed. */
bool kvl_health_probe(
	struct kvl_health *h, const struct kvl_health_params *params, bool ok, uint64_t now_ms);

/* phi of the node's reports (phi.h), each tick: once it has fallen, the next silence is a new one.
 * Returns true when the state changed. */
bool kvl_health_phi(
	struct kvl_health *h, const struct kvl_health_params *params, double phi, uint64_t now_ms);

/*
 * One score was worked out, once a second or so: `low` when it is below what a node deserves that
 * is merely slow or busy (a rejecting one is far below). Returns true when the state changed.
 */
bool kvl_health_low(
	struct kvl_health *h, const struct kvl_health_params *params, bool low, uint64_t now_ms);

/* What time alone does: the end of a cooldown, forgiveness. Returns true when the state changed. */
bool kvl_health_tick(struct kvl_health *h, const struct kvl_health_params *params, uint64_t now_ms);

/* When the present cooldown is over; the past when there is none. */
uint64_t kvl_health_cooldown_until(
	const struct kvl_health *h, const struct kvl_health_params *params);

/* The share of its weight that the node gets now, 0..1: nothing when out, KVL_HEALTH_TRIAL_SHARE on
 * trial, then by steps up to 1 over the ramp. */
double kvl_health_share(
	const struct kvl_health *h, const struct kvl_health_params *params, uint64_t now_ms);

/* Under observation: suspect, on trial, a low score, or any of these a moment ago. Its score is
 * taken times 0.85 (SPEC 6.6). */
bool kvl_health_observed(const struct kvl_health *h, uint64_t now_ms);

/* When the next probe is wanted: a time, in the past if it is due, or KVL_HEALTH_NEVER as long as
 * the passive data tells enough (the answer changes with every call above). */
uint64_t kvl_health_probe_at(const struct kvl_health *h, const struct kvl_health_params *params);

/* Whether requests may go there. */
static inline bool kvl_health_eligible(const struct kvl_health *h)
{
	return h->state != KVL_HEALTH_DOWN && h->state != KVL_HEALTH_COOLDOWN;
}

/* "healthy", "suspect", "down", "half_open", "cooldown": in the control socket's answers. */
const char *kvl_health_name(enum kvl_health_state state);

const char *kvl_silence_name(enum kvl_silence silence); /* "none", "doubted", "settled" */

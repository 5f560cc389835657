/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lib/score/figures.h"
#include "lib/score/fleet.h"
#include "lib/score/health.h"
#include "lib/score/histogram.h"
#include "lib/score/history.h"
#include "lib/score/phi.h"
#include "lib/score/self_check.h"
#include "lib/score/weights.h"
#include "lib/score/window.h"

/*
 * All of it together for the nodes of one pool: what was seen goes in, weights come out. The
 * control core drives it, and so does the simulator (tests/sim). No clock, no I/O; memory is taken
 * when it is made (30 KB a node) and never later.
 *
 * Each tick (50 ms): kvl_scorer_passive() for each node, then kvl_scorer_tick(). Reports and probes
 * as they come. kvl_scorer_tick() says whether the weights have changed and should be published.
 */
#define KVL_SCORER_PERIOD_MS   500  /* scores are worked out this often */
#define KVL_SCORER_LOW_MS      1000 /* and judged for a cooldown this often */
#define KVL_SCORER_LEAST       20   /* replies that a sample is made of, */
#define KVL_SCORER_PATIENCE_MS 5000 /* or as few as have come, this long after the last; */
#define KVL_SCORER_REJECTS     2    /* of rates: rejections that are enough, too */

struct kvl_scorer_params {
	struct kvl_score_params score;
	struct kvl_weights_params weights;
	struct kvl_health_params health;
	uint32_t report_interval_ms;
	double low_score; /* below: one of the three that cool a node down; default 0.3 */
};

struct kvl_scorer_params kvl_scorer_defaults(uint32_t replication);

/* What a worker's counters say since the last tick. */
struct kvl_seen {
	struct kvl_outcomes outcomes;
	uint64_t timeouts_in_a_row;
	const struct kvl_histogram *latency; /* of the replies; NULL = none */
};

struct kvl_scored_node {
	bool present;
	bool reachable, ejected, draining; /* set by the caller, at any time */
	bool unconfirmed, far;             /* the same */
	bool probe_failing;                /* the last probe failed, and no reply has come since */
	double network_cost;               /* the same; NAN = unknown */
	struct kvl_health health;
	struct kvl_phi phi;
	struct kvl_window windows[KVL_METRIC_COUNT];
	struct kvl_history history;
	struct kvl_capability capability;
	uint32_t report_flags;
	uint64_t report_ms;      /* when the last report came; 0 = never */
	uint64_t report_time_ms; /* its own time */
	double share;            /* at the last tick */
	/* outcomes since the last sample of rates, replies since the last of latency, and when those
	 * two were taken */
	struct kvl_outcomes gathered;
	struct kvl_histogram gathered_latency;
	uint64_t latencies;
	uint64_t gathered_ms, latency_ms;
	/* as of the last scoring, by request class */
	struct kvl_facts facts;
	double p99_us; /* the last that was known, however old: for timeouts, which need some idea */
	enum kvl_filter own[KVL_CLASSES];    /* kvl_filter_node(): what speaks against it */
	enum kvl_filter reason[KVL_CLASSES]; /* after kvl_filter_spare(): IN in spite of that? */
	struct kvl_breakdown breakdown[KVL_CLASSES];
};

struct kvl_scorer;

/* NULL with ENOMEM. Nodes are numbered below `max`. */
struct kvl_scorer *kvl_scorer_new(uint32_t max, const struct kvl_scorer_params *params);
void kvl_scorer_free(struct kvl_scorer *s);

/* May change at any time; health, windows and history stay. */
void kvl_scorer_configure(struct kvl_scorer *s, const struct kvl_scorer_params *params);

/* The number stands for a new node; nothing is known of it. */
void kvl_scorer_join(struct kvl_scorer *s, uint16_t node, uint64_t now_ms);
void kvl_scorer_leave(struct kvl_scorer *s, uint16_t node);

/* For reading, and for the fields that are the caller's. */
struct kvl_scored_node *kvl_scorer_node(struct kvl_scorer *s, uint16_t node);

/* Each returns true when the node's health changed state: publish without waiting for the tick. */
bool kvl_scorer_passive(
	struct kvl_scorer *s, uint16_t node, const struct kvl_seen *seen, uint64_t now_ms);
bool kvl_scorer_probe(struct kvl_scorer *s, uint16_t node, bool ok, uint64_t now_ms);
/* Returns the number of figures rejected (windows[].rejected count them by fault), or -ESTALE: the
 * report is not newer than the last, and was left out whole. */
int kvl_scorer_report(struct kvl_scorer *s, uint16_t node, const struct kvl_report_figures *report,
	uint64_t now_ms);

/* The reports' clock was set back: what they said is forgotten, so that earlier times are newer. */
void kvl_scorer_forget_reports(struct kvl_scorer *s, uint16_t node);

/* 0..1, how well the topology is known (SPEC 5.3): 1 from the start, KVL_CONFIDENCE_STALE when it is
 * stale. The next tick gives other weights. */
void kvl_scorer_confidence(struct kvl_scorer *s, double confidence);

/* What time does: cooldowns, phi, ramps; scores when they are due. Returns true when
 * kvl_scorer_weights() would give others than at the last call. */
bool kvl_scorer_tick(struct kvl_scorer *s, uint64_t now_ms);

/* Weights of one class by node number, `count` of them: at least highest number + 1. */
void kvl_scorer_weights(struct kvl_scorer *s, unsigned int class, uint64_t now_ms,
	uint16_t *weights, uint32_t count);

/* Whether the scores still follow what is observed (SPEC 6.8), judged once a second. */
const struct kvl_self_check *kvl_scorer_self_check(const struct kvl_scorer *s);

const struct kvl_fleet *kvl_scorer_fleet(const struct kvl_scorer *s);

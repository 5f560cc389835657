/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ring/lookup.h"
#include "lib/score/pulse.h"
#include "lib/score/scorer.h"
#include "tests/sim/rng.h"

/*
 * A fleet in virtual time: open-loop Zipf traffic through several routers, which choose among the
 * candidates of a real ring, to nodes with several servers and one queue each. Deterministic by
 * seed; arrivals, keys and service times are the same for every policy. Times are nanoseconds.
 *
 * The shape of nodes and network is that of C3's own simulation (NSDI'15, section 6): exponential
 * service of mean 4 ms, 4 requests at a time, 250 us one way.
 */
#define SIM_NODES       12
#define SIM_ROUTERS     4
#define SIM_SERVERS     4
#define SIM_KEYS        100000
#define SIM_REPLICATION 3
#define SIM_QUEUE_MOST  1024 /* a node drops what comes beyond */

#define SIM_US      UINT64_C(1000)
#define SIM_MS      UINT64_C(1000000)
#define SIM_SECOND  UINT64_C(1000000000)
#define SIM_MEAN    (4 * SIM_MS)   /* service time of a node of speed 1 */
#define SIM_HOP     (250 * SIM_US) /* one way */
#define SIM_TIMEOUT (200 * SIM_MS) /* a failed request counts with it as its latency */
#define SIM_TICK    (50 * SIM_MS)  /* of the control core: KVL_HEALTH_TICK_MS */
#define SIM_REPORT  (2 * SIM_SECOND)
#define SIM_NONE    UINT32_MAX

struct sim_request {
	uint64_t start;   /* when the client's request reached the router */
	uint64_t service; /* at a node of speed 1 */
	uint32_t id;      /* tells a slot's present request from an earlier one; 0 = free */
	uint32_t next;    /* in the node's queue, or the free list */
	uint16_t node;
	uint8_t router;
	bool open; /* the router still waits */
	bool rejected;
	uint32_t queue_seen; /* at the node when it was done: what C3's servers send along */
	uint64_t served_ns;  /* how long it was in service */
};

struct sim_node {
	double speed;  /* now; the scenario's */
	double reject; /* probability */
	bool alive;
	bool compacting;
	uint32_t epoch; /* rises at death: what was in service then is lost */
	uint32_t busy, queued, transit;
	uint32_t head, tail;                       /* of the queue */
	uint64_t busy_ns, busy_since, reported_ns; /* server time, for its CPU figure */
	uint64_t served;
};

/* A router's memory of a node, by what every policy may know. */
struct sim_peer {
	uint64_t replies, rejects, timeouts; /* since the last tick */
	uint64_t run;                        /* timeouts in a row */
	struct kvl_histogram latency;        /* since the last tick */
	uint64_t probe_due;                  /* when the outstanding probe ends; 0 = none */
	bool probe_ok;
	/* C3: moving averages, all with weight 0.9 on the old (NSDI'15, section 5) */
	double ewma_us, ewma_service_us, ewma_queue;
	/* Prequal: the newest probe's answer */
	uint32_t probed_rif;
	double probed_us;
};

#define SIM_PROBES 4096

struct sim_probe { /* on its way back to the router */
	uint64_t at;
	uint16_t node;
	uint32_t rif;
	double us;
};

struct sim_router {
	struct rng rng;
	struct sim_peer peers[SIM_NODES];
	struct kvl_scorer *scorer;
	struct kvl_pulse pulses[SIM_NODES]; /* as kvlane's workers keep them */
	uint16_t weights[SIM_NODES];        /* 0 = out */
	float handicaps[SIM_NODES];         /* as the published root has them */
	uint32_t turn;                      /* round robin's */
	uint64_t changes;                   /* nodes that came or went in the weights */
	struct sim_probe probes[SIM_PROBES];
	uint32_t probe_head, probe_tail;
	uint32_t rif_limit;
};

struct sim;

/* A policy chooses one of the row's first SIM_REPLICATION nodes whose weight is not 0. */
struct sim_policy {
	const char *name;
	bool scores; /* weights by kvlane's scores; else by health alone: in or out */
	uint16_t (*choose)(struct sim *sim, struct sim_router *router, const struct kvl_row *row);
};

struct sim_scenario {
	const char *name;
	const char *title;
	/* Sets the nodes' state at `now`; called every 10 ms. */
	void (*play)(struct sim *sim, uint64_t now);
	double hot_share; /* of the traffic to one more key */
	uint64_t report_delay;
	double report_loss;
	double classes[3]; /* speeds of every third node; 0 = all 1 */
};

struct sim_params {
	const struct sim_scenario *scenario;
	const struct sim_policy *policy;
	double load; /* of the nodes' nominal capacity */
	uint64_t seed;
	uint64_t warm_up, end;
	struct kvl_scorer_params scorer;
	uint32_t hot; /* of p2c */
};

struct sim_result {
	double p50_ms, p99_ms, p999_ms, mean_ms;
	double success;    /* share */
	double node_share; /* the busiest node's of all served */
	double changes;    /* route changes a minute and router */
	uint64_t requests, events;
};

struct sim {
	const struct sim_params *params;
	uint64_t now;
	struct sim_node nodes[SIM_NODES];
	double nominal[SIM_NODES];
	struct sim_router routers[SIM_ROUTERS];
	struct rng arrivals, chance;
	struct sim_queues *queues;
	struct sim_request *requests;
	uint32_t request_count, request_free;
	uint32_t next_id;
	struct sim_tally *tally;
	uint64_t seen;
};

extern const struct sim_policy sim_policies[]; /* the oracle is the last */
extern const size_t sim_policy_count;
extern const struct sim_scenario sim_scenarios[];
extern const size_t sim_scenario_count;

/* 35 s at 70% after 5 s of warm-up, the scorer's defaults; scenario and policy are to be set. */
struct sim_params sim_defaults(void);

/* Runs one; aborts when out of memory. */
void sim_run(const struct sim_params *params, struct sim_result *result);

/* router.c */
void sim_router_start(struct sim *sim, struct sim_router *r, unsigned int number);
void sim_router_stop(struct sim_router *r);
void sim_router_tick(struct sim *sim, struct sim_router *r);
void sim_router_sent(struct sim *sim, struct sim_router *r, uint16_t node);
void sim_router_reply(struct sim *sim, struct sim_router *r, const struct sim_request *q);
void sim_router_timeout(struct sim *sim, struct sim_router *r, uint16_t node);
void sim_report(struct sim *sim, struct sim_router *r, uint16_t node,
	const struct kvl_report_figures *figures);

/* All requests on their way to the node, waiting or served. */
static inline uint32_t sim_node_all(const struct sim_node *n)
{
	return n->busy + n->queued + n->transit;
}

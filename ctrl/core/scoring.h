/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "ctrl/core/topology.h"
#include "lib/score/profile.h"
#include "lib/score/scorer.h"
#include "lib/score/self_check.h"

/*
 * A scorer (lib/score/scorer.h) for each pool that a service uses: set up from the topology, asked
 * for the weights of a root. Control core only.
 */
struct kvl_scoring;

/* Nodes are numbered below `max`. NULL with errno. */
struct kvl_scoring *kvl_scoring_new(uint32_t max);
void kvl_scoring_free(struct kvl_scoring *s);

/*
 * Makes and configures the scorers for the services' pools, as their first service says, and drops
 * those of pools that went, with all that they knew. The minimum share is the largest that one of
 * them asks for, by its own replication. Returns 0 or -ENOMEM.
 */
int kvl_scoring_follow(struct kvl_scoring *s, const struct kvl_topology *t,
	const struct kvl_health_config *health, uint32_t report_interval_ms);

/* The node number stands for a new node of the pool. False: no service uses the pool. */
bool kvl_scoring_join(struct kvl_scoring *s, uint16_t node, const char *pool, uint64_t now_ms);
void kvl_scoring_leave(struct kvl_scoring *s, uint16_t node);

/* The scorer that knows the node, its parameters, the node itself; NULL when none does. */
struct kvl_scorer *kvl_scoring_of(const struct kvl_scoring *s, uint16_t node);
const struct kvl_scorer_params *kvl_scoring_params(const struct kvl_scoring *s, uint16_t node);
struct kvl_scored_node *kvl_scoring_node(const struct kvl_scoring *s, uint16_t node);

/* What the workers asked of a node since the last call: for `profile: auto`. */
void kvl_scoring_count(struct kvl_scoring *s, uint16_t node, uint64_t reads, uint64_t writes);

/* How well the topology is known, of all pools that there are (kvl_scorer_confidence()). */
void kvl_scoring_confidence(struct kvl_scoring *s, double confidence);

/* What time does to all of them, profiles included; the minute is of the operator's day. Returns
 * true when weights should be published. */
bool kvl_scoring_tick(struct kvl_scoring *s, uint32_t minute_of_day, uint64_t now_ms);

/* Fills weights[KVL_CLASSES][count]; updates every node's reasons. */
void kvl_scoring_weights(struct kvl_scoring *s, uint64_t now_ms, uint16_t *weights, uint32_t count);

/* Pools whose scores no longer tell good nodes from bad (SPEC 6.8): their number, and the name of
 * one of them in *pool. */
unsigned int kvl_scoring_alarms(const struct kvl_scoring *s, const char **pool);

/* One pool, for those who look on; pointers are valid until the next change. */
struct kvl_scoring_pool {
	const char *name, *service; /* the service whose `scoring:` counts */
	const struct kvl_scorer_params *params;
	enum kvl_choice choice; /* that service's; each has its own */
	const struct kvl_profile_rule *rule;
	enum kvl_profile profile; /* that applies now */
	uint64_t profile_age_ms;
	double read_share; /* of the last 5 minutes; NAN: too few requests */
	const struct kvl_self_check *self_check;
	const struct kvl_fleet *fleet;
};

/* The pool at place i, below KVL_SERVICES_MAX. False: there is none. */
bool kvl_scoring_pool(const struct kvl_scoring *s, unsigned int i, uint64_t now_ms,
	struct kvl_scoring_pool *pool);

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <jansson.h>

#include "lib/model/config.h"

/*
 * The nodes of one pool as a placement wants them, from a configuration or from a running
 * kvlaned's answer, and what keys see of a placement. Strings stay those of where they came from.
 */
struct fleet {
	struct kvl_member *members; /* by number, which is the index here */
	size_t count;
};

/* Both abort the program when there is no memory, as everything in kvlanectl does. */
struct fleet fleet_of_config(const struct kvl_config *config, const char *pool);
struct fleet fleet_of_answer(const json_t *nodes, const char *pool);
void fleet_free(struct fleet *fleet);

/* The placement, or NULL with errno. */
struct kvl_placement *fleet_place(
	const struct fleet *fleet, const struct kvl_placement_params *params);

/* What a change does to a sample of FLEET_KEYS keys: shares of them. */
#define FLEET_KEYS 100000
struct fleet_change {
	double moved;   /* to another node, or to or from none */
	double between; /* of these, from one that stays to one that was there */
};

struct fleet_side {
	const struct fleet *fleet;
	const struct kvl_placement *placement; /* of the fleet's nodes */
	uint64_t seed;
};

struct fleet_change fleet_compare(const struct fleet_side *before, const struct fleet_side *after);

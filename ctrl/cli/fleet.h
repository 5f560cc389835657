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

/* Id of the node that has the sample's i-th key; NULL when there is no node. */
#define FLEET_KEYS 100000
const char *fleet_owner(const struct fleet *fleet, const struct kvl_placement *placement,
	uint64_t seed, unsigned int i);

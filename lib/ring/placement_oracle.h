/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

#include "lib/ring/placement.h"

/*
 * A second reading of SPEC 2.3 and 2.4 for the tests: no index, no sorted array, no shared code;
 * every step looks at every token and compares strings. Slow and meant to be obviously right.
 */
struct oracle_token {
	uint64_t value;
	const struct kvl_member *member;
};

struct oracle {
	struct oracle_token *tokens; /* in no order */
	size_t count;
	uint32_t replication;
};

struct oracle oracle_new(
	const struct kvl_placement_params *params, const struct kvl_member *members, size_t count);
void oracle_free(struct oracle *oracle);

/* The token a hash belongs to; NULL when there is none. */
const struct oracle_token *oracle_find(const struct oracle *oracle, uint64_t hash);

/* The row of a token. Returns how many of it are the preference list. */
uint32_t oracle_row(
	const struct oracle *oracle, const struct oracle_token *from, struct kvl_row *row);

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ring/hash.h"
#include "lib/ring/placement.h"

/* Shared by the files of this folder only. Members are in id order (bytes, as strcmp() has it)
 * wherever they appear here, and `owner` is an index into them. */

struct token {
	uint64_t value;
	uint32_t owner;
};

/* Order on the ring, for qsort(): by value; of equal values the lower id first. */
int token_compare(const void *a, const void *b);

/*
 * One kind of placement: how many tokens there are, and where they lie. Two ways of looking one up:
 * the first token at or above the hash, or (hashed: by the remainder) token number hash % tokens.
 * Kinds that have no tokens by nature are worked out once for each of a fixed number of slots, so
 * that all are looked up alike.
 */
#define SLOTS        65536u
#define MAGLEV_SLOTS 65537u /* a prime, as its permutations need */

struct placement_ops {
	const char *name;
	const char *alias;
	bool remainder;          /* hash % tokens; implied by table */
	uint32_t table;          /* a fixed number of tokens, 0: the sum of shares or total() */
	enum kvl_hash_kind hash; /* of keys */

	/* Tokens of one member; all alike or by its weight. NULL with table. */
	uint64_t (*share)(const struct kvl_placement_params *params, const struct kvl_member *m);

	/* Their number, where it is not the sum of shares; optional. */
	uint64_t (*total)(const struct kvl_placement_params *params,
		const struct kvl_member *members, size_t count);

	/* Fills the tokens, in walk order. count > 0. Returns 0 or -ENOMEM. */
	int (*place)(const struct kvl_placement_params *params, const struct kvl_member *members,
		size_t count, struct token *tokens);

	/* Fills the rows, where they do not follow from walking the tokens; optional. As
	 * preference_rows(). */
	int (*rows)(const struct kvl_placement_params *params, const struct kvl_member *members,
		size_t count, struct kvl_row *rows, uint32_t *hosts);
};

extern const struct placement_ops ring_ops;
extern const struct placement_ops modulo_ops;
extern const struct placement_ops rendezvous_ops;
extern const struct placement_ops maglev_ops;
extern const struct placement_ops jump_ops;
extern const struct placement_ops ketama_ops;
extern const struct placement_ops ketama_unweighted_ops;

/* For each of the 2^(64-shift) buckets of hashes: the first token at or above its lowest one. */
void index_fill(uint32_t *index, uint32_t shift, const uint64_t *value, uint32_t tokens);

/*
 * The candidate row of every token (preference.c). *hosts gets the number of distinct hosts.
 * Returns 0 or -ENOMEM.
 */
int preference_rows(const struct kvl_member *members, size_t count, const struct token *tokens,
	size_t token_count, uint32_t replication, struct kvl_row *rows, uint32_t *hosts);

/* See kvl_placement_digest(). Returns 0 or -ENOMEM. */
int placement_digest(const struct kvl_placement *p, const struct kvl_member *members, size_t count,
	uint64_t *digest);

/*
 * Numbers for what members share, so that the walk compares numbers instead of strings.
 * The arrays have one element a member. Returns 0 or -ENOMEM.
 */
struct groups {
	uint32_t *host; /* member -> host; a member without one has a host of its own */
	uint32_t *zone; /* member -> zone */
	uint32_t *cell; /* member -> the part of its zone that is on its host */
	uint32_t hosts, zones, cells;
};

int groups_init(struct groups *groups, const struct kvl_member *members, size_t count);
void groups_fini(struct groups *groups);

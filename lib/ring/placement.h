/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * From a key's hash to its candidate row. A placement is a pure function of the members (ids,
 * weights, hosts, zones) and of its parameters: the order in which members are given does not
 * matter, health never changes it (SPEC 2.1).
 *
 * It is one position-independent block of kvl_placement_size() bytes: a replica for another NUMA
 * node is a memcpy(). Immutable once built; any number of threads may read it.
 */

enum kvl_placement_kind {
	KVL_PLACE_RING,       /* consistent hashing with virtual nodes */
	KVL_PLACE_MODULO,     /* hash % n over the members in id order */
	KVL_PLACE_RENDEZVOUS, /* highest random weight, by slot */
	KVL_PLACE_MAGLEV,
	KVL_PLACE_JUMP,
	KVL_PLACE_KETAMA,            /* libmemcached's KETAMA_WEIGHTED; twemproxy's ketama */
	KVL_PLACE_KETAMA_UNWEIGHTED, /* libmemcached's KETAMA */
	KVL_PLACE_KINDS
};

#define KVL_REPLICATION_MAX 5 /* N: preference list length */
#define KVL_ROW_MAX         8 /* candidates in a row: N, then the walk goes on (extended) */
#define KVL_VNODES_MAX      1000
#define KVL_VNODES_DEFAULT  160 /* ketama's figure */
#define KVL_NODE_NONE       UINT16_MAX

struct kvl_placement_params {
	enum kvl_placement_kind kind;
	uint32_t replication; /* N, 1..KVL_REPLICATION_MAX; default 1 */
	uint32_t vnodes;      /* tokens of a node of weight 100; default 160 */
	uint64_t seed;        /* of the key hash and of the tokens; default 0 */
};

/* What the placement needs to know of a node. Strings are borrowed for the call only. */
struct kvl_member {
	const char *id;   /* unique */
	const char *host; /* "" = a host of its own */
	const char *zone; /* "" = a zone shared by all such members */
	uint32_t weight;  /* 100 = one share */
	uint16_t number;  /* what rows hold; unique, below KVL_NODE_NONE */
	/* ketama only: the name that libmemcached's clients know the server by. */
	const char *server;
};

/*
 * Candidates for one token, best first; the walk is clockwise from the token, wrapping once.
 *   1. The preference list (SPEC 2.4): nodes of unseen zones and unseen hosts in walk order while
 *      there are such, then nodes of unseen hosts in walk order; N of them, or all there are.
 *   2. So that a candidate that falls can be replaced, the walk's other nodes of unseen hosts
 *      (zones matter no more), then all the rest, in walk order.
 * Two copies on one host are not two copies: with fewer hosts than N the preference list is
 * shorter than N, the same for every row (kvl_placement_preferred()), and nodes of a taken host
 * stand behind it only. Unused places hold KVL_NODE_NONE, at the end only.
 */
struct kvl_row {
	uint16_t node[KVL_ROW_MAX];
} __attribute__((aligned(16)));

struct kvl_placement;

/*
 * Builds. Returns a block that free() releases, or NULL with errno: EINVAL (parameters, two
 * members of one id or one number), E2BIG (more than KVL_TOKENS_MAX tokens), ENOMEM.
 * No members at all is valid: every lookup gives an empty row.
 */
struct kvl_placement *kvl_placement_build(
	const struct kvl_placement_params *params, const struct kvl_member *members, size_t count);

/* Memory bound: 24 bytes a token and 6 to 12 of index, so at most 128 MiB a replica. */
#define KVL_TOKENS_MAX      (4u << 20)
#define KVL_TOKEN_BYTES_MAX 36

/*
 * What is hashed, byte for byte (SPEC 2.1); the tests hold golden vectors of each:
 *   key    XXH3_64bits_withSeed(key bytes, seed)
 *   token  XXH3_64bits_withSeed(id bytes, 0x00, LE32 index; seed), index = 0 .. tokens-1; a node
 *          has max(1, vnodes*weight/100) tokens. Sorted by value; equal values by node id, ids
 *          compared as unsigned bytes.
 * A key belongs to the first token >= its hash, wrapping to the lowest.
 * Modulo: members by id, each max(1, weight/100) times in a row; a key belongs to hash % n.
 */

/* How many tokens a member of that weight gets; params as kvl_placement_build() takes them. */
uint64_t kvl_placement_tokens_for(const struct kvl_placement_params *params, uint32_t weight);

size_t kvl_placement_size(const struct kvl_placement *placement);

/* Hash of a key: XXH3-64 with the service's seed (SPEC 2.1). Inline in hash.h: kvl_key_hash(). */

/*
 * Lookup, in steps so that a burst can prefetch each before the next touches memory; all
 * inline in lookup.h:
 *   void     kvl_placement_prefetch_index(placement, hash);
 *   uint32_t kvl_placement_start(placement, hash);          prefetches the token
 *   uint32_t kvl_placement_find_from(placement, hash, start); token number; no member: 0
 *   uint32_t kvl_placement_find(placement, hash);           the last two in one
 *   void     kvl_placement_prefetch_row(placement, token);
 *   const struct kvl_row *kvl_placement_row(placement, token);
 *   uint32_t kvl_placement_preferred(placement);            length of the preference list
 */

/* For explanations: the token's value on the ring (modulo: the remainder), number of tokens,
 * tokens of one node, and the share of the hash space that a node's tokens own (0..1). */
uint64_t kvl_placement_token(const struct kvl_placement *placement, uint32_t token);
uint32_t kvl_placement_tokens(const struct kvl_placement *placement);
uint32_t kvl_placement_tokens_of(const struct kvl_placement *placement, uint16_t number);
double kvl_placement_share(const struct kvl_placement *placement, uint16_t number);

/*
 * A digest that two routers compare (SPEC 2.1): equal for equal parameters and members, whatever
 * the order given and whatever numbers the nodes got. XXH3 64-bit without seed over, integers
 * little-endian, strings with their NUL: u32 kind, u32 N, u32 vnodes, u64 seed; u32 members, each
 * in id order: id, host, zone, u32 weight; u32 tokens, each: u64 value, 8 u16 candidates as ranks
 * in id order (0xffff = none). What came out is covered too, so that programs that place
 * differently do not agree by digest.
 */
uint64_t kvl_placement_digest(const struct kvl_placement *placement);

const char *kvl_placement_name(enum kvl_placement_kind kind); /* "ring", "modulo" */

/* Also takes the aliases consistent_hashing and hash_modulo. Returns 0 or -EINVAL. */
int kvl_placement_parse(const char *name, enum kvl_placement_kind *kind);

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <string.h>

#include "lib/model/policy.h"

/*
 * A service's prefix rules, compiled: the longest prefix of a key wins. A table by first byte tells
 * most keys with one load that no rule is theirs. Rules of one first byte are a group, in
 * alphabetical order: the longest that is a prefix of the key is the last one not behind the key,
 * or a prefix of that one. So a binary search, over KVL_RULE_HEAD bytes behind what all of the group
 * have in common, and then a walk along the prefixes of what it found.
 */
#define KVL_RULE_NONE UINT8_MAX
#define KVL_RULE_HEAD 16

struct kvl_rule {
	uint8_t prefix[KVL_RULE_PREFIX_MAX];
	uint8_t len;
	uint8_t parent; /* the longest rule that is a prefix of this one; set by kvl_rules_build() */
	uint16_t target; /* the caller's; of a root: index of the service that it makes */
};

struct kvl_rule_group {
	uint8_t first, count; /* rules */
	uint8_t common;       /* bytes that all begin with */
};

/* Bytes as numbers, so that a comparison is of numbers; zeros behind what is shorter. */
struct kvl_rule_head {
	uint64_t high, low;
};

struct kvl_rules {
	uint8_t first[256]; /* group of a first byte; KVL_RULE_NONE */
	uint32_t count;
	struct kvl_rule_group groups[KVL_RULES_MAX];
	struct kvl_rule_head heads[KVL_RULES_MAX]; /* of the rules */
	struct kvl_rule rules[];
};

static inline size_t kvl_rules_size(size_t count)
{
	return sizeof(struct kvl_rules) + count * sizeof(struct kvl_rule);
}

/*
 * Sorts `count` rules into `memory` (kvl_rules_size() bytes). Returns 0, or -EINVAL: too many, an
 * empty prefix, one too long, one given twice.
 */
int kvl_rules_build(void *memory, const struct kvl_rule *rules, size_t count);

unsigned int kvl_rules_search(const struct kvl_rules *r, const struct kvl_rule_group *group,
	const uint8_t *key, size_t len);

/* Index of the rule of a key with at least one byte; KVL_RULE_NONE. */
static inline unsigned int kvl_rules_match(
	const struct kvl_rules *r, const uint8_t *key, size_t len)
{
	unsigned int group = r->first[key[0]];

	if (__builtin_expect(group == KVL_RULE_NONE, 1))
		return KVL_RULE_NONE;
	return kvl_rules_search(r, &r->groups[group], key, len);
}

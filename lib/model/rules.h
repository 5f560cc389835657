/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <string.h>

#include "lib/model/policy.h"

/*
 * A service's prefix rules, compiled: the longest prefix of a key wins. A table by first byte tells
 * most keys with one load that no rule is theirs; rules of one first byte stand side by side, the
 * longest first, so the first that fits is the one.
 */
#define KVL_RULE_NONE UINT8_MAX

struct kvl_rule {
	uint8_t prefix[KVL_RULE_PREFIX_MAX];
	uint8_t len;
	uint16_t target; /* the caller's; of a root: index of the service that it makes */
};

struct kvl_rules {
	uint8_t first[256]; /* first rule of a first byte; KVL_RULE_NONE */
	uint32_t count;
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

/* Index of the rule of a key with at least one byte; KVL_RULE_NONE. */
static inline unsigned int kvl_rules_match(
	const struct kvl_rules *r, const uint8_t *key, size_t len)
{
	unsigned int i = r->first[key[0]];

	if (__builtin_expect(i == KVL_RULE_NONE, 1))
		return KVL_RULE_NONE;
	for (; i < r->count && r->rules[i].prefix[0] == key[0]; i++)
		if (r->rules[i].len <= len && memcmp(r->rules[i].prefix, key, r->rules[i].len) == 0)
			return i;
	return KVL_RULE_NONE;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/model/rules.h"

#include <errno.h>
#include <stdlib.h>

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* As strings of bytes: what is a prefix of the other comes first. */
static int bytes_compare(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len)
{
	int diff = memcmp(a, b, least(a_len, b_len));

	return diff != 0 ? diff : (a_len > b_len) - (a_len < b_len);
}

static int rule_compare(const void *a, const void *b)
{
	const struct kvl_rule *x = a, *y = b;

	return bytes_compare(x->prefix, x->len, y->prefix, y->len);
}

static inline uint64_t word_load(const uint8_t *p, size_t len)
{
	uint64_t word = 0;

	if (__builtin_expect(len >= sizeof(word), 1)) {
		memcpy(&word, p, sizeof(word));
		return __builtin_bswap64(word);
	}
	for (size_t i = 0; i < len; i++)
		word |= (uint64_t)p[i] << (56 - 8 * i);
	return word;
}

static inline struct kvl_rule_head head_load(const uint8_t *p, size_t len)
{
	return (struct kvl_rule_head){word_load(p, len), len > 8 ? word_load(p + 8, len - 8) : 0};
}

static bool is_prefix(const struct kvl_rule *rule, const uint8_t *key, size_t len)
{
	return rule->len <= len && memcmp(rule->prefix, key, rule->len) == 0;
}

/* Is the rule behind the key? Equal heads are looked at in full. */
static inline bool is_behind(const struct kvl_rules *r, unsigned int i,
	const struct kvl_rule_head *head, const uint8_t *key, size_t len)
{
	const struct kvl_rule_head *h = &r->heads[i];

	if (h->high != head->high)
		return h->high > head->high;
	if (h->low != head->low)
		return h->low > head->low;
	return bytes_compare(r->rules[i].prefix, r->rules[i].len, key, len) > 0;
}

unsigned int kvl_rules_search(const struct kvl_rules *r, const struct kvl_rule_group *group,
	const uint8_t *key, size_t len)
{
	unsigned int low = group->first, high = group->first + group->count, i;
	size_t common = group->common;
	struct kvl_rule_head head;

	if (len < common || memcmp(r->rules[low].prefix, key, common) != 0)
		return KVL_RULE_NONE;
	head = head_load(key + common, len - common);
	while (low < high) {
		unsigned int middle = (low + high) / 2;

		if (is_behind(r, middle, &head, key, len))
			high = middle;
		else
			low = middle + 1;
	}
	if (low == group->first)
		return KVL_RULE_NONE;
	for (i = low - 1; i != KVL_RULE_NONE && !is_prefix(&r->rules[i], key, len);)
		i = r->rules[i].parent;
	return i;
}

/* Of rules in order, those that `i` begins with stand before it; the nearest is the longest. */
static uint8_t parent_of(const struct kvl_rules *r, uint32_t i)
{
	for (uint32_t k = i; k-- > 0;)
		if (is_prefix(&r->rules[k], r->rules[i].prefix, r->rules[i].len))
			return (uint8_t)k;
	return KVL_RULE_NONE;
}

/* Bytes that the first and the last of a group share, and so all between. */
static uint8_t common_of(const struct kvl_rule *first, const struct kvl_rule *last)
{
	uint8_t n = 0;

	while (n < first->len && n < last->len && first->prefix[n] == last->prefix[n])
		n++;
	return n;
}

static void groups_fill(struct kvl_rules *r)
{
	uint8_t groups = 0;

	for (uint32_t i = 0, end; i < r->count; i = end) {
		struct kvl_rule_group *g = &r->groups[groups];

		end = i;
		while (end < r->count && r->rules[end].prefix[0] == r->rules[i].prefix[0])
			end++;
		*g = (struct kvl_rule_group){(uint8_t)i, (uint8_t)(end - i),
			common_of(&r->rules[i], &r->rules[end - 1])};
		r->first[r->rules[i].prefix[0]] = groups++;
		for (uint32_t k = i; k < end; k++)
			r->heads[k] = head_load(
				r->rules[k].prefix + g->common, r->rules[k].len - g->common);
	}
}

int kvl_rules_build(void *memory, const struct kvl_rule *rules, size_t count)
{
	struct kvl_rules *r = memory;

	if (count > KVL_RULES_MAX)
		return -EINVAL;
	for (size_t i = 0; i < count; i++)
		if (rules[i].len == 0 || rules[i].len > KVL_RULE_PREFIX_MAX)
			return -EINVAL;
	memset(r->first, KVL_RULE_NONE, sizeof(r->first));
	r->count = (uint32_t)count;
	if (count == 0)
		return 0;
	memcpy(r->rules, rules, count * sizeof(*rules));
	qsort(r->rules, count, sizeof(*rules), rule_compare);
	for (uint32_t i = 0; i < r->count; i++) {
		if (i > 0 && rule_compare(&r->rules[i], &r->rules[i - 1]) == 0)
			return -EINVAL;
		r->rules[i].parent = parent_of(r, i);
	}
	groups_fill(r);
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/model/rules.h"

#include <errno.h>
#include <stdlib.h>

/* By first byte, then the longer first, then by content so that equal ones meet. */
static int rule_compare(const void *a, const void *b)
{
	const struct kvl_rule *x = a, *y = b;

	if (x->prefix[0] != y->prefix[0])
		return x->prefix[0] - y->prefix[0];
	if (x->len != y->len)
		return y->len - x->len;
	return memcmp(x->prefix, y->prefix, x->len);
}

int kvl_rules_build(void *memory, const struct kvl_rule *rules, size_t count)
{
	struct kvl_rules *r = memory;

	if (count > KVL_RULES_MAX)
		return -EINVAL;
	memset(r->first, KVL_RULE_NONE, sizeof(r->first));
	r->count = (uint32_t)count;
	memcpy(r->rules, rules, count * sizeof(*rules));
	qsort(r->rules, count, sizeof(*rules), rule_compare);
	for (size_t i = 0; i < count; i++) {
		const struct kvl_rule *rule = &r->rules[i];

		if (rule->len == 0 || rule->len > KVL_RULE_PREFIX_MAX
			|| (i > 0 && rule_compare(rule, rule - 1) == 0))
			return -EINVAL;
		if (r->first[rule->prefix[0]] == KVL_RULE_NONE)
			r->first[rule->prefix[0]] = (uint8_t)i;
	}
	return 0;
}

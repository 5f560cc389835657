/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * The part of a key that is hashed, so that keys which belong together lie on one node (SPEC 2.5):
 * what stands between the first `open` and the next `close` behind it, `user{42}name` with "{}"; or
 * what stands in front of the first `separator`. Where the part would be empty, or a mark is
 * missing, the whole key is hashed. All of it zero: no rule.
 */
struct kvl_hash_rule {
	uint8_t open, close; /* may be the same byte */
	uint8_t separator;
	uint8_t on; /* not 0: there is a rule; one load tells the hot path */
};

/* Narrows *key and *len to what is hashed. */
static inline void kvl_hash_part(const struct kvl_hash_rule *rule, const uint8_t **key, size_t *len)
{
	const uint8_t *first, *last;

	if (rule->separator != 0) {
		last = memchr(*key, rule->separator, *len);
		if (last != NULL && last != *key)
			*len = (size_t)(last - *key);
		return;
	}
	first = memchr(*key, rule->open, *len);
	if (first == NULL)
		return;
	first++;
	last = memchr(first, rule->close, *len - (size_t)(first - *key));
	if (last == NULL || last == first)
		return;
	*key = first;
	*len = (size_t)(last - first);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/model/client_sets.h"

#include <errno.h>
#include <stdlib.h>

static bool entry_known(const struct kvl_client_sets *s, const struct kvl_prefix *p)
{
	for (size_t i = 0; i < s->count; i++)
		if (kvl_prefix_eq(&s->entries[i].prefix, p))
			return true;
	return false;
}

/* Bit i: a prefix of list i holds all of p. */
static uint64_t services_of(
	const struct kvl_client_list *lists, size_t count, const struct kvl_prefix *p)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < lists[i].count; k++)
			if (kvl_prefix_covers(&lists[i].prefixes[k], p))
				bits |= UINT64_C(1) << i;
	return bits;
}

static uint16_t set_number(struct kvl_client_sets *s, uint64_t bits)
{
	size_t i = 0;

	while (i < s->set_count && s->sets[i] != bits)
		i++;
	if (i == s->set_count)
		s->sets[s->set_count++] = bits;
	return (uint16_t)i;
}

static void sets_fill(struct kvl_client_sets *s, const struct kvl_client_list *lists, size_t count)
{
	s->sets[s->set_count++] = 0;
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < lists[i].count; k++) {
			const struct kvl_prefix *p = &lists[i].prefixes[k];

			if (entry_known(s, p))
				continue;
			s->entries[s->count++] = (struct kvl_client_entry){
				*p, set_number(s, services_of(lists, count, p))};
		}
}

struct kvl_client_sets *kvl_client_sets_new(const struct kvl_client_list *lists, size_t count)
{
	struct kvl_client_sets *s;
	size_t total = 0;

	for (size_t i = 0; i < count; i++)
		total += lists[i].count;
	if (count > 64 || total > KVL_CLIENT_TOTAL_MAX) {
		errno = E2BIG;
		return NULL;
	}
	s = calloc(1, sizeof(*s));
	if (s == NULL)
		return NULL;
	s->entries = calloc(total + 1, sizeof(*s->entries));
	s->sets = calloc(total + 1, sizeof(*s->sets));
	if (s->entries == NULL || s->sets == NULL) {
		kvl_client_sets_free(s);
		errno = ENOMEM;
		return NULL;
	}
	sets_fill(s, lists, count);
	return s;
}

void kvl_client_sets_free(struct kvl_client_sets *s)
{
	if (s == NULL)
		return;
	free(s->entries);
	free(s->sets);
	free(s);
}

bool kvl_client_sets_same(const struct kvl_client_sets *a, const struct kvl_client_sets *b)
{
	if (a->count != b->count || a->set_count != b->set_count
		|| memcmp(a->sets, b->sets, a->set_count * sizeof(*a->sets)) != 0)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (a->entries[i].set != b->entries[i].set
			|| !kvl_prefix_eq(&a->entries[i].prefix, &b->entries[i].prefix))
			return false;
	return true;
}

uint64_t kvl_client_sets_find(const struct kvl_client_sets *s, const struct kvl_addr *address)
{
	const struct kvl_prefix whole = {*address, 128};
	const struct kvl_client_entry *best = NULL;

	for (size_t i = 0; i < s->count; i++)
		if (kvl_prefix_covers(&s->entries[i].prefix, &whole)
			&& (best == NULL || s->entries[i].prefix.len > best->prefix.len))
			best = &s->entries[i];
	return s->sets[best == NULL ? KVL_CLIENT_SET_NOBODY : best->set];
}

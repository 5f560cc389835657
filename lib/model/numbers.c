/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/model/numbers.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ring/hash.h"

/*
 * A table searched from its start: thousands of ids at most, and only when the topology changes.
 * That also makes "lowest free number first" fall out.
 */
struct number {
	uint64_t hash; /* of the id: tells most apart without following the pointer */
	char *id;      /* NULL: never held */
	bool live;
	uint64_t released_ms; /* when not live: start of the quarantine */
};

struct kvl_numbers {
	uint64_t quarantine_ms;
	uint32_t capacity;
	uint32_t used; /* numbers above have never been held */
	struct number numbers[];
};

struct kvl_numbers *kvl_numbers_new(uint32_t capacity, uint64_t quarantine_ms)
{
	struct kvl_numbers *n;

	if (capacity == 0 || capacity >= KVL_NUMBER_NONE) {
		errno = EINVAL;
		return NULL;
	}
	n = calloc(1, sizeof(*n) + capacity * sizeof(n->numbers[0]));
	if (n == NULL)
		return NULL;
	n->capacity = capacity;
	n->quarantine_ms = quarantine_ms;
	return n;
}

void kvl_numbers_free(struct kvl_numbers *n)
{
	if (n == NULL)
		return;
	for (uint32_t i = 0; i < n->used; i++)
		free(n->numbers[i].id);
	free(n);
}

/* The number that holds the id, live or in quarantine. */
static uint16_t number_of(const struct kvl_numbers *n, const char *id)
{
	const uint64_t hash = kvl_key_hash(id, strlen(id), 0);

	for (uint32_t i = 0; i < n->used; i++)
		if (n->numbers[i].hash == hash && strcmp(n->numbers[i].id, id) == 0)
			return (uint16_t)i;
	return KVL_NUMBER_NONE;
}

static bool number_free(const struct kvl_numbers *n, uint32_t number, uint64_t now_ms)
{
	const struct number *e = &n->numbers[number];

	if (e->id == NULL)
		return true;
	/* A clock that went back keeps the quarantine rather than ends it. */
	return !e->live && now_ms >= e->released_ms && now_ms - e->released_ms >= n->quarantine_ms;
}

uint16_t kvl_numbers_take(struct kvl_numbers *n, const char *id, uint64_t now_ms)
{
	uint16_t number = number_of(n, id);
	uint32_t i = 0;
	char *copy;

	if (number != KVL_NUMBER_NONE) {
		n->numbers[number].live = true;
		return number;
	}
	while (i < n->capacity && !number_free(n, i, now_ms))
		i++;
	if (i == n->capacity)
		return KVL_NUMBER_NONE;
	copy = strdup(id);
	if (copy == NULL)
		return KVL_NUMBER_NONE;
	free(n->numbers[i].id);
	n->numbers[i] = (struct number){
		.hash = kvl_key_hash(id, strlen(id), 0),
		.id = copy,
		.live = true,
	};
	if (i >= n->used)
		n->used = i + 1;
	return (uint16_t)i;
}

void kvl_numbers_release(struct kvl_numbers *n, const char *id, uint64_t now_ms)
{
	uint16_t number = number_of(n, id);

	if (number == KVL_NUMBER_NONE || !n->numbers[number].live)
		return;
	n->numbers[number].live = false;
	n->numbers[number].released_ms = now_ms;
}

uint16_t kvl_numbers_find(const struct kvl_numbers *n, const char *id)
{
	uint16_t number = number_of(n, id);

	return number != KVL_NUMBER_NONE && n->numbers[number].live ? number : KVL_NUMBER_NONE;
}

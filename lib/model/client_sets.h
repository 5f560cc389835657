/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>

#include "lib/model/prefix.h"

/*
 * The services' lists of clients (SPEC 12) as one table: a longest-prefix match finds the most
 * specific prefix that any list has, and with it the *set* of services that this prefix, or one
 * that covers it, belongs to. So one table serves all services, whatever their lists overlap.
 * Bit i of a set is the service of index i. Control core only; dataplane/clients.h loads it.
 */
#define KVL_CLIENTS_MAX       64   /* prefixes of a service */
#define KVL_CLIENT_TOTAL_MAX  4096 /* of all services together */
#define KVL_CLIENT_SET_NOBODY 0    /* number of the empty set */

struct kvl_client_list {
	const struct kvl_prefix *prefixes;
	size_t count; /* 0: the service takes all clients, and is in no set */
};

struct kvl_client_entry {
	struct kvl_prefix prefix;
	uint16_t set; /* index into sets */
};

struct kvl_client_sets {
	size_t count; /* distinct prefixes; none twice */
	struct kvl_client_entry *entries;
	size_t set_count; /* at least 1: sets[KVL_CLIENT_SET_NOBODY] */
	uint64_t *sets;
};

/*
 * lists[i] is the service of index i, at most 64. NULL with errno: ENOMEM, E2BIG. Free with
 * kvl_client_sets_free(). No list at all: count is 0.
 */
struct kvl_client_sets *kvl_client_sets_new(const struct kvl_client_list *lists, size_t count);
void kvl_client_sets_free(struct kvl_client_sets *s);

bool kvl_client_sets_same(const struct kvl_client_sets *a, const struct kvl_client_sets *b);

/* The obvious search through all entries: what the tables are tested against. */
uint64_t kvl_client_sets_find(const struct kvl_client_sets *s, const struct kvl_addr *address);

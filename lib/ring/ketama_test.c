/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <libmemcached/memcached.h>

#include "lib/ring/lookup.h"

/* Against libmemcached itself: the server that it picks for each of 100,000 keys, for several
 * lists. A fleet that moves in must find every key where its clients had put it. */
#define KEYS    100000
#define SERVERS 40

struct server {
	const char *host;
	uint16_t port;
	uint32_t weight; /* libmemcached's; ours is 100 times it */
};

static const struct server three[] = {
	{"10.0.0.1", 11211, 1}, {"10.0.0.2", 11211, 1}, {"10.0.0.3", 11211, 1}};
static const struct server ports[] = {{"10.0.0.1", 11211, 1}, {"10.0.0.1", 11212, 1},
	{"10.0.0.1", 11213, 1}, {"192.168.200.100", 1, 1}, {"h", 65535, 1}};
static const struct server weights[] = {{"10.0.0.1", 11211, 1}, {"10.0.0.2", 11211, 2},
	{"10.0.0.3", 11211, 3}, {"10.0.0.4", 11300, 5}, {"10.0.0.5", 11211, 90}};
static const struct server one[] = {{"cache.example.net", 11211, 1}};

static memcached_st *client_new(const struct server *servers, size_t count, bool weighted)
{
	memcached_st *client = memcached_create(NULL);

	memcached_behavior_set(client,
		weighted ? MEMCACHED_BEHAVIOR_KETAMA_WEIGHTED : MEMCACHED_BEHAVIOR_KETAMA, 1);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(memcached_server_add_with_weight(client, servers[i].host,
					 servers[i].port, servers[i].weight),
			MEMCACHED_SUCCESS);
	return client;
}

static struct kvl_placement *placement_new(
	const struct server *servers, size_t count, enum kvl_placement_kind kind)
{
	const struct kvl_placement_params params = {
		.kind = kind, .replication = 1, .vnodes = 160, .seed = 99};
	struct kvl_member members[SERVERS];
	char ids[SERVERS][16], names[SERVERS][64];
	struct kvl_placement *p;

	for (size_t i = 0; i < count; i++) {
		snprintf(ids[i], sizeof(ids[i]), "n%zu", (i * 7 + 3) % SERVERS);
		snprintf(names[i], sizeof(names[i]), servers[i].port == 11211 ? "%s" : "%s:%u",
			servers[i].host, servers[i].port);
		members[i] = (struct kvl_member){.id = ids[i],
			.host = "",
			.zone = "",
			.weight = 100 * servers[i].weight,
			.number = (uint16_t)i,
			.server = names[i]};
	}
	p = kvl_placement_build(&params, members, count);
	assert_non_null(p);
	return p;
}

static void agree(const struct server *servers, size_t count, bool weighted)
{
	memcached_st *client = client_new(servers, count, weighted);
	struct kvl_placement *p = placement_new(
		servers, count, weighted ? KVL_PLACE_KETAMA : KVL_PLACE_KETAMA_UNWEIGHTED);

	for (int i = 0; i < KEYS; i++) {
		char key[64];
		size_t len = (size_t)snprintf(key, sizeof(key),
			i % 3 == 0 ? "us\xe9r:%d:%x" : "user:%d:%x", i, i * 2654435761u);
		uint32_t theirs = memcached_generate_hash(client, key, len);
		uint64_t hash = kvl_placement_key_hash(p, key, len, 99);
		uint16_t ours = kvl_placement_row(p, kvl_placement_find(p, hash))->node[0];

		if (ours != theirs)
			fail_msg("%s of %zu servers: key %s: libmemcached says %u, we say %u",
				weighted ? "weighted" : "unweighted", count, key, theirs, ours);
	}
	free(p);
	memcached_free(client);
}

static void test_weighted(void **state)
{
	agree(three, 3, true);
	agree(ports, 5, true);
	agree(weights, 5, true);
	agree(one, 1, true);
}

static void test_unweighted(void **state)
{
	agree(three, 3, false);
	agree(ports, 5, false);
	agree(one, 1, false);
}

static void test_many(void **state)
{
	struct server servers[SERVERS];
	char hosts[SERVERS][32];

	for (uint32_t i = 0; i < SERVERS; i++) {
		snprintf(hosts[i], sizeof(hosts[i]), "10.1.%u.%u", i, i * 5);
		servers[i] = (struct server){hosts[i], (uint16_t)(11200 + i), 1 + i % 7};
	}
	agree(servers, SERVERS, true);
	/* A weight of more than one would make the library weighted. */
	for (uint32_t i = 0; i < SERVERS; i++)
		servers[i].weight = 1;
	agree(servers, SERVERS, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_weighted),
		cmocka_unit_test(test_unweighted),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests_name("ring/ketama", tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "dataplane/test_world.h"
#include "lib/ring/lookup.h"

/* Prefix rules: the keys with a rule's prefix are served by its terms. */

static struct kvl_worker *w;

static int begin(void **state)
{
	world_reset(state);
	w = world_workers[0];
	world_service.policy = KVL_POLICY_RULES;
	world_rules[0] = "user:";
	world_rules[1] = "user:vip:";
	world_terms[0].hash_rule = (struct kvl_hash_rule){.separator = '/', .on = 1};
	world_terms[0].timeout_ms = 20;
	world_publish();
	return 0;
}

static void ask(const char *payload)
{
	const struct packet p = {REQUEST, .payload = payload};

	world_run(0, 0, &p, 1);
}

static unsigned int node_of(const char *payload)
{
	ask(payload);
	return world_node_of(world_sent(0, 1), NULL);
}

/* By the placement alone. */
static unsigned int node_hashed(const char *part)
{
	const struct kvl_placement *p = kvl_root_services(world_root())[0].placement;
	uint64_t hash = kvl_key_hash(part, strlen(part), 0);

	return kvl_placement_row(p, kvl_placement_find(p, hash))->node[0] + 1;
}

/* The key goes where `part` of it is placed. */
static void placed_by(const char *key, const char *part)
{
	char text[64];

	snprintf(text, sizeof(text), "get %s\r\n", key);
	assert_int_equal(node_of(text), node_hashed(part));
}

static void hash_rule_of_the_longest_prefix(void **state)
{
	char key[32];

	for (unsigned int i = 0; i < 50; i++) {
		snprintf(key, sizeof(key), "user:7/%u", i);
		placed_by(key, "user:7");
		snprintf(key, sizeof(key), "item:7/%u", i);
		placed_by(key, key);
		snprintf(key, sizeof(key), "user:vip:/%u", i);
		placed_by(key, key);
	}
	assert_int_equal(w->counters.ruled, 100);
}

static void time_of_the_rule(void **state)
{
	node_of("get item\r\n");
	node_of("get user:1\r\n");
	world_wait(0, 22);
	assert_int_equal(w->counters.timeouts, 1);
	world_wait(0, WORLD_TIMEOUT);
	assert_int_equal(w->counters.timeouts, 2);
}

/* The rule is for the key as it is stored. */
static void base64_keys(void **state)
{
	/* user:9/x */
	assert_int_equal(node_of("mg dXNlcjo5L3g= b v\r\n"), node_hashed("user:9"));
	assert_int_equal(w->counters.ruled, 1);
}

static void each_key_of_a_split(void **state)
{
	unsigned int at[7] = {0};

	ask("get user:1/a user:1/b item:1/a user:vip:/z\r\n");
	kvl_merge_run(w, world_root());
	for (struct rte_mbuf *m; (m = world_sent(0, 1)) != NULL;)
		at[world_node_of(m, NULL)]++;
	assert_int_equal(at[1] + at[2] + at[3] + at[4] + at[5] + at[6], 4);
	assert_true(at[node_hashed("user:1")] >= 2);
	assert_true(at[node_hashed("item:1/a")] >= 1);
	assert_true(at[node_hashed("user:vip:/z")] >= 1);
	assert_int_equal(w->counters.ruled, 3);
	world_wait(0, WORLD_TIMEOUT + 2);
	world_check_conservation();
}

static void commands_without_a_key(void **state)
{
	ask("version\r\n");
	rte_pktmbuf_free(world_sent(0, 0));
	assert_int_equal(w->counters.ruled, 0);
	world_check_conservation();
}

static void other_services_have_no_rules(void **state)
{
	const struct packet p = {REQUEST, .to = DSR_VIP, .payload = "get user:1\r\n"};

	world_run(0, 0, &p, 1);
	rte_pktmbuf_free(world_sent(0, 1));
	assert_int_equal(w->counters.ruled, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(hash_rule_of_the_longest_prefix, begin),
		cmocka_unit_test_setup(time_of_the_rule, begin),
		cmocka_unit_test_setup(base64_keys, begin),
		cmocka_unit_test_setup(each_key_of_a_split, begin),
		cmocka_unit_test_setup(commands_without_a_key, begin),
		cmocka_unit_test_setup(other_services_have_no_rules, begin),
	};

	return cmocka_run_group_tests(tests, world_begin, world_end);
}

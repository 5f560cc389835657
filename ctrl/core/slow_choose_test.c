/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "ctrl/core/clock.h"
#include "ctrl/core/slow_choose.h"
#include "ctrl/core/slow_guard.h"
#include "ctrl/core/slow_table.h"
#include "dataplane/test_world.h"

/* Where requests of the slow path go, in the workers' small world: three holders a key. */
#define N 3

static struct kvl_slow_guard guard;
static struct kvl_slow_table table;
static struct kvl_slow_counters counters;
static const struct kvl_slow_load load = {&guard.tenants, table.awaited, &counters};
static unsigned int holders[WORLD_NODES]; /* of key k, 1.., in the order of its row */
static uint32_t random_bits;

static int begin(void **state)
{
	world_reset(state);
	memset(&guard, 0, sizeof(guard));
	kvl_slow_guard_init(&guard);
	memset(&table, 0, sizeof(table));
	kvl_sequence_pool_init(&table.sequences);
	counters = (struct kvl_slow_counters){0};
	random_bits = 0;
	world_service.replication = N;
	world_service.policy = KVL_POLICY_CHOICE;
	world_publish();
	world_holders("k", holders);
	return 0;
}

/* Node that such a request goes to, 1..; 0 with *why: none. */
static unsigned int chosen(const char *text, enum kvl_verdict *why)
{
	const struct kvl_root_service *service = kvl_root_services(world_root());
	uint8_t datagram[4096] = "\0\1\0\0\0\1\0";
	size_t len = KVL_FRAME_LEN + strlen(text);
	struct kvl_request request = {0};
	uint16_t node;

	assert_true(len <= sizeof(datagram));
	memcpy(datagram + KVL_FRAME_LEN, text, strlen(text));
	*why = kvl_request_parse(datagram, len, &request);
	if (*why == KVL_REQUEST_PROXY_TOKEN)
		kvl_slow_hints_take(&request, datagram, len);
	else
		assert_int_equal(*why, KVL_REQUEST_OK);
	random_bits += 0x9e3779b9u; /* evenly over all */
	*why = kvl_slow_choose(
		&load, world_root(), &service, datagram, &request, random_bits, &node);
	return *why == KVL_REQUEST_OK ? node + 1u : 0;
}

static unsigned int node_of(const char *text)
{
	enum kvl_verdict why;
	unsigned int node = chosen(text, &why);

	assert_int_equal(why, KVL_REQUEST_OK);
	return node;
}

static enum kvl_verdict refusal_of(const char *text)
{
	enum kvl_verdict why;

	assert_int_equal(chosen(text, &why), 0);
	return why;
}

static void spread(const char *text, unsigned int count, unsigned int at[WORLD_NODES + 1])
{
	memset(at, 0, (WORLD_NODES + 1) * sizeof(*at));
	for (unsigned int i = 0; i < count; i++)
		at[node_of(text)]++;
}

/* So many requests more are at a holder (0..) without an answer. */
static void in_flight(unsigned int holder, unsigned int count, bool quiet)
{
	uint16_t id;

	for (unsigned int i = 0; i < count; i++)
		assert_non_null(kvl_slow_table_take(&table, holders[holder] - 1, quiet, &id));
}

/* ---- lag ---- */

static void lagging_replicas_are_passed_over(void **state)
{
	unsigned int at[WORLD_NODES + 1];

	world_policy[0].lag_most = 10;
	world_publish();
	spread("get k\r\n", 300, at);
	for (unsigned int i = 0; i < N; i++)
		assert_in_range(at[holders[i]], 90, 110);
	assert_int_equal(counters.masked, 0);

	world_lag[holders[0] - 1] = 11;
	world_lag[holders[1] - 1] = 10;
	world_publish();
	spread("get k\r\n", 300, at);
	for (unsigned int i = 1; i <= N; i++) /* the walk goes on until there are three */
		assert_in_range(at[holders[i]], 90, 110);
	assert_int_equal(counters.masked, 300);
	/* A write goes where strong reads look. */
	assert_int_equal(node_of("set k 0 0 1\r\nx\r\n"), holders[1]);
	assert_int_equal(node_of("mg k v Pstrong\r\n"), holders[1]);
	/* A client may be stricter, not laxer. */
	spread("mg k v L9\r\n", 300, at);
	assert_int_equal(at[holders[0]] + at[holders[1]], 0);
	spread("mg k v L1000\r\n", 300, at);
	assert_int_equal(at[holders[0]], 0);
	assert_in_range(at[holders[1]], 90, 110);
	assert_int_equal(counters.lag_open, 0);
}

static void a_token_bounds_lag_without_a_policy(void **state)
{
	unsigned int at[WORLD_NODES + 1];

	world_service.policy = 0;
	world_lag[holders[0] - 1] = 11;
	world_publish();
	spread("mg k v L10\r\n", 60, at);
	assert_int_equal(at[holders[0]], 0);
	spread("mg k v L11\r\n", 60, at);
	assert_in_range(at[holders[0]], 15, 25);
	assert_int_equal(node_of("mg k v Pstrong\r\n"), holders[0]);
}

static void when_all_lag_the_first_is_asked_all_the_same(void **state)
{
	unsigned int at[WORLD_NODES + 1];

	for (unsigned int n = 0; n < WORLD_NODES; n++)
		world_lag[n] = 100;
	world_policy[0].lag_most = 10;
	world_publish();
	spread("get k\r\n", 40, at);
	assert_int_equal(at[holders[0]], 40);
	assert_int_equal(counters.lag_open, 40);
	assert_int_equal(node_of("set k 0 0 1\r\nx\r\n"), holders[0]);
	assert_int_equal(counters.lag_open, 41);
	assert_int_equal(counters.masked, 0);

	world_policy[0].in_flight_most = 1; /* the bound holds even so */
	world_publish();
	in_flight(0, 1, false);
	assert_int_equal(node_of("get k\r\n"), holders[1]);
	assert_int_equal(refusal_of("set k 0 0 1\r\nx\r\n"), KVL_REQUEST_SHED);
	assert_int_equal(counters.lag_open, 42);
}

/* None is in at all: that is no matter of lag. */
static void without_a_node_there_is_none(void **state)
{
	memset(world_weights, 0, sizeof(world_weights));
	world_policy[0].lag_most = 10;
	world_publish();
	assert_int_equal(refusal_of("get k\r\n"), KVL_REQUEST_NO_NODE);
	assert_int_equal(counters.lag_open + counters.shed + counters.over_share, 0);
}

/* ---- what is in flight ---- */

static void a_node_at_its_bound_is_passed_over(void **state)
{
	unsigned int at[WORLD_NODES + 1];

	world_policy[0].in_flight_most = 4;
	world_publish();
	in_flight(0, 4, false);
	in_flight(1, 3, false);
	spread("get k\r\n", 300, at);
	assert_in_range(at[holders[1]], 140, 160);
	assert_in_range(at[holders[2]], 140, 160); /* and nobody who does not hold the key */
	assert_int_equal(counters.masked, 300);
	assert_int_equal(refusal_of("set k 0 0 1\r\nx\r\n"), KVL_REQUEST_SHED);
	assert_int_equal(refusal_of("mg k v Pstrong\r\n"), KVL_REQUEST_SHED);
	in_flight(1, 1, false);
	in_flight(2, 4, false);
	assert_int_equal(refusal_of("get k\r\n"), KVL_REQUEST_SHED);
	assert_int_equal(counters.shed, 3);
	kvl_slow_table_release(&table, kvl_slow_table_oldest(&table));
	assert_int_equal(node_of("set k 0 0 1\r\nx\r\n"), holders[0]);
}

static void who_waits_for_nothing_does_not_count(void **state)
{
	world_policy[0].in_flight_most = 2;
	world_publish();
	in_flight(0, 5, true);
	assert_int_equal(node_of("set k 0 0 1\r\nx\r\n"), holders[0]);
	in_flight(0, 2, false);
	assert_int_equal(refusal_of("set k 0 0 1\r\nx\r\n"), KVL_REQUEST_SHED);
	for (struct kvl_slow_request *r; (r = kvl_slow_table_oldest(&table)) != NULL;)
		kvl_slow_table_release(&table, r);
	assert_int_equal(table.awaited[holders[0] - 1], 0);
}

static void one_holder_has_no_stand_in(void **state)
{
	world_service.replication = 1;
	world_policy[0].in_flight_most = 2;
	world_publish();
	in_flight(0, 2, false);
	assert_int_equal(refusal_of("get k\r\n"), KVL_REQUEST_SHED);
}

/* ---- tenants ---- */

static void tenant_begin(uint32_t rate, uint32_t burst, uint32_t node_most)
{
	world_tenants[1] = (struct kvl_root_tenant){rate, burst, node_most};
	world_policy[0].tenant = 1;
	world_publish();
	while (kvl_now_ms() % 1000 > 500) /* what follows is within one second */
		;
}

static void no_node_gets_more_than_its_share(void **state)
{
	unsigned int at[WORLD_NODES + 1];
	uint64_t second;

	tenant_begin(1000, 1000, 10);
	spread("get k\r\n", 30, at);
	for (unsigned int i = 0; i < N; i++)
		assert_int_equal(at[holders[i]], 10);
	assert_int_equal(refusal_of("get k\r\n"), KVL_REQUEST_OVER_QUOTA);
	assert_int_equal(refusal_of("set k 0 0 1\r\nx\r\n"), KVL_REQUEST_OVER_QUOTA);
	assert_int_equal(counters.over_share, 2);
	assert_int_equal(counters.over_rate, 0);
	second = kvl_now_ms() / 1000;
	while (kvl_now_ms() / 1000 == second)
		;
	assert_int_equal(node_of("set k 0 0 1\r\nx\r\n"), holders[0]);
}

static void the_rate_is_taken_first(void **state)
{
	tenant_begin(1, 2, 1000);
	node_of("get k\r\n");
	node_of("get k\r\n");
	assert_int_equal(refusal_of("get k\r\n"), KVL_REQUEST_OVER_QUOTA);
	assert_int_equal(counters.over_rate, 1);
	assert_int_equal(counters.over_share, 0);
}

/* The share of some holders is spent, and others have all they may: that is shed, whatever comes
 * first; so it is with dataplane/constrain.h. */
static void the_bound_is_told_before_the_share(void **state)
{
	world_policy[0].in_flight_most = 1;
	tenant_begin(1000, 1000, 1);
	assert_int_equal(node_of("set k 0 0 1\r\nx\r\n"), holders[0]);
	assert_int_equal(refusal_of("set k 0 0 1\r\nx\r\n"), KVL_REQUEST_OVER_QUOTA);
	in_flight(1, 1, false);
	in_flight(2, 1, false);
	assert_int_equal(refusal_of("get k\r\n"), KVL_REQUEST_SHED);
	in_flight(0, 1, false); /* both at once */
	assert_int_equal(refusal_of("set k 0 0 1\r\nx\r\n"), KVL_REQUEST_SHED);
	assert_int_equal(counters.over_share, 1);
	assert_int_equal(counters.shed, 2);
}

/* The first's share is spent, and it lags: who stands in has a share of its own. */
static void shares_go_with_the_node(void **state)
{
	tenant_begin(1000, 1000, 1);
	assert_int_equal(node_of("set k 0 0 1\r\nx\r\n"), holders[0]);
	world_policy[0].lag_most = 10;
	world_lag[holders[0] - 1] = 11;
	world_publish();
	assert_int_equal(node_of("set k 0 0 1\r\nx\r\n"), holders[1]);
	assert_int_equal(refusal_of("set k 0 0 1\r\nx\r\n"), KVL_REQUEST_OVER_QUOTA);
}

static void a_rule_has_conditions_of_its_own(void **state)
{
	world_service.policy = KVL_POLICY_RULES;
	world_rules[0] = "k";
	world_terms[0].policy = KVL_POLICY_CHOICE;
	world_policy[1].strong = 1;
	world_policy[1].in_flight_most = 1;
	world_publish();
	assert_int_equal(node_of("get k\r\n"), holders[0]);
	in_flight(0, 1, false);
	assert_int_equal(refusal_of("get k\r\n"), KVL_REQUEST_SHED);
	assert_int_not_equal(node_of("mg k v Peventual\r\n"), holders[0]);
	node_of("get other\r\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(lagging_replicas_are_passed_over, begin),
		cmocka_unit_test_setup(a_token_bounds_lag_without_a_policy, begin),
		cmocka_unit_test_setup(when_all_lag_the_first_is_asked_all_the_same, begin),
		cmocka_unit_test_setup(without_a_node_there_is_none, begin),
		cmocka_unit_test_setup(a_node_at_its_bound_is_passed_over, begin),
		cmocka_unit_test_setup(who_waits_for_nothing_does_not_count, begin),
		cmocka_unit_test_setup(one_holder_has_no_stand_in, begin),
		cmocka_unit_test_setup(no_node_gets_more_than_its_share, begin),
		cmocka_unit_test_setup(the_rate_is_taken_first, begin),
		cmocka_unit_test_setup(the_bound_is_told_before_the_share, begin),
		cmocka_unit_test_setup(shares_go_with_the_node, begin),
		cmocka_unit_test_setup(a_rule_has_conditions_of_its_own, begin),
	};

	return cmocka_run_group_tests(tests, world_begin, world_end);
}

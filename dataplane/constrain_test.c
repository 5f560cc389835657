/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "dataplane/constrain.h"
#include "dataplane/test_world.h"
#include "lib/score/weights.h"

/* Consistency, lag, tenants' quotas and bounds on what is in flight. */

#define N 3

static struct kvl_worker *w;
static unsigned int holders[WORLD_NODES]; /* of key k, in order; 1.. */

static int begin(void **state)
{
	world_reset(state);
	w = world_workers[0];
	memset(&w->tenants.buckets, 0, sizeof(w->tenants.buckets));
	memset(&w->tenants.counters, 0, sizeof(w->tenants.counters));
	memset(w->tenants.shares, 0,
		KVL_TENANTS_MAX * w->tenants.node_max * sizeof(*w->tenants.shares));
	world_service.replication = N;
	world_service.choice = KVL_CHOOSE_SOFTMAX;
	world_service.policy = KVL_POLICY_CHOICE;
	world_publish();
	world_holders("k", holders);
	return 0;
}

static void ask_of(const char *vip, const char *payload)
{
	const struct packet p = {REQUEST, .to = vip, .payload = payload};

	world_run(0, 0, &p, 1);
}

static void ask(const char *payload)
{
	ask_of(NAT_VIP, payload);
}

/* Node that was asked; 0: none. */
static unsigned int asked(void)
{
	struct rte_mbuf *m = world_sent(0, 1);

	return m == NULL ? 0 : world_node_of(m, NULL);
}

/* How many of `count` such requests each node got. */
static void spread(const char *payload, unsigned int count, unsigned int at[WORLD_NODES + 1])
{
	memset(at, 0, (WORLD_NODES + 1) * sizeof(*at));
	for (unsigned int i = 0; i < count; i++) {
		ask(payload);
		at[asked()]++;
	}
}

static void answered(const char *text)
{
	struct rte_mbuf *m = world_sent(0, 0);
	struct kvl_packet p;

	assert_non_null(m);
	kvl_packet_begin(&p, m, 0);
	assert_int_equal(rte_pktmbuf_pkt_len(m), KVL_HEADERS_V4 + KVL_FRAME_LEN + strlen(text));
	assert_memory_equal(kvl_packet_payload(&p) + KVL_FRAME_LEN, text, strlen(text));
	rte_pktmbuf_free(m);
}

/* ---- consistency ---- */

static void eventual_reads_are_spread(void **state)
{
	unsigned int at[WORLD_NODES + 1];

	spread("get k\r\n", 300, at);
	for (unsigned int i = 0; i < N; i++)
		assert_true(at[holders[i]] > 30);
}

static void strong_reads_go_where_writes_go(void **state)
{
	unsigned int at[WORLD_NODES + 1];

	world_policy[0].strong = 1;
	world_publish();
	spread("get k\r\n", 40, at);
	assert_int_equal(at[holders[0]], 40);
	world_read_only[holders[0] - 1] = true; /* or recovering: out for writes, in for reads */
	world_publish();
	spread("get k\r\n", 40, at);
	assert_int_equal(at[holders[1]], 40);
	ask("set k 0 0 1\r\nx\r\n");
	assert_int_equal(asked(), holders[1]);
	spread("mg k v Peventual\r\n", 300, at);
	assert_true(at[holders[0]] > 30);
	assert_int_equal(w->counters.hints, 300);
}

static void strong_by_token(void **state)
{
	unsigned int at[WORLD_NODES + 1];

	world_service.policy = 0; /* without any policy */
	world_publish();
	spread("mg k v Pstrong\r\n", 40, at);
	assert_int_equal(at[holders[0]], 40);
	spread("mg k v Pquorum\r\n", 300, at); /* unknown: as if it were not there */
	assert_true(at[holders[1]] > 30);
	assert_int_equal(w->counters.hints, 40);
	assert_int_equal(w->counters.hints_ignored, 300);
}

static void strong_by_token_in_a_batch(void **state)
{
	unsigned int strong = 0;

	ask("mg k v Pstrong\r\nmg k v Pother\r\nmg k v Pstrong L5\r\n");
	kvl_merge_run(w, world_root());
	assert_int_equal(w->counters.hints, 3);
	assert_int_equal(w->counters.hints_ignored, 1);
	for (unsigned int i = 0; i < 3; i++)
		strong += asked() == holders[0];
	assert_true(strong >= 2); /* the third may be there by chance */
	world_wait(0, WORLD_TIMEOUT + 2);
	world_check_conservation();
}

static void strong_by_rule(void **state)
{
	unsigned int at[WORLD_NODES + 1];

	world_service.policy = KVL_POLICY_RULES;
	world_rules[0] = "k";
	world_terms[0].policy = KVL_POLICY_CHOICE;
	world_policy[1].strong = 1;
	world_publish();
	spread("get k\r\n", 40, at);
	assert_int_equal(at[holders[0]], 40);
}

/* ---- lag ---- */

static void lagging_replicas_are_passed_over(void **state)
{
	unsigned int at[WORLD_NODES + 1];

	world_policy[0].lag_most = 10;
	world_lag[holders[0] - 1] = 11;
	world_lag[holders[1] - 1] = 10;
	world_publish();
	spread("get k\r\n", 300, at);
	assert_int_equal(at[holders[0]], 0);
	assert_true(at[holders[1]] > 30 && at[holders[2]] > 30);
	assert_true(w->counters.masked > 0);
	/* A write goes where strong reads look. */
	ask("set k 0 0 1\r\nx\r\n");
	assert_int_equal(asked(), holders[1]);
	ask("mg k v Pstrong\r\n");
	assert_int_equal(asked(), holders[1]);
	/* A client may be stricter, not laxer. */
	spread("mg k v L9\r\n", 60, at);
	assert_int_equal(at[holders[2]], 60);
	spread("mg k v L1000\r\n", 60, at);
	assert_int_equal(at[holders[0]], 0);
}

static void when_all_lag_they_are_asked_all_the_same(void **state)
{
	unsigned int at[WORLD_NODES + 1];

	for (unsigned int n = 0; n < WORLD_NODES; n++)
		world_lag[n] = 100;
	world_policy[0].lag_most = 10;
	world_publish();
	spread("get k\r\n", 40, at);
	assert_int_equal(at[holders[0]], 40); /* the first of the list */
	assert_int_equal(w->counters.lag_open, 40);
	ask("set k 0 0 1\r\nx\r\n");
	assert_int_equal(asked(), holders[0]);
}

/* ---- tenants ---- */

static void tenant_begin(uint32_t rate, uint32_t burst, uint32_t node_most)
{
	world_tenants[1] = (struct kvl_root_tenant){rate, burst, node_most};
	world_policy[0].tenant = 1;
	world_publish();
}

static void rate_of_a_tenant(void **state)
{
	unsigned int at[WORLD_NODES + 1];
	struct rte_mbuf *m;
	struct kvl_packet p;

	tenant_begin(10, 5, 1000);
	spread("get k\r\n", 5, at);
	assert_int_equal(at[0], 0);
	ask("get k\r\n");
	assert_int_equal(asked(), 0);
	answered("SERVER_ERROR over quota\r\n");
	ask("mg k v q\r\n"); /* meta's q hides no error */
	answered("SERVER_ERROR over quota\r\n");
	ask("set k 0 0 1 noreply\r\nx\r\n");
	assert_null(world_sent(0, 0));
	assert_int_equal(w->counters.drops[KVL_DROP_OVER_QUOTA], 1);
	world_run(0, 0,
		&(struct packet){REQUEST,
			.payload = "\x80\0\0\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0k",
			.payload_len = 25},
		1);
	m = world_sent(0, 0);
	assert_non_null(m);
	kvl_packet_begin(&p, m, 0);
	assert_int_equal(kvl_packet_payload(&p)[KVL_FRAME_LEN + 7], 0x85);
	rte_pktmbuf_free(m);
	assert_int_equal(w->tenants.counters[1].requests, 5);
	assert_int_equal(w->tenants.counters[1].over_rate, 4);
	assert_int_equal(w->counters.over_quota, 4);
	world_wait(0, 200);
	spread("get k\r\n", 2, at);
	assert_int_equal(at[0], 0);
	world_check_conservation();
}

/* Ticks wrap after 49 days; a bucket must go on filling. */
static void rate_after_49_days(void **state)
{
	unsigned int at[WORLD_NODES + 1];

	tenant_begin(10, 5, 1000);
	w->tick = UINT32_MAX - 20;
	w->now = (uint64_t)w->tick * w->tsc_per_tick;
	spread("get k\r\n", 6, at);
	assert_int_equal(at[0], 1);
	w->tick += 200; /* and is small again */
	w->now += 200 * w->tsc_per_tick;
	spread("get k\r\n", 3, at);
	assert_int_equal(at[0], 1);
	for (struct rte_mbuf *m; (m = world_sent(0, 0)) != NULL;)
		rte_pktmbuf_free(m);
}

static void no_node_gets_more_than_its_share(void **state)
{
	unsigned int at[WORLD_NODES + 1];

	tenant_begin(1000, 1000, 10);
	spread("get k\r\n", 30, at);
	for (unsigned int i = 0; i < N; i++)
		assert_int_equal(at[holders[i]], 10);
	ask("get k\r\n");
	assert_int_equal(asked(), 0); /* never off its holders */
	answered("SERVER_ERROR over quota\r\n");
	assert_int_equal(w->tenants.counters[1].over_share, 1);
	world_wait(0, 1000);
	ask("get k\r\n");
	assert_int_not_equal(asked(), 0);
	/* Nor a write off its place. */
	spread("set k 0 0 1\r\nx\r\n", 12, at);
	assert_in_range(at[holders[0]], 9, 10);
	assert_in_range(at[0], 2, 3);
	for (struct rte_mbuf *m; (m = world_sent(0, 0)) != NULL;)
		rte_pktmbuf_free(m);
	world_check_conservation();
}

static void a_refused_key_fails_its_get(void **state)
{
	world_service.policy = KVL_POLICY_RULES;
	world_rules[0] = "t:";
	world_terms[0].policy = KVL_POLICY_CHOICE;
	world_tenants[1] = (struct kvl_root_tenant){1, 1, 1};
	world_policy[1].tenant = 1;
	world_publish(); /* partial: miss */
	ask("get t:a t:b k\r\n");
	kvl_merge_run(w, world_root());
	world_wait(0, WORLD_TIMEOUT + 2);
	answered("SERVER_ERROR over quota\r\n");
	ask("mg t:a v\r\nmn\r\n");
	kvl_merge_run(w, world_root());
	answered("SERVER_ERROR over quota\r\n");
	answered("MN\r\n");
	while (asked() != 0)
		;
	world_check_conservation();
}

/* Off the rate alone: what a datagram that dsr passes whole is charged for each of its keys. */
static void quota_by_itself(void **state)
{
	const struct kvl_root_service *services;

	tenant_begin(10, 2, 1000);
	services = kvl_root_services(world_root());
	assert_true(kvl_constrain_quota(w, world_root(), &services[0]));
	assert_true(kvl_constrain_quota(w, world_root(), &services[0]));
	assert_false(kvl_constrain_quota(w, world_root(), &services[0]));
	assert_true(kvl_constrain_quota(w, world_root(), &services[1])); /* has no tenant */
}

/* ---- what is in flight ---- */

static void a_node_at_its_bound_is_passed_over(void **state)
{
	unsigned int at[WORLD_NODES + 1];

	world_policy[0].in_flight_most = 4;
	world_publish();
	spread("get k\r\n", 3 * 4, at);
	for (unsigned int i = 0; i < N; i++)
		assert_int_equal(at[holders[i]], 4);
	ask("get k\r\n");
	assert_int_equal(asked(), 0);
	answered("SERVER_ERROR busy: the key's nodes have all they may\r\n");
	ask("set k 0 0 1\r\nx\r\n");
	answered("SERVER_ERROR busy: the key's nodes have all they may\r\n");
	ask("set k 0 0 1 noreply\r\nx\r\n");
	assert_null(world_sent(0, 0));
	assert_int_equal(w->counters.drops[KVL_DROP_SHED], 1);
	assert_int_equal(w->counters.shed, 3);
	world_wait(0, WORLD_TIMEOUT + 2); /* what was in flight is given up */
	ask("get k\r\n");
	assert_int_not_equal(asked(), 0);
	world_check_conservation();
}

/* They are chosen for together, before any is in flight. */
static void a_burst_is_bounded_too(void **state)
{
	struct packet burst[KVL_BURST];
	unsigned int at[WORLD_NODES + 1] = {0}, node;

	world_policy[0].in_flight_most = 4;
	world_publish();
	for (unsigned int i = 0; i < 20; i++)
		burst[i] = (struct packet){REQUEST, .payload = "get k\r\n"};
	world_run(0, 0, burst, 20);
	while ((node = asked()) != 0)
		at[node]++;
	for (unsigned int i = 0; i < N; i++)
		assert_int_equal(at[holders[i]], 4);
	assert_int_equal(w->counters.shed, 8);
	world_wait(0, WORLD_TIMEOUT + 2);
	world_reset(state);
	begin(state);
	world_policy[0].in_flight_most = 2; /* the same for the parts of one datagram */
	world_publish();
	ask("mg k v\r\nmg k v\r\nmg k v\r\nmg k v\r\nmg k v\r\nmg k v\r\nmg k v\r\nmg k v\r\n");
	kvl_merge_run(w, world_root());
	assert_int_equal(w->counters.shed, 2);
	world_wait(0, WORLD_TIMEOUT + 2);
	world_check_conservation();
}

static void one_holder_has_no_stand_in(void **state)
{
	unsigned int at[WORLD_NODES + 1];

	world_service.replication = 1;
	world_policy[0].in_flight_most = 2;
	world_publish();
	spread("get k\r\n", 3, at);
	assert_int_equal(at[holders[0]], 2);
	assert_int_equal(w->counters.shed, 1);
	answered("SERVER_ERROR busy: the key's nodes have all they may\r\n");
}

/* ---- retries ---- */

static void retry_begin(void)
{
	world_service.retries = 2;
	world_try_ms = 10;
	world_publish();
	kvl_retry_keys_init(&w->retry_keys, w->retry_keys.slots, KVL_RETRY_KEYS, &w->retry, 0);
	for (unsigned int i = 0; i < KVL_TURNS; i++)
		w->retry_budgets[i].hundredths = 1000;
}

static void retries_heed_the_conditions(void **state)
{
	unsigned int first;

	retry_begin();
	ask("mg k v Pstrong\r\n");
	assert_int_equal(asked(), holders[0]);
	world_wait(0, 50);
	assert_int_equal(asked(), 0); /* nobody else has seen the write */

	world_policy[0].lag_most = 10;
	world_lag[holders[2] - 1] = 11;
	world_publish();
	ask("get k\r\n");
	first = asked();
	assert_int_not_equal(first, holders[2]);
	world_wait(0, 14);
	assert_int_equal(asked(), first == holders[0] ? holders[1] : holders[0]);
	world_wait(0, 14);
	assert_int_equal(asked(), 0);
	world_try_ms = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(eventual_reads_are_spread, begin),
		cmocka_unit_test_setup(strong_reads_go_where_writes_go, begin),
		cmocka_unit_test_setup(strong_by_token, begin),
		cmocka_unit_test_setup(strong_by_token_in_a_batch, begin),
		cmocka_unit_test_setup(strong_by_rule, begin),
		cmocka_unit_test_setup(lagging_replicas_are_passed_over, begin),
		cmocka_unit_test_setup(when_all_lag_they_are_asked_all_the_same, begin),
		cmocka_unit_test_setup(rate_of_a_tenant, begin),
		cmocka_unit_test_setup(rate_after_49_days, begin),
		cmocka_unit_test_setup(no_node_gets_more_than_its_share, begin),
		cmocka_unit_test_setup(a_refused_key_fails_its_get, begin),
		cmocka_unit_test_setup(quota_by_itself, begin),
		cmocka_unit_test_setup(a_node_at_its_bound_is_passed_over, begin),
		cmocka_unit_test_setup(a_burst_is_bounded_too, begin),
		cmocka_unit_test_setup(one_holder_has_no_stand_in, begin),
		cmocka_unit_test_setup(retries_heed_the_conditions, begin),
	};

	return cmocka_run_group_tests(tests, world_begin, world_end);
}

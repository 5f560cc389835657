/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "dataplane/test_world.h"
#include "lib/score/weights.h"

/* The choice among the holders of a key, and what it makes of a burst. */

#define N 3

static struct kvl_worker *w;
static unsigned int holders[WORLD_NODES]; /* of key k, in order; 1.. */
static unsigned int at[WORLD_NODES + 1];  /* requests that each node got */

static int begin(void **state)
{
	world_reset(state);
	w = world_workers[0];
	w->random = 1;
	memset(at, 0, sizeof(at));
	world_service.replication = N;
	world_service.choice = KVL_CHOOSE_LEAST;
	world_publish();
	world_holders("k", holders);
	return 0;
}

/* Whoever was asked, since the last time. */
static void asked_count(void)
{
	for (struct rte_mbuf *m; (m = world_sent(0, 1)) != NULL;)
		at[world_node_of(m, NULL)]++;
}

static void send_to(const char *vip, const char *payload, unsigned int count)
{
	struct packet packets[KVL_BURST];

	for (unsigned int i = 0; i < count; i++)
		packets[i] = (struct packet){REQUEST, .to = vip, .payload = payload};
	world_run(0, 0, packets, count);
}

static void burst(const char *payload, unsigned int count)
{
	send_to(NAT_VIP, payload, count);
	asked_count();
}

static void drain(unsigned int lane)
{
	for (struct rte_mbuf *m; (m = world_sent(0, lane)) != NULL;)
		rte_pktmbuf_free(m);
}

/* The last few are chosen without knowing of each other. */
static void a_burst_is_balanced(void **state)
{
	for (unsigned int n = 0; n < WORLD_NODES; n++)
		w->pulses[n].latency = 1000;
	burst("get k\r\n", KVL_BURST);
	for (unsigned int i = 0; i < N; i++)
		assert_in_range(at[holders[i]], KVL_BURST / N - 4, KVL_BURST / N + 4);
	assert_int_equal(at[holders[0]] + at[holders[1]] + at[holders[2]], KVL_BURST);
	world_check_conservation();
}

static void the_parts_of_a_request_are_balanced(void **state)
{
	char text[512];
	size_t len = 0;

	for (unsigned int n = 0; n < WORLD_NODES; n++)
		w->pulses[n].latency = 1000;
	for (unsigned int i = 0; i < 60; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "mg k v\r\n");
	burst(text, 1);
	kvl_merge_run(w, world_root());
	asked_count();
	for (unsigned int i = 0; i < N; i++)
		assert_int_equal(at[holders[i]], 60 / N);
	world_check_conservation();
}

/* Three times as slow, and so with a third of the others' in flight when all is level. */
static void a_slow_node_gets_its_part(void **state)
{
	for (unsigned int n = 0; n < WORLD_NODES; n++)
		w->pulses[n].latency = n + 1 == holders[1] ? 3000 : 1000;
	for (unsigned int i = 0; i < 70; i++)
		burst("get k\r\n", 1);
	assert_in_range(at[holders[0]], 29, 31);
	assert_in_range(at[holders[1]], 9, 11);
	assert_in_range(at[holders[2]], 29, 31);
}

/* What is refused after its choice leaves nothing in flight behind. */
static void refused_is_not_in_flight(void **state)
{
	struct kvl_root_node *nodes = (void *)(uintptr_t)kvl_root_nodes(world_root());

	nodes[holders[0] - 1].payload_max = nodes[holders[1] - 1].payload_max =
		nodes[holders[2] - 1].payload_max = KVL_FRAME_LEN + 7;
	burst("get k\r\n", 4);
	burst("get k  \r\n", 4);
	burst("mg k v\r\nmg k k\r\n", 1);
	kvl_merge_run(w, world_root());
	assert_int_equal(w->counters.answered[KVL_REQUEST_PATH_MTU], 4);
	world_check_conservation();
	drain(0);
}

/* Their replies pass the router by, or need not come. */
static void dsr_and_quiet_are_not_in_flight(void **state)
{
	send_to(DSR_VIP, "get k\r\n", 8);
	send_to(NAT_VIP, "set k 0 0 1 noreply\r\nx\r\n", 8);
	assert_int_equal(w->counters.requests, 16);
	for (unsigned int n = 0; n < WORLD_NODES; n++)
		assert_int_equal(kvl_pulse_in_flight(&w->pulses[n]), 0);
	world_check_conservation();
	drain(1);
}

static void each_rule_has_its_way(void **state)
{
	static const enum kvl_choice rules[] = {
		KVL_CHOOSE_BEST, KVL_CHOOSE_SOFTMAX, KVL_CHOOSE_P2C, KVL_CHOOSE_LEAST};

	for (unsigned int r = 0; r < RTE_DIM(rules); r++) {
		begin(state);
		world_service.choice = rules[r];
		world_weights[holders[1] - 1] = 3000; /* the others' are 1000 */
		world_publish();
		for (unsigned int n = 0; n < WORLD_NODES; n++)
			w->pulses[n].latency = 1000;
		for (unsigned int i = 0; i < 100; i++)
			burst("get k\r\n", 1);
		assert_int_equal(at[holders[0]] + at[holders[1]] + at[holders[2]], 100);
		if (rules[r] == KVL_CHOOSE_BEST)
			assert_int_equal(at[holders[1]], 100);
		else if (rules[r] == KVL_CHOOSE_P2C) /* all hot: the fewer in flight */
			assert_in_range(at[holders[1]], 30, 45);
		else
			assert_in_range(at[holders[1]], 50, 70);
		world_weights[holders[1] - 1] = 0;
		world_publish();
		burst("get k\r\n", 20);
		/* Who comes next in the row takes part; only the best does not change. */
		assert_int_equal(at[holders[3]] > 0, rules[r] != KVL_CHOOSE_BEST);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_burst_is_balanced, begin),
		cmocka_unit_test_setup(the_parts_of_a_request_are_balanced, begin),
		cmocka_unit_test_setup(a_slow_node_gets_its_part, begin),
		cmocka_unit_test_setup(refused_is_not_in_flight, begin),
		cmocka_unit_test_setup(dsr_and_quiet_are_not_in_flight, begin),
		cmocka_unit_test_setup(each_rule_has_its_way, begin),
	};

	return cmocka_run_group_tests(tests, world_begin, world_end);
}

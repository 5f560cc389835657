/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "dataplane/test_world.h"
#include "lib/score/weights.h"

/* A read that its node does not answer in time is asked of another holder; nothing else is. */
#define TRY_MS 10 /* the world's nodes have no p99: each try lasts as world_try_ms says */

static const struct packet get = {REQUEST, .payload = "get k\r\n"};

static int begin(void **state)
{
	world_reset(state);
	world_service.replication = 3;
	world_service.choice = KVL_CHOOSE_BEST;
	world_service.retries = 2;
	world_try_ms = TRY_MS;
	world_publish();
	kvl_retry_keys_init(&world_workers[0]->retry_keys, world_workers[0]->retry_keys.slots,
		KVL_RETRY_KEYS, &world_workers[0]->retry, 0);
	/* What traffic before has earned. */
	for (unsigned int i = 0; i < KVL_TURNS; i++)
		world_workers[0]->retry_budgets[i].hundredths = 1000;
	return 0;
}

static struct packet reply(const struct world_asked *t)
{
	return world_reply(t, "VALUE k 0 1\r\nx\r\nEND\r\n");
}

static uint64_t retries(enum kvl_retry_verdict verdict)
{
	return world_workers[0]->counters.retries[verdict];
}

/* Twice the try's jitter is at most a fifth of it more. */
static void wait_a_try(void)
{
	world_wait(0, TRY_MS + TRY_MS / 5 + 2);
}

static void another_holder_answers(void **state)
{
	struct world_asked first, second;
	struct packet late, r, out;

	world_run(0, 0, &get, 1);
	world_asked(0, &first);
	wait_a_try();
	world_asked(0, &second);
	assert_int_not_equal(first.node, second.node);
	assert_int_equal(retries(KVL_RETRY_YES), 1);
	assert_int_equal(kvl_pulse_in_flight(&world_workers[0]->pulses[first.node - 1]), 0);
	assert_int_equal(kvl_pulse_in_flight(&world_workers[0]->pulses[second.node - 1]), 1);

	/* The first node's answer matches nothing any more. */
	late = reply(&first);
	world_run(0, 1, &late, 1);
	assert_null(world_sent(0, 0));
	assert_int_equal(world_workers[0]->counters.drops[KVL_DROP_REPLY_LATE], 1);

	r = reply(&second);
	out = r;
	out.from_mac = LANE0_MAC;
	out.to_mac = CLIENT_MAC;
	out.from = NAT_VIP;
	out.to = CLIENT;
	out.id = get.id;
	out.ttl = 63;
	world_run(0, 1, &r, 1);
	world_expect(world_sent(0, 0), &out);
	assert_int_equal(kvl_pulse_in_flight(&world_workers[0]->pulses[second.node - 1]), 0);
	assert_int_equal(world_workers[0]->counters.timeouts, 0);
	world_check_conservation();
}

static void never_the_same_node_twice_and_two_retries_at_most(void **state)
{
	struct world_asked t[3];

	world_run(0, 0, &get, 1);
	world_asked(0, &t[0]);
	for (unsigned int i = 1; i < 3; i++) {
		wait_a_try();
		world_asked(0, &t[i]);
	}
	assert_int_not_equal(t[0].node, t[1].node);
	assert_int_not_equal(t[0].node, t[2].node);
	assert_int_not_equal(t[1].node, t[2].node);
	wait_a_try();
	assert_null(world_sent(0, 1));
	assert_int_equal(retries(KVL_RETRY_YES), 2);

	/* The deadline is the request's own: one timeout, once. */
	world_wait(0, WORLD_TIMEOUT + 2);
	assert_int_equal(world_workers[0]->counters.timeouts, 1);
	assert_int_equal(world_workers[0]->pending.free_count, world_workers[0]->pending.size);
	for (unsigned int n = 0; n < WORLD_NODES; n++)
		assert_int_equal(kvl_pulse_in_flight(&world_workers[0]->pulses[n]), 0);
	world_check_conservation();
}

/* A try that could not end in time would only be held against a node that did nothing. */
static void no_try_without_time_for_it(void **state)
{
	struct world_asked first, second;
	uint64_t charged = 0;

	world_try_ms = WORLD_TIMEOUT * 8 / 10;
	world_publish();
	world_run(0, 0, &get, 1);
	world_asked(0, &first);
	world_wait(0, WORLD_TIMEOUT * 9 / 10);
	assert_null(world_sent(0, 1));
	assert_int_equal(retries(KVL_RETRY_DEADLINE), 1);
	world_wait(0, WORLD_TIMEOUT / 10 + 2);
	assert_int_equal(retries(KVL_RETRY_YES), 0);
	for (unsigned int n = 0; n < WORLD_NODES; n++)
		charged += world_workers[0]->nodes[n].timeouts;
	assert_int_equal(world_workers[0]->nodes[first.node - 1].timeouts, 1);
	assert_int_equal(charged, 1);
	rte_pktmbuf_free(world_sent(0, 0));

	world_try_ms = WORLD_TIMEOUT / 2; /* half of it, the p99, is left */
	world_publish();
	world_run(0, 0, &get, 1);
	world_asked(0, &first);
	world_wait(0, WORLD_TIMEOUT * 6 / 10 + 2);
	world_asked(0, &second);
	assert_int_equal(retries(KVL_RETRY_YES), 1);
	world_wait(0, WORLD_TIMEOUT);
	rte_pktmbuf_free(world_sent(0, 0));
	world_check_conservation();
}

static void only_reads_are_asked_again(void **state)
{
	static const char *const others[] = {"set k 0 0 1\r\nx\r\n", "incr k 1\r\n", "delete k\r\n",
		"append k 0 0 1\r\nx\r\n", "mg k v t T5\r\n", "gat 5 k\r\n"};

	for (unsigned int i = 0; i < RTE_DIM(others); i++) {
		struct packet p = get;

		p.payload = others[i];
		world_run(0, 0, &p, 1);
		rte_pktmbuf_free(world_sent(0, 1));
		wait_a_try();
		assert_null(world_sent(0, 1));
	}
	assert_int_equal(retries(KVL_RETRY_YES), 0);
}

static void budget_bounds_the_storm(void **state)
{
	struct packet p = get;
	char payload[32];
	unsigned int sent = 0;

	for (unsigned int i = 0; i < KVL_TURNS; i++)
		world_workers[0]->retry_budgets[i].hundredths = 0;
	p.payload = payload;
	for (unsigned int i = 0; i < 500; i++) {
		snprintf(payload, sizeof(payload), "get key%u\r\n", i);
		world_run(0, 0, &p, 1);
		rte_pktmbuf_free(world_sent(0, 1));
	}
	wait_a_try();
	for (struct rte_mbuf *m; (m = world_sent(0, 1)) != NULL; sent++)
		rte_pktmbuf_free(m);
	assert_in_range(sent, 40, 50); /* a tenth of 500, less what keys share */
	assert_int_equal(retries(KVL_RETRY_YES), sent);
	assert_true(retries(KVL_RETRY_BUDGET) > 400);
	world_wait(0, WORLD_TIMEOUT + 2);
	for (struct rte_mbuf *m; (m = world_sent(0, 1)) != NULL;)
		rte_pktmbuf_free(m);
	world_check_conservation();
}

static void nobody_else_to_ask(void **state)
{
	struct world_asked t;
	struct packet r;

	memset(world_weights, 0, sizeof(world_weights));
	world_weights[2] = 1000;
	world_publish();
	world_run(0, 0, &get, 1);
	world_asked(0, &t);
	assert_int_equal(t.node, 3);
	wait_a_try();
	assert_null(world_sent(0, 1));
	/* Its reply is still good: nothing was given up. */
	r = reply(&t);
	world_run(0, 1, &r, 1);
	rte_pktmbuf_free(world_sent(0, 0));
	assert_int_equal(world_workers[0]->counters.replies, 1);
	assert_int_equal(world_workers[0]->counters.timeouts, 0);
	world_check_conservation();
}

/* A cas token is good at one node only: such reads go where writes go, and nowhere else. */
static void reads_with_a_token_keep_to_one_node(void **state)
{
	const char *const tokens[] = {"gets k\r\n", "mg k c v\r\n"};
	struct packet in = get;
	struct world_asked write, first;

	world_service.choice = KVL_CHOOSE_SOFTMAX;
	world_publish();
	in.payload = "cas k 0 0 1 5\r\nx\r\n";
	world_run(0, 0, &in, 1);
	world_asked(0, &write);
	for (unsigned int i = 0; i < 40; i++) {
		in.payload = tokens[i % 2];
		world_run(0, 0, &in, 1);
		world_asked(0, &first);
		assert_int_equal(first.node, write.node);
	}
	wait_a_try();
	assert_null(world_sent(0, 1));
	world_check_conservation();
}

/*
 * Also when the first holder takes no writes: its token would name nothing where the cas goes, or by
 * chance another value. Of one holder alone it is the reads that matter.
 */
static void reads_with_a_token_go_where_the_cas_will_go(void **state)
{
	const char *const tokens[] = {"gets k\r\n", "mg k c v\r\n", "gets k k\r\n"};
	struct world_asked write, read;
	struct packet in = get;

	in.payload = "cas k 0 0 1 5\r\nx\r\n";
	world_run(0, 0, &in, 1);
	world_asked(0, &read);
	world_read_only[read.node - 1] = true;
	for (unsigned int k = 0; k < 2; k++) {
		world_service.replication = k == 0 ? 3 : 1;
		world_publish();
		in.payload = "cas k 0 0 1 5\r\nx\r\n";
		world_run(0, 0, &in, 1);
		world_asked(0, &write);
		assert_int_not_equal(write.node, read.node);
		for (unsigned int i = 0; i < RTE_DIM(tokens); i++) {
			struct rte_mbuf *m;
			struct world_asked t;

			in.payload = tokens[i];
			world_run(0, 0, &in, 1);
			world_asked(0, &t);
			assert_int_equal(t.node, k == 0 ? write.node : read.node);
			while ((m = world_sent(0, 1)) != NULL)
				rte_pktmbuf_free(m);
		}
	}
	world_check_conservation();
}

/* A part of a split request: asked again of another holder, and merged as if nothing had been. */
static void parts_are_asked_again(void **state)
{
	struct packet in = get, r, out = get;
	struct world_asked first[2], second;

	in.payload = "get a b\r\n";
	world_run(0, 0, &in, 1);
	world_asked(0, &first[0]);
	world_asked(0, &first[1]);
	r = reply(&first[1]);
	r.payload = "END\r\n";
	world_run(0, 1, &r, 1);
	wait_a_try();
	world_asked(0, &second);
	assert_int_not_equal(first[0].node, second.node);
	assert_null(world_sent(0, 1));
	assert_int_equal(retries(KVL_RETRY_YES), 1);
	assert_int_equal(kvl_pulse_in_flight(&world_workers[0]->pulses[first[0].node - 1]), 0);

	r = reply(&first[0]);
	world_run(0, 1, &r, 1);
	assert_int_equal(world_workers[0]->counters.drops[KVL_DROP_REPLY_LATE], 1);
	assert_null(world_sent(0, 0));

	r = reply(&second);
	r.payload = "VALUE a 0 1\r\nx\r\nEND\r\n";
	world_run(0, 1, &r, 1);
	out.from_mac = LANE0_MAC;
	out.to_mac = CLIENT_MAC;
	out.from = NAT_VIP;
	out.to = CLIENT;
	out.dont_fragment = true;
	out.payload = "VALUE a 0 1\r\nx\r\nEND\r\n";
	world_expect(world_sent(0, 0), &out);
	assert_int_equal(world_workers[0]->counters.unanswered, 0);
	assert_int_equal(world_workers[0]->counters.timeouts, 0);
	assert_int_equal(world_workers[0]->pending.free_count, world_workers[0]->pending.size);
	world_check_conservation();
}

/* What of a datagram is told at the latest: when the time of all of it is up. */
static void told_in_time(unsigned int left)
{
	struct rte_mbuf *m;

	for (unsigned int ms = 0; ms < left; ms++) {
		world_wait(0, 1);
		while ((m = world_sent(0, 1)) != NULL)
			rte_pktmbuf_free(m);
	}
	m = world_sent(0, 0);
	assert_non_null(m);
	rte_pktmbuf_free(m);
	assert_int_equal(world_workers[0]->merges.merges_used, 0);
	assert_int_equal(world_workers[0]->pending.free_count, world_workers[0]->pending.size);
	world_check_conservation();
}

static void parts_keep_to_the_time_of_the_datagram(void **state)
{
	struct packet in = get;

	world_rules[0] = "long:";
	world_terms[0].timeout_ms = 10 * WORLD_TIMEOUT;
	world_service.policy = KVL_POLICY_RULES;
	world_publish();
	in.payload = "get a long:b\r\n";
	world_run(0, 0, &in, 1);
	told_in_time(WORLD_TIMEOUT + 4);
}

static void later_waves_keep_to_the_time_of_the_datagram(void **state)
{
	struct packet in = get, r;
	struct world_asked t;

	in.payload = "set k 0 0 1\r\nx\r\nget k\r\n";
	world_run(0, 0, &in, 1);
	world_asked(0, &t);
	world_wait(0, WORLD_TIMEOUT / 2);
	r = reply(&t);
	r.payload = "STORED\r\n";
	world_run(0, 1, &r, 1);
	rte_pktmbuf_free(world_sent(0, 0));
	told_in_time(WORLD_TIMEOUT / 2 + 4);
}

/* What a client has of one node's value is not followed by another's. */
static void a_reply_that_has_begun_is_waited_for(void **state)
{
	struct world_asked first;
	struct packet r;

	world_run(0, 0, &get, 1);
	world_asked(0, &first);
	r = reply(&first);
	r.total = 2;
	world_run(0, 1, &r, 1);
	rte_pktmbuf_free(world_sent(0, 0));
	wait_a_try();
	assert_null(world_sent(0, 1));
	r.sequence = 1;
	world_run(0, 1, &r, 1);
	rte_pktmbuf_free(world_sent(0, 0));
	assert_int_equal(world_workers[0]->counters.replies, 2);
	assert_int_equal(world_workers[0]->counters.timeouts, 0);
	world_check_conservation();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(another_holder_answers, begin),
		cmocka_unit_test_setup(never_the_same_node_twice_and_two_retries_at_most, begin),
		cmocka_unit_test_setup(no_try_without_time_for_it, begin),
		cmocka_unit_test_setup(only_reads_are_asked_again, begin),
		cmocka_unit_test_setup(budget_bounds_the_storm, begin),
		cmocka_unit_test_setup(nobody_else_to_ask, begin),
		cmocka_unit_test_setup(reads_with_a_token_keep_to_one_node, begin),
		cmocka_unit_test_setup(reads_with_a_token_go_where_the_cas_will_go, begin),
		cmocka_unit_test_setup(parts_are_asked_again, begin),
		cmocka_unit_test_setup(parts_keep_to_the_time_of_the_datagram, begin),
		cmocka_unit_test_setup(later_waves_keep_to_the_time_of_the_datagram, begin),
		cmocka_unit_test_setup(a_reply_that_has_begun_is_waited_for, begin),
	};

	return cmocka_run_group_tests_name("dataplane/retry", tests, world_begin, world_end);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "dataplane/test_world.h"
#include "lib/score/weights.h"

/* ICMP says that a node cannot be reached: what is in flight to it is given up at once. */

#define DROPS(w, name) (world_workers[w]->counters.drops[name])

static bool v6;

static struct packet request(const char *payload, uint16_t id)
{
	return (struct packet){REQUEST, .id = id, .payload = payload};
}

/* A request as its node saw it. */
struct seen {
	uint8_t bytes[PACKET_MAX];
	size_t len; /* from the IP header on */
	struct world_asked at;
};

static struct seen ask(unsigned int w, const char *payload, uint16_t id)
{
	struct packet in = request(payload, id);
	struct rte_mbuf *mbuf;
	struct seen s;

	world_run(w, 0, &in, 1);
	mbuf = world_sent(w, 1);
	assert_non_null(mbuf);
	s.len = mbuf->data_len - 14;
	memcpy(s.bytes, rte_pktmbuf_mtod_offset(mbuf, void *, 14), s.len);
	s.at.node = world_node_of(mbuf, &s.at.wire);
	world_asked_fill(&s.at);
	return s;
}

/* What of an error is other than it should be. */
struct fault {
	uint8_t type, code;
	size_t quoted; /* bytes of the request; 0: all */
	bool checksum;
};

/* The error that the node's host would send about it. */
static void error_send(unsigned int w, const struct seen *s, struct fault fault)
{
	uint8_t icmp[PACKET_MAX] = {fault.type != 0 ? fault.type
				    : v6            ? 1
						    : 3,
		fault.code != 0 ? fault.code
		: v6            ? 4
				: 3};
	size_t quoted = fault.quoted != 0 ? fault.quoted : s->len, len = 8 + quoted;
	struct packet p = {.from_mac = "02:00:00:00:02:01",
		.to_mac = LANE1_MAC,
		.from = v6 ? "[2001:db8:2::1]:0" : "10.2.0.1:0",
		.to = v6 ? "[" SNAT6 "]:0" : SNAT ":0",
		.raw = true,
		.protocol = v6 ? 58 : 1,
		.no_udp_checksum = true};
	unsigned long pseudo = 0;
	struct rte_mbuf *mbuf;
	uint16_t checksum;
	uint8_t *at;

	memcpy(icmp + 8, s->bytes, quoted);
	/* The fixture writes UDP's header where ICMP's belongs, which lies as long. */
	p.payload = (const char *)icmp + 8;
	p.payload_len = quoted;
	mbuf = world_mbuf(&p);
	at = rte_pktmbuf_mtod_offset(mbuf, uint8_t *, v6 ? 54 : 34);
	if (v6)
		pseudo = packet_sum(at - 32, 32, len + 58);
	checksum = ~packet_sum(icmp, len, pseudo) + fault.checksum;
	icmp[2] = checksum >> 8;
	icmp[3] = checksum;
	memcpy(at, icmp, 8);
	world_run_mbuf(w, 1, mbuf);
}

static void expect_told(unsigned int w, uint16_t id)
{
	struct packet out = {ANSWER, .id = id, .payload = "SERVER_ERROR node did not answer\r\n"};

	world_expect(world_sent(w, 0), &out);
}

static int begin_v4(void **state)
{
	v6 = false;
	return world_reset(state);
}

static int begin_v6(void **state)
{
	world_reset(state);
	v6 = world_nodes_v6 = true;
	world_publish();
	return 0;
}

static void all_in_flight_is_given_up(void **state)
{
	struct kvl_worker *w = world_workers[0];
	struct seen first = ask(0, "get k\r\n", 1), other;
	char key[32];
	uint16_t k;

	ask(0, "get k\r\n", 2);
	ask(0, "incr k 1\r\n", 3);
	for (k = 0;; k++) { /* a key of another node */
		snprintf(key, sizeof(key), "get other%u\r\n", k);
		other = ask(0, key, 4);
		if (other.at.node != first.at.node)
			break;
	}
	w->now++;
	error_send(0, &first, (struct fault){0});
	expect_told(0, 1);
	world_wait(0, 0);
	expect_told(0, 2);
	expect_told(0, 3);
	for (unsigned int i = 0; i < k; i++)
		expect_told(0, 4);
	assert_null(world_sent(0, 0));
	assert_int_equal(kvl_pulse_in_flight(&w->pulses[first.at.node - 1]), 0);
	assert_int_equal(w->nodes[first.at.node - 1].refused, 1);
	assert_int_equal(w->nodes[first.at.node - 1].timeouts_in_a_row, 3 + k);
	assert_int_equal(kvl_pulse_in_flight(&w->pulses[other.at.node - 1]), 1);
	assert_int_equal(w->counters.refused, 3 + k);
	/* What it says now is late. */
	world_check_conservation();

	/* The same once more is about nothing that waits. */
	error_send(0, &first, (struct fault){0});
	assert_int_equal(DROPS(0, KVL_DROP_ICMP_STALE), 1);
	world_check_conservation();
}

/* Without an error of its own, and without a sign of life, for a while. */
static void what_is_sent_soon_after_is_given_up_soon(void **state)
{
	struct seen first = ask(0, "get k\r\n", 1);

	world_workers[0]->now++;
	error_send(0, &first, (struct fault){0});
	expect_told(0, 1);
	ask(0, "get k\r\n", 2);
	world_wait(0, 8);
	assert_null(world_sent(0, 0));
	world_wait(0, 12);
	expect_told(0, 2);
	world_wait(0, 500);
	ask(0, "get k\r\n", 3);
	world_wait(0, 40);
	assert_null(world_sent(0, 0));
	assert_int_equal(kvl_pulse_in_flight(&world_workers[0]->pulses[first.at.node - 1]), 1);
	world_check_conservation();
}

static void a_node_that_answers_again_is_waited_for(void **state)
{
	struct seen first = ask(0, "get k\r\n", 1), later;
	struct packet r;

	world_workers[0]->now++;
	error_send(0, &first, (struct fault){0});
	expect_told(0, 1);
	world_wait(0, 2);
	later = ask(0, "get k\r\n", 2);
	ask(0, "get k\r\n", 3);
	r = world_reply(&later.at, "END\r\n");
	world_run(0, 1, &r, 1);
	rte_pktmbuf_free(world_sent(0, 0));
	world_wait(0, 50);
	assert_null(world_sent(0, 0));
	assert_int_equal(kvl_pulse_in_flight(&world_workers[0]->pulses[first.at.node - 1]), 1);
	world_check_conservation();
}

static void expect_ignored(const struct seen *s, struct fault fault, enum kvl_drop why)
{
	uint64_t before = DROPS(0, why);

	error_send(0, s, fault);
	assert_int_equal(DROPS(0, why), before + 1);
	assert_null(world_sent(0, 0));
	assert_int_equal(kvl_pulse_in_flight(&world_workers[0]->pulses[s->at.node - 1]), 1);
	world_check_conservation();
}

static void forged_and_other_errors_change_nothing(void **state)
{
	const size_t ip = v6 ? 40 : 20;
	struct seen good = ask(0, "get k\r\n", 1), s;

	s = good, s.bytes[ip + 9] ^= 1; /* another id */
	expect_ignored(&s, (struct fault){0}, KVL_DROP_ICMP_STALE);
	s = good, s.bytes[ip - 1] ^= 1; /* another node */
	expect_ignored(&s, (struct fault){0}, KVL_DROP_ICMP_STALE);
	s = good, s.bytes[ip + 3] ^= 1; /* another port of the node */
	expect_ignored(&s, (struct fault){0}, KVL_DROP_ICMP_STALE);
	expect_ignored(&good, (struct fault){.checksum = true}, KVL_DROP_ICMP_QUOTE);
	expect_ignored(&good, (struct fault){.quoted = ip + 8}, KVL_DROP_ICMP_QUOTE);
	expect_ignored(&good, (struct fault){.quoted = ip + 7}, KVL_DROP_NOT_OURS);
	expect_ignored(&good, (struct fault){.quoted = 3}, KVL_DROP_NOT_OURS);
	expect_ignored(&good, (struct fault){.type = 128}, KVL_DROP_NOT_OURS); /* ping */
	s = good, s.bytes[ip] ^= 0x80; /* not from one of our ports */
	expect_ignored(&s, (struct fault){0}, KVL_DROP_NOT_OURS);
	s = good, s.bytes[0] ^= 1;
	if (!v6)
		expect_ignored(&s, (struct fault){0}, KVL_DROP_NOT_OURS);
	s = good, s.bytes[v6 ? 6 : 9] = 6; /* about TCP */
	expect_ignored(&s, (struct fault){0}, KVL_DROP_NOT_OURS);
	s = good, s.bytes[v6 ? 23 : 15] ^= 1; /* from an address that is not ours */
	expect_ignored(&s, (struct fault){0}, KVL_DROP_NOT_OURS);
	if (!v6)
		expect_ignored(&good, (struct fault){.code = 4}, KVL_DROP_ICMP_OTHER);
}

/* It arrives at one worker and is about another's request: all workers hear of it. */
static void all_workers_hear_of_it(void **state)
{
	struct seen s[2] = {ask(0, "get k\r\n", 1), ask(1, "get k\r\n", 2)};

	for (unsigned int w = 0; w < 2; w++)
		world_workers[w]->now++;
	error_send(0, &s[1], (struct fault){0});
	assert_int_equal(world_inbox(1), 1); /* to the one whose request it is */
	expect_told(1, 2);
	assert_int_equal(world_inbox(0), 1); /* and on to the others */
	world_wait(0, 0);
	expect_told(0, 1);
	assert_int_equal(world_inbox(0) + world_inbox(1), 0);
	world_check_conservation();
}

/* Reads of replicated keys go to the next holder at once, not after a try's time. */
static void reads_fail_over_at_once(void **state)
{
	struct seen first;
	unsigned int second;

	world_service.replication = 3;
	world_service.choice = KVL_CHOOSE_BEST;
	world_service.retries = 2;
	world_try_ms = 50;
	world_publish();
	world_workers[0]->retry_budgets[0].hundredths = 1000;
	kvl_retry_keys_init(&world_workers[0]->retry_keys, world_workers[0]->retry_keys.slots,
		KVL_RETRY_KEYS, &world_workers[0]->retry, 0);
	first = ask(0, "get k\r\n", 1);
	world_workers[0]->now++;
	error_send(0, &first, (struct fault){0});
	second = world_node_of(world_sent(0, 1), NULL);
	assert_int_not_equal(first.at.node, second);
	assert_null(world_sent(0, 0));
	assert_int_equal(world_workers[0]->nodes[first.at.node - 1].timeouts_in_a_row, 1);
	world_check_conservation();
}

#define BOTH(test)                                      \
	{#test "_v4", test, begin_v4, NULL, NULL},      \
	{                                               \
#test "_v6", test, begin_v6, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(all_in_flight_is_given_up),
		BOTH(what_is_sent_soon_after_is_given_up_soon),
		BOTH(a_node_that_answers_again_is_waited_for),
		BOTH(forged_and_other_errors_change_nothing),
		BOTH(all_workers_hear_of_it),
		BOTH(reads_fail_over_at_once),
	};

	return cmocka_run_group_tests(tests, world_begin, world_end);
}

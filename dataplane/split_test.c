/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "dataplane/test_split.h"

/* Several keys: what the nodes are asked, and what the client gets. */

static void keys_go_to_their_nodes(void **state)
{
	ask("get a b c\r\n");
	assert_int_equal(asked_count, 3);
	reply("get c\r\n", "VALUE c 0 1\r\n3\r\nEND\r\n");
	reply("get a\r\n", "VALUE a 5 2\r\n11\r\nEND\r\n");
	client_gets_nothing();
	reply("get b\r\n", "END\r\n");
	client_gets("VALUE a 5 2\r\n11\r\nVALUE c 0 1\r\n3\r\nEND\r\n");
	assert_int_equal(COUNTER(splits), 1);
	assert_int_equal(COUNTER(parts), 3);
	assert_int_equal(COUNTER(unanswered), 0);
	all_is_done();
}

static void each_part_goes_where_the_key_goes_alone(void **state)
{
	unsigned int alone[20];
	char text[256] = "get", one[32];

	for (unsigned int i = 0; i < 20; i++) {
		snprintf(one, sizeof(one), "get key%u\r\n", i);
		send_bytes(one, strlen(one));
		alone[i] = world_node_of(world_sent(0, 1), NULL);
		snprintf(text + strlen(text), sizeof(text) - strlen(text), " key%u", i);
	}
	strcat(text, "\r\n");
	ask(text);
	assert_int_equal(asked_count, 20);
	for (unsigned int i = 0; i < 20; i++) {
		snprintf(one, sizeof(one), "get key%u\r\n", i);
		assert_int_equal(asked_of(one)->at.node, alone[i]);
		/* one flush a node: its datagrams stand side by side */
		for (unsigned int k = 0; k + 2 < asked_count; k++)
			if (asked[k].at.node != asked[k + 1].at.node)
				for (unsigned int n = k + 2; n < asked_count; n++)
					assert_int_not_equal(asked[k].at.node, asked[n].at.node);
	}
	for (unsigned int i = 0; i < 20; i++)
		reply_datagram(&asked[i], "END\r\n", 5, 0, 1);
	client_gets("END\r\n");
	world_check_conservation();
}

static void gets_and_gat_keep_their_words(void **state)
{
	ask("gets a b\r\n");
	reply("gets a\r\n", "VALUE a 0 1 77\r\nx\r\nEND\r\n");
	reply("gets b\r\n", "VALUE b 0 1 78\r\ny\r\nEND\r\n");
	client_gets("VALUE a 0 1 77\r\nx\r\nVALUE b 0 1 78\r\ny\r\nEND\r\n");
	ask("gat -1 a  b \n");
	reply("gat -1 a\r\n", "END\r\n");
	reply("gat -1 b\r\n", "VALUE b 0 1\r\ny\r\nEND\r\n");
	client_gets("VALUE b 0 1\r\ny\r\nEND\r\n");
	all_is_done();
}

static void equal_keys_are_asked_once(void **state)
{
	ask("get a a a\r\n");
	assert_int_equal(asked_count, 1);
	reply("get a\r\n", "VALUE a 0 1\r\nx\r\nEND\r\n");
	client_gets("VALUE a 0 1\r\nx\r\nVALUE a 0 1\r\nx\r\nVALUE a 0 1\r\nx\r\nEND\r\n");
	ask("get a b a\r\n");
	assert_int_equal(asked_count, 3);
	for (unsigned int i = 0; i < 3; i++) {
		const char *text =
			asked[i].text[4] == 'a' ? "VALUE a 0 1\r\nx\r\nEND\r\n" : "END\r\n";

		reply_datagram(&asked[i], text, strlen(text), 0, 1);
	}
	client_gets("VALUE a 0 1\r\nx\r\nVALUE a 0 1\r\nx\r\nEND\r\n");
	all_is_done();
}

/* Values of several datagrams each, out of order, into one message of full datagrams. */
static void large_values_become_one_message(void **state)
{
	static char value[2][4000], whole[2][8192], want[16384];
	size_t len[2], total = 0;
	struct asked *a[2];

	memset(value[0], 'x', 3000);
	memset(value[1], 'y', 2500);
	ask("get a b\r\n");
	a[0] = asked_of("get a\r\n");
	a[1] = asked_of("get b\r\n");
	for (unsigned int i = 0; i < 2; i++) {
		len[i] = sprintf(whole[i], "VALUE %c 0 %zu\r\n%s\r\nEND\r\n", "ab"[i],
			strlen(value[i]), value[i]);
		memcpy(want + total, whole[i], len[i] - 5);
		total += len[i] - 5;
	}
	memcpy(want + total, "END\r\n", 5);
	total += 5;
	reply_datagram(a[0], whole[0] + 2 * 1392, len[0] - 2 * 1392, 2, 3);
	reply_datagram(a[1], whole[1] + 1392, len[1] - 1392, 1, 2);
	reply_datagram(a[0], whole[0], 1392, 0, 3);
	reply_datagram(a[1], whole[1], 1392, 0, 2);
	client_gets_nothing();
	reply_datagram(a[0], whole[0] + 1392, 1392, 1, 3);
	for (size_t at = 0; at < total; at += 1392)
		client_gets_datagram(want + at, RTE_MIN((size_t)1392, total - at), at / 1392,
			(total + 1391) / 1392);
	all_is_done();
}

/* At 1392 bytes one datagram, at 1393 two. */
static void message_size_at_the_edge(void **state)
{
	static char text[2048], want[2048];

	for (int more = 0; more <= 1; more++) {
		size_t head = strlen("VALUE a 0 1365\r\n"), value = 1392 - 5 - 2 - head + more;
		size_t len = sprintf(text, "VALUE a 0 %zu\r\n", value);

		memset(text + len, 'v', value);
		memcpy(text + len + value, "\r\nEND\r\n", 8);
		assert_int_equal(strlen(text), 1392 + more);
		memcpy(want, text, 1393);
		ask("get a b\r\n");
		reply("get b\r\n", "END\r\n");
		reply_datagram(asked_of("get a\r\n"), text, 1392, 0, 1 + more);
		if (more)
			reply_datagram(asked_of("get a\r\n"), text + 1392, 1, 1, 2);
		client_gets_datagram(want, 1392, 0, 1 + more);
		if (more)
			client_gets_datagram(want + 1392, 1, 1, 2);
		all_is_done();
	}
}

static void silent_node_is_a_miss(void **state)
{
	ask("get a b\r\n");
	reply("get b\r\n", "VALUE b 0 1\r\ny\r\nEND\r\n");
	world_wait(0, WORLD_TIMEOUT + 2);
	client_gets("VALUE b 0 1\r\ny\r\nEND\r\n");
	assert_int_equal(COUNTER(unanswered), 1);
	assert_int_equal(COUNTER(timeouts), 1);
	all_is_done();

	/* What it sends now is nobody's. */
	reply("get a\r\n", "VALUE a 0 1\r\nx\r\nEND\r\n");
	client_gets_nothing();
	assert_int_equal(COUNTER(drops)[KVL_DROP_REPLY_LATE], 1);
}

static void silent_node_is_an_error_by_policy(void **state)
{
	world_service.partial = KVL_PARTIAL_ERROR;
	world_publish();
	ask("get a b\r\n");
	reply("get b\r\n", "VALUE b 0 1\r\ny\r\nEND\r\n");
	world_wait(0, WORLD_TIMEOUT + 2);
	client_gets("SERVER_ERROR node did not answer\r\n");
	all_is_done();
}

/* An incomplete or senseless reply is no reply. */
static void nodes_are_not_believed(void **state)
{
	ask("get a b c d\r\n");
	reply("get a\r\n", "VALUE a 0 1\r\nx\r\n");
	reply("get b\r\n", "SERVER_ERROR out of memory\r\n");
	reply("get c\r\n", "VALUE c 0 1\r\nz\r\nEND\r\n");
	reply_datagram(asked_of("get d\r\n"), "VALUE d 0 5000\r\n", 16, 0, 4);
	client_gets_nothing();
	world_wait(0, WORLD_TIMEOUT + 2);
	client_gets("VALUE c 0 1\r\nz\r\nEND\r\n");
	assert_int_equal(COUNTER(unanswered), 3);
	all_is_done();
}

/* The message would give wrong bytes a right checksum. */
static void damaged_reply_is_not_merged(void **state)
{
	struct packet r;

	ask("get a b\r\n");
	r = world_reply(&asked_of("get a\r\n")->at, "VALUE a 0 1\r\nx\r\nEND\r\n");
	r.udp_checksum_add = 1;
	world_run(0, 1, &r, 1);
	assert_int_equal(COUNTER(drops)[KVL_DROP_CHECKSUM], 1);
	reply("get b\r\n", "END\r\n");
	client_gets_nothing();
	/* Without one it may come over IPv4, and passes. */
	r.udp_checksum_add = 0;
	r.no_udp_checksum = true;
	world_run(0, 1, &r, 1);
	client_gets("VALUE a 0 1\r\nx\r\nEND\r\n");
	all_is_done();
}

static void no_node_is_a_miss(void **state)
{
	memset(world_weights, 0, sizeof(world_weights));
	world_publish();
	ask("get a b\r\n");
	assert_int_equal(asked_count, 0);
	client_gets("END\r\n");
	world_service.partial = KVL_PARTIAL_ERROR;
	world_publish();
	ask("get a b\r\n");
	client_gets("SERVER_ERROR no node available\r\n");
	all_is_done();
}

static void tagged_client_gets_tagged_message(void **state)
{
	struct packet in = {REQUEST, .payload = "get a b\r\n", .vlan = 0x2064};
	struct packet out = {ANSWER, .payload = "END\r\n", .vlan = 0x2064};

	world_run(0, 0, &in, 1);
	asked_take();
	reply("get a\r\n", "END\r\n");
	reply("get b\r\n", "END\r\n");
	world_expect(world_sent(0, 0), &out);
	all_is_done();
}

static void dsr_goes_whole_or_not_at_all(void **state)
{
	struct packet in = {REQUEST, .to = DSR_VIP, .payload = "get a a\r\nset a 0 0 1\r\nx\r\n"};
	struct packet out = {
		ANSWER, .from = DSR_VIP, .payload = "SERVER_ERROR keys of several nodes\r\n"};

	struct packet whole = in;
	struct rte_mbuf *mbuf;
	char mac[32];

	world_run(0, 0, &in, 1);
	mbuf = world_sent(0, 1);
	rte_ether_format_addr(mac, sizeof(mac), rte_pktmbuf_mtod(mbuf, struct rte_ether_addr *));
	whole.from_mac = LANE1_MAC;
	whole.to_mac = mac;
	whole.ttl = 63;
	world_expect(mbuf, &whole);
	in.payload = "get a b c d e f g\r\n";
	world_run(0, 0, &in, 1);
	world_expect(world_sent(0, 0), &out);
	in.payload = "get a\r\nset a 0 0 40\r\nx\r\n";
	out.payload = "SERVER_ERROR several commands in one datagram\r\n";
	world_run(0, 0, &in, 1);
	world_expect(world_sent(0, 0), &out);
	all_is_done();
}

/* Number of the node that takes the whole datagram. */
static unsigned int dsr_node(const char *payload)
{
	const struct packet in = {.from_mac = CLIENT_MAC,
		.to_mac = LANE0_MAC,
		.from = CLIENT,
		.to = DSR_VIP,
		.id = 7,
		.payload = payload};
	struct rte_mbuf *mbuf;
	unsigned int node;

	world_run(0, 0, &in, 1);
	mbuf = world_sent(0, 1);
	assert_non_null(mbuf);
	node = rte_pktmbuf_mtod(mbuf, struct rte_ether_addr *)->addr_bytes[5];
	rte_pktmbuf_free(mbuf);
	return node;
}

static void dsr_writes_pass_a_read_only_node_by(void **state)
{
	const unsigned int node = dsr_node("get a a\r\n");

	assert_int_equal(dsr_node("get a\r\nset a 0 0 1\r\nx\r\n"), node);
	world_read_only[node - 1] = true;
	world_publish();
	assert_int_equal(dsr_node("get a a\r\n"), node);
	assert_int_not_equal(dsr_node("get a\r\nset a 0 0 1\r\nx\r\n"), node);
	all_is_done();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(keys_go_to_their_nodes, world_reset),
		cmocka_unit_test_setup(each_part_goes_where_the_key_goes_alone, world_reset),
		cmocka_unit_test_setup(gets_and_gat_keep_their_words, world_reset),
		cmocka_unit_test_setup(equal_keys_are_asked_once, world_reset),
		cmocka_unit_test_setup(large_values_become_one_message, world_reset),
		cmocka_unit_test_setup(message_size_at_the_edge, world_reset),
		cmocka_unit_test_setup(silent_node_is_a_miss, world_reset),
		cmocka_unit_test_setup(silent_node_is_an_error_by_policy, world_reset),
		cmocka_unit_test_setup(nodes_are_not_believed, world_reset),
		cmocka_unit_test_setup(damaged_reply_is_not_merged, world_reset),
		cmocka_unit_test_setup(no_node_is_a_miss, world_reset),
		cmocka_unit_test_setup(tagged_client_gets_tagged_message, world_reset),
		cmocka_unit_test_setup(dsr_goes_whole_or_not_at_all, world_reset),
		cmocka_unit_test_setup(dsr_writes_pass_a_read_only_node_by, world_reset),
	};

	return cmocka_run_group_tests_name("dataplane/split", tests, world_begin, world_end);
}

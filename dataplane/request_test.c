/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "dataplane/test_world.h"
#include "lib/ring/hash.h"
#include "lib/ring/lookup.h"

/* A client's request on its way to a node, or back with the router's own answer. */

static struct packet request(const char *payload)
{
	return (struct packet){REQUEST, .payload = payload};
}

/* The node that the world's ring gives a key, by the placement alone: 1..6. */
static unsigned int node_of_key(const char *key)
{
	const struct kvl_placement *p = kvl_root_services(world_root())[0].placement;
	uint64_t hash = kvl_key_hash(key, strlen(key), 0);

	return kvl_placement_row(p, kvl_placement_find(p, hash))->node[0] + 1;
}

static void node_mac(unsigned int node, char text[32])
{
	snprintf(text, 32, "02:00:00:00:02:%02x", node);
}

/* What a request must look like at its node, in nat mode. */
static void nat_expected(
	struct packet *p, unsigned int node, struct kvl_wire_id wire, char text[3][32])
{
	node_mac(node, text[0]);
	snprintf(text[1], 32, SNAT ":%u", wire.port);
	snprintf(text[2], 32, "10.2.0.%u:11211", node);
	p->from_mac = LANE1_MAC;
	p->to_mac = text[0];
	p->from = text[1];
	p->to = text[2];
	p->id = wire.id;
	p->ttl--;
	p->vlan = 0;
}

/* Sends one request and compares every byte that comes out, checksums included. */
static void nat_check(struct packet in)
{
	struct kvl_wire_id wire = kvl_pending_wire(&world_workers[0]->pending,
		world_workers[0]->pending.free[world_workers[0]->pending.free_head
					       & (world_workers[0]->pending.size - 1)]);
	struct packet out = in;
	char text[3][32];

	in.ttl = in.ttl == 0 ? 64 : in.ttl;
	out.ttl = in.ttl;
	nat_expected(&out, node_of_key("somekey"), wire, text);
	world_run(0, 0, &in, 1);
	world_expect(world_sent(0, 1), &out);
	world_check_conservation();
}

static void nat_rewrites_every_field(void **state)
{
	nat_check(request("get somekey\r\n"));
	nat_check(request("set somekey 0 0 3\r\nabc\r\n"));
	nat_check(request("mg somekey v\r\n"));
}

/* By the request, whatever comes of it: for the share of reads (SPEC 4.6). */
static void writes_are_counted(void **state)
{
	const struct kvl_node_counters *node = &world_workers[0]->nodes[node_of_key("somekey") - 1];

	nat_check(request("get somekey\r\n"));
	assert_int_equal(node->writes, 0);
	nat_check(request("set somekey 0 0 3\r\nabc\r\n"));
	nat_check(request("delete somekey noreply\r\n"));
	assert_int_equal(node->writes, 2);
	assert_int_equal(node->requests, 3);
}

static void nat_keeps_what_is_not_its_business(void **state)
{
	struct packet p = request("get somekey\r\n");

	p.ip_id = 0xbeef;
	p.dont_fragment = true;
	p.ttl = 2;
	p.sequence = 9; /* memcached ignores it, and so do we */
	nat_check(p);
	p.no_udp_checksum = true;
	nat_check(p);
	p.vlan = 0x6007;
	nat_check(p);
}

/* A receiver goes by UDP's length, and so does the checksum. */
static void nat_takes_bytes_behind_the_datagram(void **state)
{
	struct packet p = request("get somekey\r\n");

	p.pad = 5;
	p.ip_length_add = 5;
	nat_check(p);
	p.udp_checksum_add = 1;
	world_run(0, 0, &p, 1);
	assert_int_equal(world_workers[0]->counters.drops[KVL_DROP_CHECKSUM], 1);
}

static uint16_t checksum_at_node(void **state, const uint8_t word[2])
{
	char payload[] = "set somekey 0 0 3\r\nv..\r\n";
	struct packet p = request(payload);
	struct kvl_packet out;
	uint16_t checksum;

	memcpy(payload + 20, word, 2); /* lies on a word of the checksum */
	p.payload_len = sizeof(payload) - 1;
	world_reset(state); /* the same slot each time */
	world_run(0, 0, &p, 1);
	kvl_packet_begin(&out, world_sent(0, 1), 1);
	checksum = kvl_packet_udp(&out)->dgram_cksum;
	rte_pktmbuf_free(out.mbuf);
	return checksum;
}

/* RFC 768: a checksum that comes out as 0 is sent as 0xffff, for 0 would mean "none". A word that
 * equals the checksum without it makes the sum 0xffff, and so the checksum 0. */
static void nat_never_makes_a_zero_checksum(void **state)
{
	uint8_t word[2] = {0, 0};
	uint16_t without = checksum_at_node(state, word);

	memcpy(word, &without, 2);
	assert_int_equal(checksum_at_node(state, word), 0xffff);
}

static void dsr_changes_macs_and_ttl_only(void **state)
{
	struct packet in = request("get somekey\r\n"), out;
	char mac[32];

	in.to = DSR_VIP;
	in.ttl = 33;
	out = in;
	node_mac(node_of_key("somekey"), mac);
	out.from_mac = LANE1_MAC;
	out.to_mac = mac;
	out.ttl = 32;
	world_run(0, 0, &in, 1);
	world_expect(world_sent(0, 1), &out);
	assert_int_equal(world_workers[0]->pending.free_count, world_workers[0]->pending.size);
	assert_int_equal(world_workers[0]->nodes[node_of_key("somekey") - 1].requests, 1);
	world_check_conservation();
}

static struct packet answer(const char *payload)
{
	return (struct packet){ANSWER, .payload = payload};
}

static void bad_requests_are_answered(void **state)
{
	static const struct {
		const char *in, *out;
		enum kvl_verdict verdict;
	} cases[] = {
		{"set k 0 0 40\r\nshort\r\n", "CLIENT_ERROR bad data chunk\r\n",
			KVL_REQUEST_VALUE_SHORT},
		{"bogus\r\n", "ERROR\r\n", KVL_REQUEST_NO_COMMAND},
		{"flush_all\r\n", "SERVER_ERROR command refused by the router\r\n",
			KVL_REQUEST_ADMIN},
	};

	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		struct packet in = request(cases[i].in), out = answer(cases[i].out);

		world_run(0, 0, &in, 1);
		world_expect(world_sent(0, 0), &out);
		in.vlan = out.vlan = 0x2123; /* an answer goes back with its tag */
		world_run(0, 0, &in, 1);
		world_expect(world_sent(0, 0), &out);
		assert_null(world_sent(0, 1));
		assert_int_equal(world_workers[0]->counters.answered[cases[i].verdict], 2);
		world_check_conservation();
	}
}

static void quiet_errors_are_dropped(void **state)
{
	struct packet in = request("set k 0 0 40 noreply\r\nshort\r\n");

	world_run(0, 0, &in, 1);
	assert_null(world_sent(0, 0));
	assert_null(world_sent(0, 1));
	assert_int_equal(world_workers[0]->counters.drops[KVL_DROP_QUIET], 1);
	world_check_conservation();
}

static unsigned int route(const char *key)
{
	char payload[64];
	struct packet in;

	snprintf(payload, sizeof(payload), "get %s\r\n", key);
	in = request(payload);
	world_run(0, 0, &in, 1);
	return world_node_of(world_sent(0, 1), NULL);
}

static void node_that_is_out_is_passed_over(void **state)
{
	unsigned int first = node_of_key("somekey");

	assert_int_equal(route("somekey"), first);
	world_weights[first - 1] = 0;
	world_publish();
	assert_int_not_equal(route("somekey"), first);
	assert_int_equal(world_workers[0]->counters.fallbacks, 1);
	world_weights[first - 1] = 1000;
	world_publish();
	assert_int_equal(route("somekey"), first);
}

/* The dead node's keys go to all others, not to one neighbour; no other key moves. */
static void dead_nodes_keys_are_spread(void **state)
{
	unsigned int gets[WORLD_NODES + 1] = {0}, moved = 0;

	world_weights[0] = 0;
	world_publish();
	for (unsigned int i = 0; i < 600; i++) {
		unsigned int before, after;
		char key[16];

		if (i % 200 == 0)
			world_reset(state), world_weights[0] = 0, world_publish();
		snprintf(key, sizeof(key), "key%u", i);
		before = node_of_key(key);
		after = route(key);
		if (before == 1) {
			gets[after]++;
			moved++;
		} else {
			assert_int_equal(before, after);
		}
	}
	assert_int_equal(gets[1], 0);
	for (unsigned int n = 2; n <= WORLD_NODES; n++)
		assert_in_range(gets[n], 1, moved / 2);
}

static void no_node_left_is_answered(void **state)
{
	struct packet in = request("get k\r\n"), quiet = request("set k 0 0 1 noreply\r\nx\r\n");
	struct packet out = answer("SERVER_ERROR no node available\r\n");

	memset(world_weights, 0, sizeof(world_weights));
	world_publish();
	world_run(0, 0, &in, 1);
	world_expect(world_sent(0, 0), &out);
	world_run(0, 0, &quiet, 1);
	assert_null(world_sent(0, 0));
	assert_int_equal(world_workers[0]->counters.drops[KVL_DROP_NO_NODE], 1);
	world_check_conservation();
}

static void full_table_is_answered(void **state)
{
	struct packet in = request("get k\r\n");
	struct packet out = answer("SERVER_ERROR router busy\r\n");

	for (unsigned int i = 0; i < 1024; i++) {
		world_run(0, 0, &in, 1);
		rte_pktmbuf_free(world_sent(0, 1));
	}
	world_run(0, 0, &in, 1);
	world_expect(world_sent(0, 0), &out);
	in.payload = "set k 0 0 1 noreply\r\nx\r\n";
	world_run(0, 0, &in, 1);
	assert_int_equal(world_workers[0]->counters.drops[KVL_DROP_PENDING_FULL], 1);
	world_check_conservation();

	/* All time out; then there is room again. */
	world_wait(0, WORLD_TIMEOUT + 1);
	assert_int_equal(world_workers[0]->counters.timeouts, 1024);
	in.payload = "get k\r\n";
	world_run(0, 0, &in, 1);
	rte_pktmbuf_free(world_sent(0, 1));
	world_check_conservation();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(nat_rewrites_every_field, world_reset),
		cmocka_unit_test_setup(writes_are_counted, world_reset),
		cmocka_unit_test_setup(nat_keeps_what_is_not_its_business, world_reset),
		cmocka_unit_test_setup(nat_takes_bytes_behind_the_datagram, world_reset),
		cmocka_unit_test_setup(nat_never_makes_a_zero_checksum, world_reset),
		cmocka_unit_test_setup(dsr_changes_macs_and_ttl_only, world_reset),
		cmocka_unit_test_setup(bad_requests_are_answered, world_reset),
		cmocka_unit_test_setup(quiet_errors_are_dropped, world_reset),
		cmocka_unit_test_setup(node_that_is_out_is_passed_over, world_reset),
		cmocka_unit_test_setup(dead_nodes_keys_are_spread, world_reset),
		cmocka_unit_test_setup(no_node_left_is_answered, world_reset),
		cmocka_unit_test_setup(full_table_is_answered, world_reset),
	};

	return cmocka_run_group_tests_name("dataplane/request", tests, world_begin, world_end);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "dataplane/test_world.h"

/* IPv6 at the clients, at the nodes, and at either alone: every byte, both ways. */

#define DROPS(name) (world_workers[0]->counters.drops[name])

/* Who talks to whom. */
struct ways {
	bool client_v6, node_v6;
};

static const struct ways all_ways[] = {{true, true}, {true, false}, {false, true}, {false, false}};

static struct packet request(struct ways ways, const char *payload)
{
	return (struct packet){REQUEST, .from = ways.client_v6 ? CLIENT6 : CLIENT,
		.to = ways.client_v6 ? NAT_VIP6 : NAT_VIP, .payload = payload};
}

static void nodes_set(struct ways ways)
{
	world_nodes_v6 = ways.node_v6;
	world_publish();
}

/* Another family's header is written anew: an atomic datagram (RFC 6864). */
static void atomic(struct packet *p, struct ways ways)
{
	if (ways.client_v6 != ways.node_v6)
		p->dont_fragment = true;
}

/* One request; checks all of it at the node. */
static void ask(struct packet in, struct ways ways, struct world_asked *a)
{
	struct kvl_pending *pending = &world_workers[0]->pending;
	struct packet out = in;
	struct rte_mbuf *sent;

	a->wire =
		kvl_pending_wire(pending, pending->free[pending->free_head & (pending->size - 1)]);
	world_run(0, 0, &in, 1);
	sent = world_sent(0, 1);
	assert_non_null(sent);
	a->node = *rte_pktmbuf_mtod_offset(sent, uint8_t *, 5);
	world_asked_fill(a);
	out.from_mac = LANE1_MAC;
	out.to_mac = a->mac;
	out.from = a->snat_text;
	out.to = a->node_text;
	out.id = a->wire.id;
	out.ttl = (in.ttl != 0 ? in.ttl : 64) - 1;
	out.vlan = 0;
	/* A checksum that IPv4 does without must be there in IPv6. */
	out.no_udp_checksum = in.no_udp_checksum && !ways.node_v6;
	out.pad = 0;
	atomic(&out, ways);
	world_expect(sent, &out);
	world_check_conservation();
}

static void answer(const struct packet *in, struct packet r, struct ways ways)
{
	struct packet out = r;

	world_run(0, 1, &r, 1);
	out.from_mac = in->to_mac;
	out.to_mac = in->from_mac;
	out.from = in->to;
	out.to = in->from;
	out.id = in->id;
	out.ttl = (r.ttl != 0 ? r.ttl : 64) - 1;
	out.vlan = in->vlan;
	out.no_udp_checksum = r.no_udp_checksum && !ways.client_v6;
	atomic(&out, ways);
	world_expect(world_sent(0, 0), &out);
	world_check_conservation();
}

static void test_there_and_back(void **state)
{
	for (unsigned int i = 0; i < 4; i++) {
		struct packet in = request(all_ways[i], "get k\r\n");
		struct world_asked a;

		nodes_set(all_ways[i]);
		ask(in, all_ways[i], &a);
		answer(&in, world_reply(&a, "VALUE k 0 1\r\nx\r\nEND\r\n"), all_ways[i]);
	}
	assert_int_equal(world_workers[0]->counters.replies, 4);
	assert_int_equal(world_workers[0]->counters.pending, 0);
}

/* Over IPv6 there is none without: one is not made up for it, nor does it go on as IPv4's may. */
static void test_reply_without_checksum(void **state)
{
	for (unsigned int i = 0; i < 2; i++) {
		const struct ways ways = {.client_v6 = i == 0, .node_v6 = true};
		struct packet r;
		struct world_asked a;

		nodes_set(ways);
		ask(request(ways, "get k\r\n"), ways, &a);
		r = world_reply(&a, "END\r\n");
		r.no_udp_checksum = true;
		world_run(0, 1, &r, 1);
		assert_null(world_sent(0, 0));
		assert_int_equal(DROPS(KVL_DROP_CHECKSUM), i + 1);
	}
	world_check_conservation();
}

/* The class of service passes, an odd payload is summed, a tag comes back, padding goes. */
static void test_odd_lengths_tags_and_classes(void **state)
{
	for (unsigned int i = 0; i < 4; i++) {
		struct packet in = request(all_ways[i], "set key 1 0 3\r\nabc\r\n");
		struct packet r;
		struct world_asked a;

		nodes_set(all_ways[i]);
		in.vlan = 0x2064;
		in.service_type = 0xb8;
		in.ttl = 2;
		in.pad = 7;
		ask(in, all_ways[i], &a);
		r = world_reply(&a, "STORED\r\n");
		r.service_type = 0x28;
		answer(&in, r, all_ways[i]);
	}
}

static void test_checksum_of_ipv4_may_be_missing(void **state)
{
	const struct ways to_v6 = {false, true}, to_v4 = {true, false};
	struct packet in = request(to_v6, "get k\r\n"), r;
	struct world_asked a;

	nodes_set(to_v6);
	in.no_udp_checksum = true;
	ask(in, to_v6, &a);
	answer(&in, world_reply(&a, "END\r\n"), to_v6);

	nodes_set(to_v4);
	in = request(to_v4, "get k\r\n");
	ask(in, to_v4, &a);
	r = world_reply(&a, "END\r\n");
	r.no_udp_checksum = true;
	answer(&in, r, to_v4);
}

static void expect_dropped(const struct packet *p, unsigned int lane, enum kvl_drop why)
{
	uint64_t before = DROPS(why);

	world_run(0, lane, p, 1);
	assert_int_equal(DROPS(why), before + 1);
	assert_null(world_sent(0, 0));
	assert_null(world_sent(0, 1));
	world_check_conservation();
}

static void test_faults(void **state)
{
	const struct ways ways = {true, true};
	const struct packet good = request(ways, "get k\r\n");
	struct packet p = good;

	nodes_set(ways);
	p.no_udp_checksum = true;
	expect_dropped(&p, 0, KVL_DROP_CHECKSUM);
	p = good, p.udp_checksum_add = 1;
	expect_dropped(&p, 0, KVL_DROP_CHECKSUM);
	p = good, p.ttl = 1;
	expect_dropped(&p, 0, KVL_DROP_TTL);
	p = good, p.version_ihl = 0x40;
	expect_dropped(&p, 0, KVL_DROP_IP_HEADER);
	p = good, p.protocol = 44;
	expect_dropped(&p, 0, KVL_DROP_FRAGMENT);
	p = good, p.protocol = 60;
	expect_dropped(&p, 0, KVL_DROP_IP_OPTIONS);
	p = good, p.protocol = 6;
	expect_dropped(&p, 0, KVL_DROP_NOT_OURS);
	p = good, p.ip_length_add = 1;
	expect_dropped(&p, 0, KVL_DROP_TRUNCATED);
	p = good, p.ip_length_add = -100;
	expect_dropped(&p, 0, KVL_DROP_TRUNCATED); /* 65535 and less: wraps */
	p = good, p.ip_length_add = -1;
	expect_dropped(&p, 0, KVL_DROP_UDP_LENGTH);
	p = good, p.from = "[2001:db8:1::9]:0";
	expect_dropped(&p, 0, KVL_DROP_PORT_ZERO);
	p = good, p.to = "[2001:db8:1::102]:11211";
	expect_dropped(&p, 0, KVL_DROP_NOT_OURS);
	p = good, p.to = "[2001:db8:1::100]:11212";
	expect_dropped(&p, 0, KVL_DROP_NOT_OURS);
	/* The IPv4 services are not reached by their mapped addresses. */
	p = good, p.to = "[::ffff:a01:65]:11211";
	expect_dropped(&p, 0, KVL_DROP_IP_HEADER);
	p = good, p.from = "[::ffff:a01:9]:5000";
	expect_dropped(&p, 0, KVL_DROP_IP_HEADER);
	for (size_t cut = 1; cut < 70; cut++) {
		p = good, p.cut = cut;
		world_run(0, 0, &p, 1);
		assert_null(world_sent(0, 0));
		assert_null(world_sent(0, 1));
	}
	world_check_conservation();
}

static void test_servers_are_no_clients(void **state)
{
	const struct ways ways = {true, true};
	struct packet p = request(ways, "get k\r\n");

	nodes_set(ways);
	p.from = "[2001:db8:2::3]:11211";
	expect_dropped(&p, 0, KVL_DROP_REFLECTION);
	p.from = "[2001:db8:1::101]:11211";
	expect_dropped(&p, 0, KVL_DROP_REFLECTION);
	p.from = "[" SNAT6 "]:20000";
	expect_dropped(&p, 0, KVL_DROP_REFLECTION);
}

static void test_reply_of_another_family_is_forged(void **state)
{
	const struct ways ways = {true, true};
	struct packet in = request(ways, "get k\r\n"), r;
	char to[40];
	struct world_asked a;

	nodes_set(ways);
	ask(in, ways, &a);
	r = world_reply(&a, "END\r\n");
	r.from = "10.2.0.1:11211";
	snprintf(to, sizeof(to), SNAT ":%u", a.wire.port);
	r.to = to;
	expect_dropped(&r, 1, KVL_DROP_REPLY_SOURCE);
	/* Toward clients nobody answers for a node. */
	r = world_reply(&a, "END\r\n");
	r.to_mac = LANE0_MAC;
	expect_dropped(&r, 0, KVL_DROP_NOT_OURS);
	r.to_mac = LANE1_MAC;
	r.from = "[2001:db8:2::77]:11211";
	expect_dropped(&r, 1, KVL_DROP_REPLY_SOURCE);
	answer(&in, world_reply(&a, "END\r\n"), ways);
}

static void test_own_answer(void **state)
{
	struct packet in = request((struct ways){true, true}, "bad\r\n"), out = in;

	in.vlan = out.vlan = 5;
	out.from_mac = LANE0_MAC;
	out.to_mac = CLIENT_MAC;
	out.from = NAT_VIP6;
	out.to = CLIENT6;
	out.payload = "ERROR\r\n";
	world_run(0, 0, &in, 1);
	world_expect(world_sent(0, 0), &out);
	world_check_conservation();
}

/* A split request: its parts and its merged reply are made by the worker. */
static void test_split(void **state)
{
	for (unsigned int i = 0; i < 4; i++) {
		struct packet in = request(all_ways[i], "get a b\r\n"), out = in;
		struct world_asked a;

		nodes_set(all_ways[i]);
		world_run(0, 0, &in, 1);
		for (unsigned int k = 0; k < 2; k++) {
			struct packet r;

			world_asked(0, &a);
			r = world_reply(&a, "END\r\n");
			world_run(0, 1, &r, 1);
		}
		out.from_mac = LANE0_MAC;
		out.to_mac = CLIENT_MAC;
		out.from = in.to;
		out.to = in.from;
		out.payload = "END\r\n";
		out.dont_fragment = true;
		world_expect(world_sent(0, 0), &out);
		world_check_conservation();
	}
}

static void test_dsr(void **state)
{
	struct packet in = request((struct ways){true, true}, "get k\r\n"), out = in;
	struct rte_mbuf *sent;
	char mac[32];

	in.to = out.to = DSR_VIP6;
	world_run(0, 0, &in, 1);
	sent = world_sent(0, 1);
	assert_non_null(sent);
	snprintf(mac, sizeof(mac), "02:00:00:00:02:%02x",
		*rte_pktmbuf_mtod_offset(sent, uint8_t *, 5));
	out.from_mac = LANE1_MAC;
	out.to_mac = mac;
	out.ttl = 63;
	world_expect(sent, &out);
	world_check_conservation();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_there_and_back, world_reset),
		cmocka_unit_test_setup(test_reply_without_checksum, world_reset),
		cmocka_unit_test_setup(test_odd_lengths_tags_and_classes, world_reset),
		cmocka_unit_test_setup(test_checksum_of_ipv4_may_be_missing, world_reset),
		cmocka_unit_test_setup(test_faults, world_reset),
		cmocka_unit_test_setup(test_servers_are_no_clients, world_reset),
		cmocka_unit_test_setup(test_reply_of_another_family_is_forged, world_reset),
		cmocka_unit_test_setup(test_own_answer, world_reset),
		cmocka_unit_test_setup(test_split, world_reset),
		cmocka_unit_test_setup(test_dsr, world_reset),
	};

	return cmocka_run_group_tests(tests, world_begin, world_end);
}

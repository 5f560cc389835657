/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "dataplane/test_world.h"

/* dsr requests within an outer packet: every outer header, and the inner packet to the byte. */

struct shape {
	bool inner_v6, outer_v6, gue;
};

static const struct shape shapes[] = {
	{false, false, false},
	{false, true, false},
	{true, false, false},
	{true, true, false},
	{false, false, true},
	{false, true, true},
	{true, false, true},
	{true, true, true},
};

static uint16_t get16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static void expect_address(const uint8_t *at, bool is_v6, const char *v4, const char *six)
{
	uint8_t want[16];

	assert_int_equal(inet_pton(is_v6 ? AF_INET6 : AF_INET, is_v6 ? six : v4, want), 1);
	assert_memory_equal(at, want, is_v6 ? 16 : 4);
}

/* Returns the length of the outer IP header. */
static size_t expect_outer_ip(
	const uint8_t *ip, size_t len, struct shape s, unsigned int node, uint8_t protocol)
{
	char v4[32], six[32];

	snprintf(v4, sizeof(v4), "10.2.0.%u", node);
	snprintf(six, sizeof(six), "2001:db8:2::%u", node);
	if (s.outer_v6) {
		assert_int_equal(get16(ip), 0x6b80); /* version, the inner class */
		assert_int_equal(get16(ip + 2), 0);
		assert_int_equal(get16(ip + 4), len - 40);
		assert_int_equal(ip[6], protocol);
		assert_int_equal(ip[7], 64);
		expect_address(ip + 8, true, NULL, SNAT6);
		expect_address(ip + 24, true, NULL, six);
		return 40;
	}
	assert_int_equal(ip[0], 0x45);
	assert_int_equal(ip[1], 0xb8);
	assert_int_equal(get16(ip + 2), len);
	assert_int_equal(get16(ip + 6), 0x4000);
	assert_int_equal(ip[8], 64);
	assert_int_equal(ip[9], protocol);
	assert_int_equal(packet_sum(ip, 20, 0), 0xffff);
	expect_address(ip + 12, false, SNAT, NULL);
	expect_address(ip + 16, false, v4, NULL);
	return 20;
}

/* Returns the source port. */
static uint16_t expect_gue(const uint8_t *udp, size_t len, struct shape s)
{
	assert_in_range(get16(udp), 0xc000, 0xffff);
	assert_int_equal(get16(udp + 2), 6080);
	assert_int_equal(get16(udp + 4), len);
	if (s.outer_v6)
		assert_int_equal(packet_sum(udp, len, packet_sum(udp - 32, 32, len + 17)), 0xffff);
	else
		assert_int_equal(get16(udp + 6), 0);
	assert_int_equal(udp[8], 0);
	assert_int_equal(udp[9], s.inner_v6 ? 41 : 4);
	assert_int_equal(get16(udp + 10), 0);
	return get16(udp);
}

static struct packet request(struct shape s, const char *payload)
{
	return (struct packet){REQUEST, .from = s.inner_v6 ? CLIENT6 : CLIENT,
		.to = s.inner_v6 ? DSR_VIP6 : DSR_VIP, .service_type = 0xb8, .payload = payload};
}

static void publish(struct shape s)
{
	world_nodes_v6 = s.outer_v6;
	world_service.encapsulation = s.gue ? KVL_ENCAP_GUE : KVL_ENCAP_IPIP;
	world_service.gue_port = 6080;
	world_publish();
}

/* Sends it, checks all of what comes out; returns the outer source port of GUE. */
static uint16_t check(struct shape s, struct packet in)
{
	uint8_t inner[PACKET_MAX];
	const uint8_t *frame, *at;
	struct rte_mbuf *mbuf;
	size_t len, inner_len;
	uint16_t port = 0;

	world_run(0, 0, &in, 1);
	mbuf = world_sent(0, 1);
	assert_non_null(mbuf);
	frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	assert_int_equal(get16(frame + 12), s.outer_v6 ? 0x86dd : 0x0800);
	assert_memory_equal(frame, ((uint8_t[]){2, 0, 0, 0, 2}), 5);
	assert_memory_equal(frame + 6, ((uint8_t[]){2, 0, 0, 0, 0, 0xd0}), 6);
	at = frame + 14;
	len = mbuf->data_len - 14;
	at += expect_outer_ip(at, len, s, frame[5], s.gue ? 17 : s.inner_v6 ? 41 : 4);
	if (s.gue) {
		port = expect_gue(at, len - (size_t)(at - frame - 14), s);
		at += 12;
	}
	/* Inside: as it came, one hop on, without its tag and padding. */
	in.ttl = 63;
	in.vlan = 0;
	in.pad = 0;
	inner_len = packet_write(&in, inner) - 14;
	assert_int_equal(len - (size_t)(at - frame - 14), inner_len);
	assert_memory_equal(at, inner + 14, inner_len);
	rte_pktmbuf_free(mbuf);
	world_check_conservation();
	return port;
}

static void all_shapes(void **state)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct packet in = request(shapes[i], "get k\r\n");

		publish(shapes[i]);
		check(shapes[i], in);
		in.vlan = 9;
		in.pad = 5;
		in.payload = "set key 0 0 3\r\nabc\r\n";
		check(shapes[i], in);
		in.no_udp_checksum = !shapes[i].inner_v6;
		check(shapes[i], in);
	}
}

/* One flow keeps its outer port, so that it is not reordered; flows differ. */
static void flows_are_spread(void **state)
{
	const struct shape s = {false, false, true};
	unsigned int differ = 0;
	uint16_t first;
	char from[32];

	publish(s);
	first = check(s, request(s, "get a\r\n"));
	assert_int_equal(check(s, request(s, "get other\r\n")), first);
	for (unsigned int i = 0; i < 20; i++) {
		struct packet in = request(s, "get a\r\n");

		snprintf(from, sizeof(from), "10.1.0.9:%u", 6000 + i);
		in.from = from;
		differ += check(s, in) != first;
	}
	assert_in_range(differ, 19, 20);
}

static void no_room_is_a_drop(void **state)
{
	const struct shape s = {false, true, true};
	struct packet in = request(s, "get k\r\n");
	struct rte_mbuf *mbuf;

	publish(s);
	mbuf = world_mbuf(&in);
	memmove((uint8_t *)mbuf->buf_addr + 10, rte_pktmbuf_mtod(mbuf, void *), mbuf->data_len);
	mbuf->data_off = 10;
	world_run_mbuf(0, 0, mbuf);
	assert_null(world_sent(0, 1));
	assert_int_equal(world_workers[0]->counters.drops[KVL_DROP_NO_ROOM], 1);
	world_check_conservation();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(all_shapes, world_reset),
		cmocka_unit_test_setup(flows_are_spread, world_reset),
		cmocka_unit_test_setup(no_room_is_a_drop, world_reset),
	};

	return cmocka_run_group_tests(tests, world_begin, world_end);
}

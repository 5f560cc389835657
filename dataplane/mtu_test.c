/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "dataplane/test_world.h"

/* Packets that a link does not carry. */

#define REFUSED       "SERVER_ERROR request too large for the way to its node\r\n"
#define COUNTER(name) (world_workers[0]->counters.name)

static int mtu_reset(void **state)
{
	for (unsigned int w = 0; w < WORLD_WORKERS; w++)
		for (unsigned int lane = 0; lane < 2; lane++)
			world_workers[w]->lanes[lane].mtu = WORLD_MTU;
	return world_reset(state);
}

/* As the control core would say it of a smaller link. */
static void nodes_take(uint16_t payload)
{
	struct kvl_root_node *nodes = (void *)(uintptr_t)kvl_root_nodes(world_root());

	for (unsigned int i = 0; i < WORLD_NODES; i++)
		nodes[i].payload_max = payload;
}

static void requests_are_refused_in_words(void **state)
{
	const struct packet fits = {REQUEST, .to = NAT_VIP, .payload = "get 45678901\r\n"};
	const struct packet longer = {REQUEST, .to = NAT_VIP, .payload = "get 456789012\r\n"};
	const struct packet dsr = {REQUEST, .to = DSR_VIP, .payload = "get 456789012\r\n"};
	const struct packet quiet = {REQUEST, .to = NAT_VIP, .payload = "delete a noreply\r\n"};
	const struct packet refused = {ANSWER, .dont_fragment = true, .payload = REFUSED};
	struct packet refused_dsr = refused;

	refused_dsr.from = DSR_VIP;
	nodes_take(KVL_FRAME_LEN + 14);
	world_run(0, 0, &fits, 1);
	world_run(0, 0, &longer, 1);
	world_run(0, 0, &dsr, 1);
	world_run(0, 0, &quiet, 1);
	assert_int_equal(COUNTER(requests), 1);
	assert_int_equal(COUNTER(answered)[KVL_REQUEST_PATH_MTU], 2);
	assert_int_equal(COUNTER(drops)[KVL_DROP_MTU], 1);
	assert_int_equal(world_workers[0]->pending.free_count,
		world_workers[0]->pending.size - 1); /* no slot for what was refused */
	world_expect(world_sent(0, 0), &refused);
	world_expect(world_sent(0, 0), &refused_dsr);
	world_check_conservation();
}

/* The outer headers take their part of what the link carries. */
static void tunnels_are_reckoned_with(void **state)
{
	static const struct {
		enum kvl_encapsulation kind;
		unsigned int bytes;
	} tunnels[] = {{KVL_ENCAP_IPIP, 20}, {KVL_ENCAP_GUE, 20 + 8 + 4}};
	const struct packet get = {REQUEST, .to = DSR_VIP, .payload = "get a\r\n"};
	const uint16_t len = KVL_FRAME_LEN + 7;

	for (unsigned int i = 0; i < RTE_DIM(tunnels); i++) {
		struct rte_mbuf *sent;

		mtu_reset(state);
		world_service.encapsulation = tunnels[i].kind;
		world_publish();
		nodes_take(len + tunnels[i].bytes);
		world_run(0, 0, &get, 1);
		sent = world_sent(0, 1);
		assert_non_null(sent);
		assert_int_equal(
			sent->pkt_len, KVL_HEADERS_V4 + (unsigned int)len + tunnels[i].bytes);
		rte_pktmbuf_free(sent);
		nodes_take(len + tunnels[i].bytes - 1);
		world_run(0, 0, &get, 1);
		assert_int_equal(COUNTER(answered)[KVL_REQUEST_PATH_MTU], 1);
		world_check_conservation();
	}
}

static void a_part_is_refused_alone(void **state)
{
	const struct packet both = {REQUEST, .to = NAT_VIP,
		.payload = "set b 0 0 4\r\nbbbb\r\nset c 0 0 12\r\nccccccccccccc\r\n"
			   "set d 0 0 12\r\ndddddddddddd\r\n"};

	nodes_take(KVL_FRAME_LEN + 20);
	world_run(0, 0, &both, 1);
	assert_int_equal(COUNTER(parts), 1);
	world_wait(0, WORLD_TIMEOUT + 2);
	world_check_conservation();
}

/* A slot is the request's until its reply has come; the client will ask again. */
static void replies_too_long_for_the_client_are_dropped(void **state)
{
	const struct packet get = {REQUEST, .to = NAT_VIP, .payload = "get a\r\n"};
	struct world_asked asked;
	struct packet reply;
	char value[256];

	world_workers[0]->lanes[0].mtu = 100;
	world_run(0, 0, &get, 1);
	world_asked(0, &asked);
	snprintf(value, sizeof(value), "VALUE a 0 100\r\n%0100d\r\nEND\r\n", 1);
	reply = world_reply(&asked, value);
	world_run(0, 1, &reply, 1);
	assert_int_equal(COUNTER(drops)[KVL_DROP_MTU], 1);
	assert_null(world_sent(0, 0));
	world_check_conservation();
}

/* af_packet gives what the kernel put together for it, though no link brings that. */
static void what_was_fragmented_is_the_kernels(void **state)
{
	const struct packet longest = {REQUEST, .to = NAT_VIP, .payload = "get 12345678\r\n"};
	const struct packet longer = {REQUEST, .to = NAT_VIP, .payload = "get 123456789\r\n"};

	world_workers[0]->lanes[0].mtu = 20 + 8 + KVL_FRAME_LEN + 14;
	world_run(0, 0, &longest, 1);
	assert_int_equal(COUNTER(requests), 1);
	world_run(0, 0, &longer, 1);
	assert_int_equal(COUNTER(drops)[KVL_DROP_FRAGMENT], 1);
	world_check_conservation();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(requests_are_refused_in_words, mtu_reset),
		cmocka_unit_test_setup(tunnels_are_reckoned_with, mtu_reset),
		cmocka_unit_test_setup(a_part_is_refused_alone, mtu_reset),
		cmocka_unit_test_setup(replies_too_long_for_the_client_are_dropped, mtu_reset),
		cmocka_unit_test_setup(what_was_fragmented_is_the_kernels, mtu_reset),
	};

	return cmocka_run_group_tests_name("dataplane/mtu", tests, world_begin, world_end);
}

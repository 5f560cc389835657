/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "dataplane/exception.h"
#include "dataplane/test_world.h"

#define GET REQUEST, .payload = "get a\r\n"

/* Lane 0 of worker 0 is a port that the kernel does not see; lane 1 is not. */
static struct kvl_exception path;

static int path_reset(void **state)
{
	void *mbuf;

	world_reset(state);
	while (rte_ring_dequeue(path.out, &mbuf) == 0 || rte_ring_dequeue(path.back, &mbuf) == 0
		|| rte_ring_dequeue(path.in, &mbuf) == 0)
		rte_pktmbuf_free(mbuf);
	path.lent = 0;
	world_workers[0]->lanes[0].exception = &path;
	return 0;
}

static int path_begin(void **state)
{
	const unsigned int flags = RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ;

	world_begin(state);
	path.out = rte_ring_create("out", KVL_EXCEPTION_LENT, 0, flags);
	path.back = rte_ring_create("back", KVL_EXCEPTION_LENT, 0, flags);
	path.in = rte_ring_create("in", KVL_EXCEPTION_IN, 0, flags);
	assert_non_null(path.out);
	assert_non_null(path.back);
	assert_non_null(path.in);
	return 0;
}

static int path_end(void **state)
{
	rte_ring_free(path.out);
	rte_ring_free(path.back);
	rte_ring_free(path.in);
	return world_end(state);
}

static struct rte_mbuf *taken(void)
{
	void *mbuf;

	return rte_ring_dequeue(path.out, &mbuf) == 0 ? mbuf : NULL;
}

/* The law with what the kernel got and gave, of worker 0 alone. */
static void law_check(uint64_t received)
{
	const struct kvl_worker *w = world_workers[0];
	uint64_t drops = 0;

	for (unsigned int i = 0; i < KVL_DROP_COUNT; i++)
		drops += w->counters.drops[i];
	assert_int_equal(received + w->counters.exception_in + w->counters.created,
		w->counters.exception_out + w->counters.absorbed + drops + w->tx[0].count
			+ w->tx[1].count);
}

static const struct {
	const char *what;
	struct packet packet;
} kernels[] = {
	{"ARP", {GET, .ether_type = 0x0806}},
	{"ARP to all", {GET, .to_mac = "ff:ff:ff:ff:ff:ff", .ether_type = 0x0806}},
	{"IPv6", {GET, .ether_type = 0x86dd}},
	{"TCP to the service's address and port", {GET, .protocol = 6}},
	{"ICMP", {GET, .protocol = 1}},
	{"another port", {GET, .to = "10.1.0.100:11212"}},
	{"another address, to all", {GET, .to_mac = "ff:ff:ff:ff:ff:ff", .to = "10.1.0.1:67"}},
	{"a wrong checksum of what is not ours", {GET, .to = "10.1.0.1:53", .udp_checksum_add = 1}},
	{"a reply by the clients' port", {GET, .to = SNAT ":20000"}},
	{"a first fragment of a request", {GET, .fragment = 0x2000}},
	{"a last fragment", {GET, .fragment = 0x0010}},
	{"options", {GET, .version_ihl = 0x46}},
	{"IP version 6 in IPv4", {GET, .version_ihl = 0x65}},
	{"shorter than any header", {GET, .cut = 50}},
	{"a tag", {GET, .vlan = 0x6005, .to = "10.1.0.1:53"}},
	{"a tag and a fragment", {GET, .vlan = 5, .fragment = 0x2000}},
	{"a tag and no IPv4", {GET, .vlan = 5, .ether_type = 0x0806}},
	{"padding", {GET, .to = "10.1.0.1:53", .pad = 11}},
};

static void kernels_share_is_passed_untouched(void **state)
{
	for (unsigned int i = 0; i < RTE_DIM(kernels); i++) {
		struct rte_mbuf *mbuf;

		path_reset(state);
		world_run(0, 0, &kernels[i].packet, 1);
		mbuf = taken();
		if (mbuf == NULL)
			fail_msg("%s: not passed", kernels[i].what);
		world_expect(mbuf, &kernels[i].packet);
		assert_int_equal(world_workers[0]->counters.exception_out, 1);
		law_check(1);
	}
}

static const struct {
	const char *what;
	struct packet packet;
	enum kvl_drop drop;
} ours[] = {
	{"a request cut short", {GET, .cut = 1}, KVL_DROP_TRUNCATED},
	{"a request with a wrong checksum", {GET, .udp_checksum_add = 1}, KVL_DROP_CHECKSUM},
	{"a reflected request", {GET, .from = "10.2.0.3:11211"}, KVL_DROP_REFLECTION},
	{"TTL of 1", {GET, .ttl = 1}, KVL_DROP_TTL},
	/* The kernel's socket would serve it, and so would the next router's. */
	{"a request to all", {GET, .to_mac = "ff:ff:ff:ff:ff:ff"}, KVL_DROP_NOT_OURS},
};

static void what_is_ours_and_bad_is_no_business_of_the_kernels(void **state)
{
	for (unsigned int i = 0; i < RTE_DIM(ours); i++) {
		path_reset(state);
		world_run(0, 0, &ours[i].packet, 1);
		assert_null(taken());
		if (world_workers[0]->counters.drops[ours[i].drop] != 1)
			fail_msg(
				"%s: not counted as %s", ours[i].what, kvl_drop_name(ours[i].drop));
		law_check(1);
	}
}

static void a_port_without_a_tap_drops_as_ever(void **state)
{
	const struct packet arp = {GET, .to_mac = LANE1_MAC, .ether_type = 0x0806};

	world_run(0, 1, &arp, 1);
	assert_null(taken());
	assert_int_equal(world_workers[0]->counters.drops[KVL_DROP_NOT_OURS], 1);
}

static void requests_pass_the_kernel_by(void **state)
{
	const struct packet get = {GET};

	world_run(0, 0, &get, 1);
	assert_null(taken());
	assert_int_equal(world_workers[0]->counters.requests, 1);
	law_check(1);
}

static void chained_mbuf_is_passed_whole(void **state)
{
	const struct packet p = {GET};
	struct rte_mbuf *mbuf = world_mbuf(&p);

	assert_int_equal(rte_pktmbuf_chain(mbuf, world_mbuf(&p)), 0);
	kvl_pipeline(world_workers[0], world_root(), &mbuf, 1, 0);
	assert_int_equal(path.lent, 2);
	assert_ptr_equal(taken(), mbuf);
	assert_int_equal(mbuf->nb_segs, 2);
	rte_ring_enqueue(path.back, mbuf);
	assert_int_equal(kvl_exception_run(world_workers[0]), 1);
	assert_int_equal(path.lent, 0);
}

/* What the thread holds counts as well: it is the worker's mbufs that run out. */
static void what_is_lent_is_bounded_until_it_comes_back(void **state)
{
	const struct packet arp = {GET, .ether_type = 0x0806};
	struct rte_mbuf *mbuf;

	for (unsigned int i = 0; i < KVL_EXCEPTION_LENT; i++) {
		world_run(0, 0, &arp, 1);
		if (i % 2 == 0)
			rte_ring_enqueue(path.back, taken());
	}
	assert_int_equal(world_workers[0]->counters.exception_out, KVL_EXCEPTION_LENT);
	world_run(0, 0, &arp, 1);
	assert_int_equal(world_workers[0]->counters.drops[KVL_DROP_EXCEPTION_FULL], 1);
	law_check(KVL_EXCEPTION_LENT + 1);

	assert_int_equal(kvl_exception_run(world_workers[0]), KVL_BURST);
	world_run(0, 0, &arp, 1);
	assert_int_equal(world_workers[0]->counters.exception_out, KVL_EXCEPTION_LENT + 1);
	while ((mbuf = taken()) != NULL)
		rte_pktmbuf_free(mbuf);
}

static void the_kernels_frames_leave_by_their_port(void **state)
{
	const struct packet frames[] = {
		{GET, .vlan = 5, .to = "10.9.9.9:9"},
		{GET, .ether_type = 0x0806},
	};

	for (unsigned int i = 0; i < RTE_DIM(frames); i++)
		rte_ring_enqueue(path.in, world_mbuf(&frames[i]));
	assert_int_equal(kvl_exception_run(world_workers[0]), RTE_DIM(frames));
	assert_int_equal(world_workers[0]->counters.exception_in, RTE_DIM(frames));
	law_check(0);
	for (unsigned int i = 0; i < RTE_DIM(frames); i++)
		world_expect(world_sent(0, 0), &frames[i]);
	assert_null(world_sent(0, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(kernels_share_is_passed_untouched, path_reset),
		cmocka_unit_test_setup(
			what_is_ours_and_bad_is_no_business_of_the_kernels, path_reset),
		cmocka_unit_test_setup(a_port_without_a_tap_drops_as_ever, path_reset),
		cmocka_unit_test_setup(requests_pass_the_kernel_by, path_reset),
		cmocka_unit_test_setup(chained_mbuf_is_passed_whole, path_reset),
		cmocka_unit_test_setup(what_is_lent_is_bounded_until_it_comes_back, path_reset),
		cmocka_unit_test_setup(the_kernels_frames_leave_by_their_port, path_reset),
	};

	return cmocka_run_group_tests_name("dataplane/exception", tests, path_begin, path_end);
}

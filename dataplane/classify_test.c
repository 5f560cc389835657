/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "dataplane/test_world.h"

#define GET REQUEST, .payload = "get a\r\n"

/* One fault each: what it is counted as. */
static const struct {
	const char *what;
	struct packet packet;
	enum kvl_drop drop;
} faults[] = {
	{"ARP", {GET, .ether_type = 0x0806}, KVL_DROP_NOT_OURS},
	{"IPv6", {GET, .ether_type = 0x86dd}, KVL_DROP_NOT_OURS},
	{"TCP", {GET, .protocol = 6}, KVL_DROP_NOT_OURS},
	{"ICMP", {GET, .protocol = 1}, KVL_DROP_NOT_OURS},
	{"cut within the IP header", {GET, .cut = 40}, KVL_DROP_NOT_OURS},
	{"one byte short of a payload", {GET, .raw = true, .payload = "a", .cut = 2},
		KVL_DROP_NOT_OURS},
	{"tagged and too short for it", {GET, .raw = true, .payload = "a", .vlan = 5, .cut = 2},
		KVL_DROP_NOT_OURS},
	{"another port", {GET, .to = "10.1.0.100:11212"}, KVL_DROP_NOT_OURS},
	{"another address", {GET, .to = "10.1.0.99:11211"}, KVL_DROP_NOT_OURS},
	{"a SNAT port on an address that is not ours", {GET, .to = "10.1.0.100:20000"},
		KVL_DROP_NOT_OURS},
	{"below the SNAT range", {GET, .to = SNAT ":16383"}, KVL_DROP_NOT_OURS},
	{"above the SNAT range", {GET, .to = SNAT ":32768"}, KVL_DROP_NOT_OURS},
	{"IP version 6 in IPv4", {GET, .version_ihl = 0x65}, KVL_DROP_IP_HEADER},
	{"header of 16 bytes", {GET, .version_ihl = 0x44}, KVL_DROP_IP_HEADER},
	{"total length of the header alone", {GET, .ip_length_add = -20}, KVL_DROP_IP_HEADER},
	{"options", {GET, .version_ihl = 0x46}, KVL_DROP_IP_OPTIONS},
	{"first fragment", {GET, .fragment = 0x2000}, KVL_DROP_FRAGMENT},
	{"last fragment", {GET, .fragment = 0x0010}, KVL_DROP_FRAGMENT},
	{"last byte missing", {GET, .cut = 1}, KVL_DROP_TRUNCATED},
	{"total length beyond the frame", {GET, .ip_length_add = 1}, KVL_DROP_TRUNCATED},
	{"UDP length beyond IP's", {GET, .udp_length_add = 1}, KVL_DROP_UDP_LENGTH},
	{"UDP length of 7", {GET, .udp_length_add = -16}, KVL_DROP_UDP_LENGTH},
	{"TTL of 1", {GET, .ttl = 1}, KVL_DROP_TTL},
	{"source port 0", {GET, .from = "10.1.0.9:0"}, KVL_DROP_PORT_ZERO},
	{"frame alone", {GET, .raw = true, .payload = "\0\7\0\0\0\1\0\0", .payload_len = 8},
		KVL_DROP_FRAME_SHORT},
	{"total 0", {GET, .total = -1}, KVL_DROP_FRAME_TOTAL},
	{"total 2", {GET, .total = 2}, KVL_DROP_FRAME_TOTAL},
	/* Each of these a server would answer, and that answer be a request again. */
	{"from a node", {GET, .from = "10.2.0.3:11211"}, KVL_DROP_REFLECTION},
	{"from a service", {GET, .from = DSR_VIP}, KVL_DROP_REFLECTION},
	{"from our own SNAT address", {GET, .from = SNAT ":20000"}, KVL_DROP_REFLECTION},
	{"from another server of the kind", {GET, .from = "10.9.0.1:11211"}, KVL_DROP_REFLECTION},
	/* The answer would go to all on the segment, or to nobody. */
	{"from all", {GET, .from = "255.255.255.255:5000"}, KVL_DROP_SOURCE},
	{"from a group", {GET, .from = "224.0.0.1:5000"}, KVL_DROP_SOURCE},
	{"from this network", {GET, .from = "0.0.0.0:5000"}, KVL_DROP_SOURCE},
	{"from loopback", {GET, .from = "127.0.0.1:5000"}, KVL_DROP_SOURCE},
	{"from all to dsr", {GET, .from = "255.255.255.255:5000", .to = DSR_VIP}, KVL_DROP_SOURCE},
	{"from everybody's MAC", {GET, .from_mac = "ff:ff:ff:ff:ff:ff"}, KVL_DROP_SOURCE},
	{"from a group's MAC", {GET, .from_mac = "01:00:5e:00:00:01"}, KVL_DROP_SOURCE},
	{"from a group, IPv6", {GET, .from = "[ff02::1]:5000", .to = NAT_VIP6}, KVL_DROP_SOURCE},
	{"from nobody, IPv6", {GET, .from = "[::]:5000", .to = NAT_VIP6}, KVL_DROP_SOURCE},
	{"from loopback, IPv6", {GET, .from = "[::1]:5000", .to = NAT_VIP6}, KVL_DROP_SOURCE},
	{"from everybody's MAC, IPv6",
		{GET, .from_mac = "33:33:00:00:00:01", .from = CLIENT6, .to = NAT_VIP6},
		KVL_DROP_SOURCE},
	{"wrong UDP checksum", {GET, .udp_checksum_add = 1}, KVL_DROP_CHECKSUM},
	{"a reply by the clients' port", {GET, .to = SNAT ":20000"}, KVL_DROP_NOT_OURS},
	{"to another router", {GET, .to_mac = "02:00:00:00:00:c1"}, KVL_DROP_FOREIGN_MAC},
	{"to another vendor's MAC", {GET, .to_mac = "12:00:00:00:00:c0"}, KVL_DROP_FOREIGN_MAC},
	{"to the MAC of another port", {GET, .to_mac = LANE1_MAC}, KVL_DROP_FOREIGN_MAC},
	{"to a group", {GET, .to_mac = "01:00:5e:00:00:01"}, KVL_DROP_NOT_OURS},
};

static void fault_is_named(void **state)
{
	for (unsigned int i = 0; i < RTE_DIM(faults); i++) {
		world_reset(state);
		world_run(0, 0, &faults[i].packet, 1);
		if (world_workers[0]->counters.drops[faults[i].drop] != 1)
			fail_msg("%s: not counted as %s", faults[i].what,
				kvl_drop_name(faults[i].drop));
		assert_null(world_sent(0, 0));
		assert_null(world_sent(0, 1));
		world_check_conservation();
	}
}

static void nic_checksum_fault_is_named(void **state)
{
	const struct packet p = {GET};
	struct rte_mbuf *mbuf = world_mbuf(&p);
	struct kvl_burst b = {.count = 1};

	kvl_packet_begin(&b.packets[0], mbuf, 0);
	mbuf->ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_BAD;
	kvl_classify(world_workers[0], world_root(), &b);
	assert_int_equal(b.requests.count, 0);
	assert_int_equal(world_workers[0]->counters.drops[KVL_DROP_CHECKSUM], 1);
}

static void chained_mbuf_is_refused(void **state)
{
	const struct packet p = {GET};
	struct rte_mbuf *mbuf = world_mbuf(&p);
	struct kvl_burst b = {.count = 1};

	kvl_packet_begin(&b.packets[0], mbuf, 0);
	assert_int_equal(rte_pktmbuf_chain(mbuf, world_mbuf(&p)), 0);
	kvl_classify(world_workers[0], world_root(), &b);
	assert_int_equal(b.requests.count, 0);
	assert_int_equal(world_workers[0]->counters.drops[KVL_DROP_SEGMENTS], 1);
}

/* Short frames are padded on the wire; the padding is no part of the request. */
static void padding_is_cut(void **state)
{
	const struct packet in = {GET, .to = DSR_VIP, .pad = 11};
	struct rte_mbuf *mbuf;

	world_run(0, 0, &in, 1);
	mbuf = world_sent(0, 1);
	assert_non_null(mbuf);
	assert_int_equal(rte_pktmbuf_pkt_len(mbuf), 14 + 20 + 8 + 8 + 7);
	rte_pktmbuf_free(mbuf);
	world_check_conservation();
}

/* A burst of everything at once: each packet ends in exactly one place. */
static void mixed_burst_is_sorted(void **state)
{
	struct packet burst[KVL_BURST];
	unsigned int count = 0;

	for (unsigned int i = 0; i < RTE_DIM(faults) && count < KVL_BURST - 2; i++)
		burst[count++] = faults[i].packet;
	burst[count++] = (struct packet){GET};
	burst[count++] = (struct packet){GET, .payload = "nonsense\r\n"};
	world_run(0, 0, burst, count);
	rte_pktmbuf_free(world_sent(0, 0)); /* ERROR */
	rte_pktmbuf_free(world_sent(0, 1)); /* the get */
	assert_null(world_sent(0, 0));
	assert_null(world_sent(0, 1));
	world_check_conservation();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(fault_is_named, world_reset),
		cmocka_unit_test_setup(nic_checksum_fault_is_named, world_reset),
		cmocka_unit_test_setup(chained_mbuf_is_refused, world_reset),
		cmocka_unit_test_setup(padding_is_cut, world_reset),
		cmocka_unit_test_setup(mixed_burst_is_sorted, world_reset),
	};

	return cmocka_run_group_tests_name("dataplane/classify", tests, world_begin, world_end);
}

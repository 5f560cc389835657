/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "dataplane/test_world.h"

/* A node's reply on its way to the client whose it is, and to nobody else. */

#define DROPS(w, name) (world_workers[w]->counters.drops[name])

/* Sends a request from worker w, and notes where it went and under what identity. */
static void ask_as(unsigned int w, const struct packet *in, struct world_asked *a)
{
	world_run(w, 0, in, 1);
	world_asked(w, a);
}

static const struct packet get = {REQUEST, .payload = "get k\r\n"};

static void ask(struct world_asked *a)
{
	ask_as(0, &get, a);
}

/* The same at the client. */
static struct packet received(const struct packet *r)
{
	struct packet p = *r;

	p.from_mac = LANE0_MAC;
	p.to_mac = CLIENT_MAC;
	p.from = NAT_VIP;
	p.to = CLIENT;
	p.id = get.id;
	p.ttl = (p.ttl != 0 ? p.ttl : 64) - 1;
	return p;
}

static void expect_passed(unsigned int w, const struct packet *r)
{
	struct packet p = received(r);

	world_run(w, 1, r, 1);
	world_expect(world_sent(w, 0), &p);
	world_check_conservation();
}

/* The request's time is up, and its client is told. */
static void expect_given_up(const struct packet *request, const char *words, size_t len)
{
	struct packet out = received(request);

	world_wait(0, WORLD_TIMEOUT + 2);
	out.vlan = request->vlan;
	out.id = request->id;
	out.ttl = 0;
	out.dont_fragment = true;
	out.payload = words;
	out.payload_len = len;
	world_expect(world_sent(0, 0), &out);
	world_check_conservation();
}

static void expect_dropped(const struct packet *r, enum kvl_drop why)
{
	uint64_t before = DROPS(0, why);

	world_run(0, 1, r, 1);
	assert_null(world_sent(0, 0));
	assert_int_equal(DROPS(0, why), before + 1);
	world_check_conservation();
}

static const struct kvl_node_counters *node_counters(const struct world_asked *a)
{
	return &world_workers[0]->nodes[a->node - 1];
}

static uint32_t in_flight(const struct world_asked *a)
{
	return kvl_pulse_in_flight(&world_workers[0]->pulses[a->node - 1]);
}

static void reply_is_restored_whole(void **state)
{
	struct world_asked a;
	struct packet r;

	ask(&a);
	r = world_reply(&a, "VALUE k 0 1\r\nx\r\nEND\r\n");
	expect_passed(0, &r);
	assert_int_equal(node_counters(&a)->hits, 1);
	assert_int_equal(node_counters(&a)->replies, 1);
	assert_int_equal(in_flight(&a), 0);

	ask(&a);
	r = world_reply(&a, "END\r\n");
	r.no_udp_checksum = true;
	r.ttl = 2;
	expect_passed(0, &r);
	assert_int_equal(node_counters(&a)->misses, 1);
}

static void reply_goes_back_with_its_tag(void **state)
{
	struct packet in = get, out, r;
	struct world_asked a;

	in.vlan = 0x0064;
	ask_as(0, &in, &a);
	r = world_reply(&a, "END\r\n");
	out = received(&r);
	out.vlan = 0x0064;
	world_run(0, 1, &r, 1);
	world_expect(world_sent(0, 0), &out);
}

static void second_reply_is_late(void **state)
{
	struct world_asked a;
	struct packet r;

	ask(&a);
	r = world_reply(&a, "END\r\n");
	expect_passed(0, &r);
	expect_dropped(&r, KVL_DROP_REPLY_LATE);
	assert_int_equal(node_counters(&a)->late, 1);
	assert_int_equal(node_counters(&a)->replies, 1);
}

/* Node stopped, slot timed out and reused by another client's request to the same node: the reply
 * that comes at last must not be that client's. */
static void late_reply_meets_no_other_request(void **state)
{
	struct world_asked first, again;
	struct packet old;

	ask(&first);
	expect_given_up(&get, "SERVER_ERROR node did not answer\r\n", 0);
	assert_int_equal(node_counters(&first)->timeouts, 1);
	assert_int_equal(in_flight(&first), 0);
	old = world_reply(&first, "END\r\n");
	expect_dropped(&old, KVL_DROP_REPLY_LATE);

	/* Go through the whole free list, so that the slot itself comes up again. */
	for (unsigned int i = 0; i < 1024; i++) {
		ask(&again);
		if (again.wire.id % 1024 == first.wire.id % 1024)
			break;
	}
	assert_int_equal(again.wire.id % 1024, first.wire.id % 1024);
	assert_int_equal(again.node, first.node);
	assert_true(again.wire.id != first.wire.id || again.wire.port != first.wire.port);
	expect_dropped(&old, KVL_DROP_REPLY_LATE);
	old = world_reply(&again, "END\r\n");
	expect_passed(0, &old);
}

static void answered_slot_is_reused_first(void **state)
{
	struct world_asked first, second;
	struct packet r;

	ask(&first);
	r = world_reply(&first, "END\r\n");
	expect_passed(0, &r);
	ask(&second);
	assert_int_equal(first.wire.id, second.wire.id);
	assert_int_equal(first.wire.port, second.wire.port);
}

static void stranger_is_not_believed(void **state)
{
	struct world_asked a;
	struct packet r;

	ask(&a);
	r = world_reply(&a, "VALUE k 0 1\r\nx\r\nEND\r\n");
	r.from = "10.2.0.77:11211";
	expect_dropped(&r, KVL_DROP_REPLY_SOURCE);
	snprintf(a.node_text, sizeof(a.node_text), "10.2.0.%u:11212", a.node);
	r.from = a.node_text;
	expect_dropped(&r, KVL_DROP_REPLY_SOURCE);
	snprintf(a.node_text, sizeof(a.node_text), "10.2.0.%u:11211", a.node);
	expect_passed(0, &r);
}

static void wrong_identity_is_late(void **state)
{
	struct world_asked a;
	struct packet r;

	ask(&a);
	r = world_reply(&a, "END\r\n");
	r.id = a.wire.id ^ 1; /* another slot, not in use */
	expect_dropped(&r, KVL_DROP_REPLY_LATE);
	r.id = a.wire.id ^ 0x400; /* another generation */
	expect_dropped(&r, KVL_DROP_REPLY_LATE);
	r.id = a.wire.id;
	expect_passed(0, &r);
}

static void no_frame_is_no_reply(void **state)
{
	struct world_asked a;
	struct packet r;

	ask(&a);
	r = world_reply(&a, "1234567");
	r.raw = true;
	expect_dropped(&r, KVL_DROP_REPLY_FRAME);
	r = world_reply(&a, "x");
	r.sequence = 2;
	r.total = 2;
	expect_dropped(&r, KVL_DROP_REPLY_FRAME);
}

/* A 5000-byte value: four datagrams in any order; only the last one frees the slot. */
static void reply_of_several_datagrams(void **state)
{
	static const uint16_t order[] = {2, 0, 3, 1};
	struct world_asked a;
	struct packet r;

	ask(&a);
	for (unsigned int i = 0; i < 4; i++) {
		r = world_reply(&a, order[i] == 0 ? "VALUE k 0 5000\r\n...." : "....");
		r.total = 4;
		r.sequence = order[i];
		expect_passed(0, &r);
		assert_int_equal(node_counters(&a)->replies, i == 3);
		assert_int_equal(in_flight(&a), i != 3);
		if (i == 1) {
			expect_dropped(&r, KVL_DROP_REPLY_DUPLICATE);
			r.total = 5;
			r.sequence = 4;
			expect_dropped(&r, KVL_DROP_REPLY_TOTAL);
		}
	}
	assert_int_equal(node_counters(&a)->hits, 1);
	expect_dropped(&r, KVL_DROP_REPLY_LATE);
}

/* All four and a duplicate in one burst: the slot is freed within it. */
static void reply_completed_within_a_burst(void **state)
{
	struct packet burst[5];
	struct world_asked a;

	ask(&a);
	for (unsigned int i = 0; i < 5; i++) {
		burst[i] = world_reply(&a, i == 0 ? "VALUE k 0 5000\r\n" : "....");
		burst[i].total = 4;
		burst[i].sequence = i % 4;
	}
	world_run(0, 1, burst, 5);
	for (unsigned int i = 0; i < 4; i++) {
		struct packet p = received(&burst[i]);

		world_expect(world_sent(0, 0), &p);
	}
	assert_null(world_sent(0, 0));
	assert_int_equal(DROPS(0, KVL_DROP_REPLY_LATE), 1);
	world_check_conservation();
}

static void incomplete_reply_is_a_timeout(void **state)
{
	struct world_asked a;
	struct packet r;

	ask(&a);
	r = world_reply(&a, "VALUE k 0 5000\r\n");
	r.total = 4;
	expect_passed(0, &r);
	world_wait(0, WORLD_TIMEOUT + 2);
	assert_int_equal(node_counters(&a)->timeouts, 1);
	r.sequence = 1;
	expect_dropped(&r, KVL_DROP_REPLY_LATE);
}

/* Its opcode and opaque come back, or the client could not tell which request failed. */
static void binary_error_echoes(void **state)
{
	static const char request[25] = "\x80\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01"
					"\xde\xad\xbe\xef\x00\x00\x00\x00\x00\x00\x00\x00k";
	static const char text[] = "SERVER_ERROR node did not answer";
	char answer[24 + 64] = "\x81\x00\x00\x00\x00\x00\x00\x86\x00\x00\x00\x00"
			       "\xde\xad\xbe\xef";
	struct packet in = get;
	size_t len = strlen(text);
	struct world_asked a;

	memcpy(answer + 24, text, len);
	answer[11] = (char)len;
	in.payload = request;
	in.payload_len = sizeof(request);
	in.vlan = 7;
	ask_as(0, &in, &a);
	expect_given_up(&in, answer, 24 + len);
}

/* A client that has a part of the reply is not sent an error that it would take for the rest. */
static void nothing_follows_a_partial_reply(void **state)
{
	struct world_asked a;
	struct packet r;

	ask(&a);
	r = world_reply(&a, "VALUE k 0 5000\r\n");
	r.total = 4;
	expect_passed(0, &r);
	world_wait(0, WORLD_TIMEOUT + 2);
	assert_null(world_sent(0, 0));
	world_check_conservation();
}

static void giant_totals_are_refused(void **state)
{
	struct world_asked a;
	struct packet r;

	ask(&a);
	r = world_reply(&a, "x");
	r.total = 65535;
	expect_dropped(&r, KVL_DROP_REPLY_TOTAL);
	r = world_reply(&a, "END\r\n");
	expect_passed(0, &r);
}

/* memcached's header-only datagram, total 0: a whole reply. */
static void header_only_reply_passes(void **state)
{
	struct world_asked a;
	struct packet r;

	ask(&a);
	r = (struct packet){.from_mac = a.mac,
		.to_mac = LANE1_MAC,
		.from = a.node_text,
		.to = a.snat_text,
		.id = a.wire.id,
		.total = -1,
		.payload = ""};
	expect_passed(0, &r);
	assert_int_equal(node_counters(&a)->misses, 1);
	assert_int_equal(in_flight(&a), 0);
}

static void quiet_request_is_never_a_timeout(void **state)
{
	struct packet in = get, r;
	struct world_asked a;

	in.payload = "set k 0 0 1 noreply\r\nx\r\n";
	ask_as(0, &in, &a);
	assert_int_equal(in_flight(&a), 0);
	world_wait(0, 300);
	assert_int_equal(world_workers[0]->counters.quiet_expired, 1);
	assert_int_equal(world_workers[0]->counters.timeouts, 0);
	assert_int_equal(node_counters(&a)->timeouts, 0);

	/* An error still comes back, and is no latency sample. */
	ask_as(0, &in, &a);
	r = world_reply(&a, "SERVER_ERROR out of memory storing object\r\n");
	expect_passed(0, &r);
	assert_int_equal(node_counters(&a)->rejects, 1);
	assert_int_equal(kvl_hist_total(&world_workers[0]->latency[a.node - 1]), 0);
}

static void latency_is_what_went_by(void **state)
{
	struct kvl_histogram *h;
	struct world_asked a;
	struct packet r;

	ask(&a);
	world_wait(0, 20);
	r = world_reply(&a, "END\r\n");
	expect_passed(0, &r);
	h = &world_workers[0]->latency[a.node - 1];
	assert_int_equal(kvl_hist_total(h), 1);
	assert_in_range((uint64_t)kvl_hist_quantile(h, 0.5), 19300, 20700);
}

static void timeouts_in_a_row_end_with_a_reply(void **state)
{
	struct world_asked a;
	struct packet r;

	for (unsigned int i = 1; i <= 3; i++) {
		ask(&a);
		expect_given_up(&get, "SERVER_ERROR node did not answer\r\n", 0);
		assert_int_equal(node_counters(&a)->timeouts_in_a_row, i);
	}
	ask(&a);
	r = world_reply(&a, "END\r\n");
	expect_passed(0, &r);
	assert_int_equal(node_counters(&a)->timeouts_in_a_row, 0);
}

/* The reply arrives at the wrong worker: it goes by mailbox and comes out whole. */
static void reply_at_another_worker_is_handed_over(void **state)
{
	struct rte_mbuf *mbuf;
	struct packet r, out;
	struct world_asked a;
	void *handed = NULL;

	ask_as(1, &get, &a);
	r = world_reply(&a, "END\r\n");
	world_run(0, 1, &r, 1);
	assert_null(world_sent(0, 0));
	assert_int_equal(world_workers[0]->counters.inbox_out, 1);
	world_check_conservation();

	assert_int_equal(rte_ring_sc_dequeue(world_workers[1]->inbox, &handed), 0);
	mbuf = handed;
	kvl_pipeline(world_workers[1], world_root(), &mbuf, 1, KVL_LANE_ANY);
	out = received(&r);
	world_expect(world_sent(1, 0), &out);
	world_check_conservation();
}

static void full_mailbox_drops_by_name(void **state)
{
	struct packet r;
	struct world_asked a;
	void *mbuf;

	ask_as(1, &get, &a);
	r = world_reply(&a, "END\r\n");
	while (rte_ring_mp_enqueue(world_workers[1]->inbox, NULL) == 0)
		;
	world_run(0, 1, &r, 1);
	assert_int_equal(DROPS(0, KVL_DROP_MAILBOX_FULL), 1);
	while (rte_ring_sc_dequeue(world_workers[1]->inbox, &mbuf) == 0)
		;
	world_check_conservation();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(reply_is_restored_whole, world_reset),
		cmocka_unit_test_setup(reply_goes_back_with_its_tag, world_reset),
		cmocka_unit_test_setup(second_reply_is_late, world_reset),
		cmocka_unit_test_setup(late_reply_meets_no_other_request, world_reset),
		cmocka_unit_test_setup(answered_slot_is_reused_first, world_reset),
		cmocka_unit_test_setup(stranger_is_not_believed, world_reset),
		cmocka_unit_test_setup(wrong_identity_is_late, world_reset),
		cmocka_unit_test_setup(no_frame_is_no_reply, world_reset),
		cmocka_unit_test_setup(reply_of_several_datagrams, world_reset),
		cmocka_unit_test_setup(reply_completed_within_a_burst, world_reset),
		cmocka_unit_test_setup(incomplete_reply_is_a_timeout, world_reset),
		cmocka_unit_test_setup(giant_totals_are_refused, world_reset),
		cmocka_unit_test_setup(binary_error_echoes, world_reset),
		cmocka_unit_test_setup(nothing_follows_a_partial_reply, world_reset),
		cmocka_unit_test_setup(header_only_reply_passes, world_reset),
		cmocka_unit_test_setup(quiet_request_is_never_a_timeout, world_reset),
		cmocka_unit_test_setup(latency_is_what_went_by, world_reset),
		cmocka_unit_test_setup(timeouts_in_a_row_end_with_a_reply, world_reset),
		cmocka_unit_test_setup(reply_at_another_worker_is_handed_over, world_reset),
		cmocka_unit_test_setup(full_mailbox_drops_by_name, world_reset),
	};

	return cmocka_run_group_tests_name("dataplane/reply", tests, world_begin, world_end);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dataplane/test_world.h"
#include "lib/proto/binary_test.h"
#include "lib/proto/local.h"

/*
 * Requests of several keys or commands: what the nodes are asked, and what the client gets. The
 * nodes are played by the tests, which see every byte of both.
 */
#define ASKED_MAX     64
#define COUNTER(name) (world_workers[0]->counters.name)

/* What a node was sent. */
static struct asked {
	char text[2048];
	size_t len;
	unsigned int node;
	struct kvl_wire_id wire;
} asked[ASKED_MAX];
static unsigned int asked_count;

static void send_bytes(const void *payload, size_t len)
{
	struct packet in = {.from_mac = CLIENT_MAC,
		.to_mac = LANE0_MAC,
		.from = CLIENT,
		.to = NAT_VIP,
		.id = 0x1234,
		.payload = payload,
		.payload_len = len};

	world_run(0, 0, &in, 1);
}

/* All that is on its way to nodes; the headers are checked byte for byte. */
static void asked_take(void)
{
	struct rte_mbuf *mbuf;

	for (asked_count = 0; (mbuf = world_sent(0, 1)) != NULL; asked_count++) {
		struct asked *a = &asked[asked_count];
		struct packet want = {
			.from_mac = LANE1_MAC, .payload = a->text, .dont_fragment = true};
		char from[32], to[32], mac[32];
		struct kvl_packet p;

		kvl_packet_begin(&p, mbuf, 0);
		a->len = mbuf->data_len - KVL_HEADERS_V4 - KVL_FRAME_LEN;
		memcpy(a->text, kvl_packet_payload(&p) + KVL_FRAME_LEN, a->len);
		a->text[a->len] = '\0';
		mbuf->refcnt++; /* world_node_of() frees it, and the bytes are wanted after that */
		a->node = world_node_of(mbuf, &a->wire);
		snprintf(from, sizeof(from), SNAT ":%u", a->wire.port);
		snprintf(to, sizeof(to), "10.2.0.%u:11211", a->node);
		snprintf(mac, sizeof(mac), "02:00:00:00:02:%02x", a->node);
		want.to_mac = mac;
		want.from = from;
		want.to = to;
		want.id = a->wire.id;
		want.payload_len = a->len;
		world_expect(mbuf, &want);
	}
}

static void ask_bytes(const void *payload, size_t len)
{
	send_bytes(payload, len);
	asked_take();
}

static void ask(const char *text)
{
	ask_bytes(text, strlen(text));
}

static struct asked *asked_of(const char *text)
{
	for (unsigned int i = 0; i < asked_count; i++)
		if (strcmp(asked[i].text, text) == 0)
			return &asked[i];
	fail_msg("nobody was asked: %s", text);
	return NULL;
}

static void reply_datagram(
	const struct asked *a, const void *data, size_t len, int sequence, int total)
{
	char from[32], to[32], mac[32];
	struct packet r = {.from_mac = mac,
		.to_mac = LANE1_MAC,
		.from = from,
		.to = to,
		.id = a->wire.id,
		.sequence = sequence,
		.total = total,
		.payload = data,
		.payload_len = len};

	snprintf(from, sizeof(from), "10.2.0.%u:11211", a->node);
	snprintf(to, sizeof(to), SNAT ":%u", a->wire.port);
	snprintf(mac, sizeof(mac), "02:00:00:00:02:%02x", a->node);
	world_run(0, 1, &r, 1);
}

static void reply(const char *asked_text, const char *text)
{
	reply_datagram(asked_of(asked_text), text, strlen(text), 0, 1);
}

/* The next datagram to the client must be this one. */
static void client_gets_datagram(const void *data, size_t len, int sequence, int total)
{
	struct packet want = {.from_mac = LANE0_MAC,
		.to_mac = CLIENT_MAC,
		.from = NAT_VIP,
		.to = CLIENT,
		.id = 0x1234,
		.sequence = sequence,
		.total = total,
		.payload = data,
		.payload_len = len,
		.dont_fragment = true};

	world_expect(world_sent(0, 0), &want);
}

static void client_gets(const char *text)
{
	client_gets_datagram(text, strlen(text), 0, 1);
}

static void client_gets_nothing(void)
{
	assert_null(world_sent(0, 0));
}

/* Nothing is left over of what was done, and the packets add up. */
static void all_is_done(void)
{
	const struct kvl_worker *w = world_workers[0];

	client_gets_nothing();
	assert_null(world_sent(0, 1));
	assert_int_equal(w->merges.merges_used, 0);
	assert_int_equal(w->merges.parts_reserved, 0);
	assert_int_equal(w->merges.chunks_used, 0);
	assert_int_equal(w->pending.free_count, w->pending.size);
	for (unsigned int n = 0; n < WORLD_NODES; n++)
		assert_int_equal(w->nodes[n].in_flight, 0);
	world_check_conservation();
}

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
		assert_int_equal(asked_of(one)->node, alone[i]);
		/* one flush a node: its datagrams stand side by side */
		for (unsigned int k = 0; k + 2 < asked_count; k++)
			if (asked[k].node != asked[k + 1].node)
				for (unsigned int n = k + 2; n < asked_count; n++)
					assert_int_not_equal(asked[k].node, asked[n].node);
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

static void commands_are_answered_in_order(void **state)
{
	ask("get a\r\nset b 0 0 1\r\ny\r\nbogus\r\nversion\r\ndelete c\r\nget d\r\n");
	assert_int_equal(asked_count, 4);
	reply("get d\r\n", "VALUE d 0 1\r\nw\r\nEND\r\n");
	reply("delete c\r\n", "NOT_FOUND\r\n");
	reply("set b 0 0 1\r\ny\r\n", "STORED\r\n");
	reply("get a\r\n", "END\r\n");
	client_gets("END\r\n");
	client_gets("STORED\r\n");
	client_gets("ERROR\r\n");
	client_gets("VERSION " KVL_LOCAL_VERSION "\r\n");
	client_gets("NOT_FOUND\r\n");
	client_gets("VALUE d 0 1\r\nw\r\nEND\r\n");
	all_is_done();
}

/* noreply and q are taken off, so that the end of the command is known; the client sees nothing. */
static void quiet_commands_stay_quiet(void **state)
{
	ask("set a 0 0 1 noreply\r\nx\r\nms b 1 q T0\r\ny\r\nmg c v q Pxy\r\nmg d q v\r\nmd e "
	    "q\r\nmn\r\n");
	assert_int_equal(asked_count, 5);
	reply("set a 0 0 1        \r\nx\r\n", "SERVER_ERROR out of memory\r\n");
	reply("ms b 1   T0\r\ny\r\n", "HD\r\n");
	reply("mg c v      \r\n", "EN\r\n");
	reply("mg d   v\r\n", "VA 1\r\nz\r\n");
	reply("md e  \r\n", "NF\r\n");
	client_gets("VA 1\r\nz\r\n");
	client_gets("NF\r\n");
	client_gets("MN\r\n");
	all_is_done();
}

static void all_quiet_is_silence(void **state)
{
	ask("set a 0 0 1 noreply\r\nx\r\nset b 0 0 1 noreply\r\ny\r\n");
	reply_datagram(&asked[0], "STORED\r\n", 8, 0, 1);
	reply_datagram(&asked[1], "STORED\r\n", 8, 0, 1);
	all_is_done();
}

/* A later command on a key waits for an earlier one that changes it; others do not. */
static void order_is_kept_on_a_key(void **state)
{
	ask("set a 0 0 1\r\n1\r\nget b\r\nget a\r\nget c\r\n");
	assert_int_equal(asked_count, 2);
	reply("get b\r\n", "END\r\n");
	client_gets_nothing();
	reply("set a 0 0 1\r\n1\r\n", "STORED\r\n");
	client_gets("STORED\r\n");
	client_gets("END\r\n");
	asked_take();
	assert_int_equal(asked_count, 2);
	reply("get a\r\n", "VALUE a 0 1\r\n1\r\nEND\r\n");
	reply("get c\r\n", "END\r\n");
	client_gets("VALUE a 0 1\r\n1\r\nEND\r\n");
	client_gets("END\r\n");
	all_is_done();
}

/* One time for all of it: behind the service's timeout nothing new is asked. */
static void waves_have_one_deadline(void **state)
{
	ask("incr a 1\r\nincr a 1\r\nincr a 1\r\nget a\r\nmg a v\r\n");
	assert_int_equal(asked_count, 1);
	world_wait(0, WORLD_TIMEOUT + 2);
	client_gets("SERVER_ERROR node did not answer\r\n");
	client_gets("SERVER_ERROR node did not answer\r\n");
	client_gets("SERVER_ERROR node did not answer\r\n");
	client_gets("END\r\n");
	client_gets("EN\r\n");
	assert_int_equal(COUNTER(unanswered), 5);
	all_is_done();
}

/* Its value's length is not to be trusted, so nothing behind it is run. */
static void a_fault_in_storage_ends_the_datagram(void **state)
{
	ask("get a\r\nset b 0 0 40\r\nflush_all\r\nget c\r\n");
	assert_int_equal(asked_count, 1);
	reply("get a\r\n", "END\r\n");
	client_gets("END\r\n");
	client_gets("CLIENT_ERROR bad data chunk\r\n");
	all_is_done();
	ask("flush_all noreply\r\nget\r\nget a\r\n");
	assert_int_equal(asked_count, 1);
	reply("get a\r\n", "END\r\n");
	client_gets("ERROR\r\n");
	client_gets("END\r\n");
	all_is_done();
	ask("get a\r\nflush_all\r\nget b\r\nget c");
	assert_int_equal(asked_count, 2);
	reply("get a\r\n", "END\r\n");
	reply("get b\r\n", "END\r\n");
	client_gets("END\r\n");
	client_gets("SERVER_ERROR command refused by the router\r\n");
	client_gets("END\r\n");
	all_is_done();
}

static size_t binary_add(uint8_t *out, uint8_t opcode, const char *key)
{
	return binary_write(&(struct binary_packet){opcode, key}, out);
}

/* getkq a, getkq b, noop: hits and the noop, in order. */
static void binary_batch(void **state)
{
	uint8_t batch[256], hit[64], noop[24];
	size_t len = 0;

	len += binary_add(batch, 0x0d, "a");
	len += binary_add(batch + len, 0x0d, "b");
	len += binary_add(batch + len, 0x0a, NULL);
	ask_bytes(batch, len);
	assert_int_equal(asked_count, 2);
	assert_int_equal(asked[0].len, 25);
	for (unsigned int i = 0; i < 2; i++) {
		if (asked[i].text[24] == 'a') {
			reply_datagram(&asked[i], "", 0, 0, -1);
		} else {
			binary_write(&(struct binary_packet){0x0d, "b", "value", 4}, hit);
			hit[0] = 0x81;
			reply_datagram(&asked[i], hit, 24 + 4 + 1 + 5, 0, 1);
		}
	}
	client_gets_datagram(hit, 24 + 4 + 1 + 5, 0, 1);
	binary_add(noop, 0x0a, NULL);
	noop[0] = 0x81;
	client_gets_datagram(noop, 24, 0, 1);
	all_is_done();
}

/* Misses for those whose node is silent, with the key where the opcode has it in its reply. */
static void binary_parts_unanswered(void **state)
{
	uint8_t batch[256], want[64];
	size_t len = 0;

	len += binary_add(batch, 0x00, "a");
	len += binary_add(batch + len, 0x0c, "b");
	len += binary_add(batch + len, 0x09, "c");
	len += binary_add(batch + len, 0x04, "d");
	ask_bytes(batch, len);
	assert_int_equal(asked_count, 4);
	world_wait(0, WORLD_TIMEOUT + 2);
	memcpy(want, "\x81\0\0\0\0\0\0\1\0\0\0\x09\xde\xad\xbe\xef\0\0\0\0\0\0\0\0Not found", 33);
	client_gets_datagram(want, 33, 0, 1);
	memcpy(want, "\x81\x0c\0\1\0\0\0\1\0\0\0\1\xde\xad\xbe\xef\0\0\0\0\0\0\0\0b", 25);
	client_gets_datagram(want, 25, 0, 1);
	memcpy(want,
		"\x81\4\0\0\0\0\0\x86\0\0\0\x20\xde\xad\xbe\xef\0\0\0\0\0\0\0\0"
		"SERVER_ERROR node did not answer",
		56);
	client_gets_datagram(want, 56, 0, 1);
	all_is_done();
}

/* As memcached: a protocol error drops the rest, an unknown opcode only its own body. */
static void binary_faults_in_a_batch(void **state)
{
	uint8_t batch[256];
	size_t len = binary_add(batch, 0x99, "key");

	len += binary_add(batch + len, 0x00, NULL);
	len += binary_add(batch + len, 0x00, "a");
	ask_bytes(batch, len);
	assert_int_equal(asked_count, 0);
	client_gets_datagram("\x81\x99\0\0\0\0\0\x81\0\0\0\x0f\xde\xad\xbe\xef\0\0\0\0\0\0\0\0"
			     "Unknown command",
		39, 0, 1);
	client_gets_datagram("\x81\0\0\0\0\0\0\4\0\0\0\x11\xde\xad\xbe\xef\0\0\0\0\0\0\0\0"
			     "Invalid arguments",
		41, 0, 1);
	all_is_done();
}

static void tagged_client_gets_tagged_message(void **state)
{
	struct packet in = {.from_mac = CLIENT_MAC,
		.to_mac = LANE0_MAC,
		.from = CLIENT,
		.to = NAT_VIP,
		.id = 7,
		.payload = "get a b\r\n",
		.vlan = 0x2064};
	struct packet out = {.from_mac = LANE0_MAC,
		.to_mac = CLIENT_MAC,
		.from = NAT_VIP,
		.to = CLIENT,
		.id = 7,
		.payload = "END\r\n",
		.vlan = 0x2064,
		.dont_fragment = true};

	world_run(0, 0, &in, 1);
	asked_take();
	reply("get a\r\n", "END\r\n");
	reply("get b\r\n", "END\r\n");
	world_expect(world_sent(0, 0), &out);
	all_is_done();
}

static void no_merge_left_is_said(void **state)
{
	for (unsigned int i = 0; i < WORLD_MERGES; i++)
		ask("get a b\r\n");
	ask("get a b\r\n");
	assert_int_equal(asked_count, 0);
	client_gets("SERVER_ERROR router busy\r\n");
	/* also when the first one is quiet, for a later one may be waited for */
	ask("set a 0 0 1 noreply\r\nx\r\nget b\r\n");
	client_gets("SERVER_ERROR router busy\r\n");
	assert_int_equal(COUNTER(merges_full), 2);
	world_wait(0, WORLD_TIMEOUT + 2);
	for (unsigned int i = 0; i < WORLD_MERGES; i++)
		client_gets("END\r\n");
	all_is_done();
}

static void too_few_parts_is_said(void **state)
{
	char text[1400] = "get";

	for (unsigned int i = 0; i < WORLD_PARTS; i++)
		strcat(text, " k");
	strcat(text, "\r\n");
	ask(text);
	client_gets("SERVER_ERROR router busy\r\n");
	all_is_done();
}

/* 64 chunks hold ten full datagrams: the reply that does not fit is given up, the rest goes on. */
static void reply_beyond_all_chunks_is_given_up(void **state)
{
	static char data[1393];
	struct asked *a;

	memset(data, 'x', sizeof(data) - 1);
	memcpy(data, "VALUE a 0 20000\r\n", 17);
	ask("get a b\r\n");
	a = asked_of("get a\r\n");
	for (unsigned int i = 0; i < 15; i++)
		reply_datagram(a, data, 1392, i, 15);
	reply("get b\r\n", "VALUE b 0 1\r\ny\r\nEND\r\n");
	client_gets("VALUE b 0 1\r\ny\r\nEND\r\n");
	assert_int_equal(COUNTER(chunks_full), 1);
	assert_int_equal(COUNTER(unanswered), 1);
	all_is_done();
}

/* A short request must not ask for any amount of reply by naming one key again and again. */
static void repetition_is_bounded(void **state)
{
	static char request[1464] = "get", value[10 * 1392 + 1];
	struct asked *a;
	size_t len;

	for (unsigned int i = 0; i < 700; i++)
		strcat(request, " a");
	strcat(request, "\r\n");
	/* as if there were parts for it: they are reserved by the look of the request */
	world_workers[0]->merges.part_count = 2000;
	ask(request);
	world_workers[0]->merges.part_count = WORLD_PARTS;
	assert_int_equal(asked_count, 1);
	len = sprintf(value, "VALUE a 0 8400\r\n");
	memset(value + len, 'x', 8400);
	memcpy(value + len + 8400, "\r\nEND\r\n", 8);
	len += 8407;
	a = &asked[0];
	for (size_t at = 0; at < len; at += 1392)
		reply_datagram(a, value + at, RTE_MIN((size_t)1392, len - at), at / 1392,
			(len + 1391) / 1392);
	client_gets("SERVER_ERROR reply too large\r\n");
	assert_int_equal(COUNTER(answered)[KVL_REQUEST_REPLY_HUGE], 1);
	all_is_done();
}

static void no_slot_left_is_unanswered(void **state)
{
	world_workers[0]->pending.free_count = 1;
	ask("get a b\r\n");
	assert_int_equal(asked_count, 1);
	world_workers[0]->pending.free_count = world_workers[0]->pending.size - 1;
	reply_datagram(&asked[0], "END\r\n", 5, 0, 1);
	client_gets("END\r\n");
	assert_int_equal(COUNTER(unanswered), 1);
	all_is_done();
}

static void dsr_goes_whole_or_not_at_all(void **state)
{
	struct packet in = {.from_mac = CLIENT_MAC,
		.to_mac = LANE0_MAC,
		.from = CLIENT,
		.to = DSR_VIP,
		.id = 7,
		.payload = "get a a\r\nset a 0 0 1\r\nx\r\n"};
	struct packet out = {.from_mac = LANE0_MAC,
		.to_mac = CLIENT_MAC,
		.from = DSR_VIP,
		.to = CLIENT,
		.id = 7,
		.dont_fragment = true,
		.payload = "SERVER_ERROR keys of several nodes\r\n"};

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
		cmocka_unit_test_setup(no_node_is_a_miss, world_reset),
		cmocka_unit_test_setup(commands_are_answered_in_order, world_reset),
		cmocka_unit_test_setup(quiet_commands_stay_quiet, world_reset),
		cmocka_unit_test_setup(all_quiet_is_silence, world_reset),
		cmocka_unit_test_setup(order_is_kept_on_a_key, world_reset),
		cmocka_unit_test_setup(waves_have_one_deadline, world_reset),
		cmocka_unit_test_setup(a_fault_in_storage_ends_the_datagram, world_reset),
		cmocka_unit_test_setup(binary_batch, world_reset),
		cmocka_unit_test_setup(binary_parts_unanswered, world_reset),
		cmocka_unit_test_setup(binary_faults_in_a_batch, world_reset),
		cmocka_unit_test_setup(tagged_client_gets_tagged_message, world_reset),
		cmocka_unit_test_setup(no_merge_left_is_said, world_reset),
		cmocka_unit_test_setup(too_few_parts_is_said, world_reset),
		cmocka_unit_test_setup(reply_beyond_all_chunks_is_given_up, world_reset),
		cmocka_unit_test_setup(repetition_is_bounded, world_reset),
		cmocka_unit_test_setup(no_slot_left_is_unanswered, world_reset),
		cmocka_unit_test_setup(dsr_goes_whole_or_not_at_all, world_reset),
	};

	return cmocka_run_group_tests_name("dataplane/split", tests, world_begin, world_end);
}

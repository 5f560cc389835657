/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "dataplane/test_world.h"
#include "lib/proto/local.h"

/* Commands without a key, tokens for the router, hash rules: what a service's settings change. */

static struct packet request(const char *payload)
{
	return (struct packet){REQUEST, .payload = payload};
}

static struct packet answer(const char *payload)
{
	return (struct packet){ANSWER, .payload = payload};
}

static void expect_answer(const char *payload, const char *text)
{
	struct packet in = request(payload), out = answer(text);

	world_run(0, 0, &in, 1);
	world_expect(world_sent(0, 0), &out);
	assert_null(world_sent(0, 1));
	world_check_conservation();
}

static void local_answers(void **state)
{
	expect_answer("version\r\n", "VERSION " KVL_LOCAL_VERSION "\r\n");
	expect_answer("mn\r\n", "MN\r\n");
	expect_answer("verbosity 1\r\n", "OK\r\n");
	expect_answer("verbosity\r\n", "ERROR\r\n");
	expect_answer("verbosity x\r\n", "CLIENT_ERROR bad command line format\r\n");
	expect_answer("stats items\r\n", "END\r\n");
	expect_answer("stats bogus\r\n", "ERROR\r\n");
	expect_answer("stats reset\r\n", "SERVER_ERROR command refused by the router\r\n");
	expect_answer("flush_all\r\n", "SERVER_ERROR command refused by the router\r\n");
	assert_int_equal(world_workers[0]->counters.answered[KVL_REQUEST_KEYLESS], 8);
}

static void noreply_is_kept(void **state)
{
	struct packet in = request("verbosity 1 noreply\r\n");

	world_run(0, 0, &in, 1);
	assert_null(world_sent(0, 0));
	assert_int_equal(world_workers[0]->counters.drops[KVL_DROP_QUIET], 1);
	world_check_conservation();
}

/* memcached's reply to quit is a frame of total 0 and nothing else. */
static void quit_is_answered_by_a_frame(void **state)
{
	struct packet in = request("quit\r\n"), out = answer("");

	out.total = -1;
	world_run(0, 0, &in, 1);
	world_expect(world_sent(0, 0), &out);
	world_check_conservation();
}

static const char *stats_text(void)
{
	static char text[2048];
	struct packet in = request("stats\r\n");
	struct rte_mbuf *mbuf;
	size_t len;

	world_run(0, 0, &in, 1);
	mbuf = world_sent(0, 0);
	assert_non_null(mbuf);
	len = mbuf->data_len - KVL_HEADERS_V4 - KVL_FRAME_LEN;
	memcpy(text, rte_pktmbuf_mtod_offset(mbuf, char *, KVL_HEADERS_V4 + KVL_FRAME_LEN), len);
	text[len] = '\0';
	rte_pktmbuf_free(mbuf);
	assert_in_range(len, 100, KVL_LOCAL_MAX);
	return text;
}

static void stats_tell_what_was_done(void **state)
{
	struct packet in = request("get k\r\n");
	const char *text;

	for (unsigned int w = 0; w < WORLD_WORKERS; w++) {
		world_run(w, 0, &in, 1);
		rte_pktmbuf_free(world_sent(w, 1));
	}
	text = stats_text();
	assert_non_null(strstr(text, "STAT version " KVL_LOCAL_VERSION "\r\n"));
	assert_non_null(strstr(text, "STAT threads 2\r\n"));
	assert_non_null(strstr(text, "STAT router_requests 2\r\n")); /* of both workers */
	assert_string_equal(text + strlen(text) - 5, "END\r\n");
}

/* All nodes in turn, within a burst too, and past those that are out. */
static void round_robin(void **state)
{
	struct packet burst[12];
	unsigned int got[WORLD_NODES + 1] = {0};

	world_service.keyless = KVL_KEYLESS_ROUND_ROBIN;
	world_publish();
	for (unsigned int i = 0; i < 12; i++)
		burst[i] = request("version\r\n");
	world_run(0, 0, burst, 12);
	for (unsigned int i = 0; i < 12; i++)
		got[world_node_of(world_sent(0, 1), NULL)]++;
	for (unsigned int n = 1; n <= WORLD_NODES; n++)
		assert_int_equal(got[n], 2);
	world_weights[2] = 0;
	world_publish();
	world_run(0, 0, burst, 6);
	for (unsigned int i = 0; i < 6; i++)
		assert_int_not_equal(world_node_of(world_sent(0, 1), NULL), 3);
	memset(world_weights, 0, sizeof(world_weights));
	world_publish();
	expect_answer("version\r\n", "SERVER_ERROR no node available\r\n");
}

static void proxy_tokens_stay_here(void **state)
{
	struct packet in = request("mg somekey v Pab/c Labcd t\r\n"), out = in;
	struct world_asked asked;
	struct rte_mbuf *mbuf;

	world_run(0, 0, &in, 1);
	mbuf = world_sent(0, 1);
	mbuf->refcnt++;
	asked.node = world_node_of(mbuf, &asked.wire);
	world_asked_fill(&asked);
	out.from_mac = LANE1_MAC;
	out.to_mac = asked.mac;
	out.from = asked.snat_text;
	out.to = asked.node_text;
	out.id = asked.wire.id;
	out.ttl = 63;
	out.payload = "mg somekey v             t\r\n";
	world_expect(mbuf, &out);
	world_check_conservation();
}

static unsigned int node_of(const char *key)
{
	char payload[128];
	struct packet in = request(payload);

	snprintf(payload, sizeof(payload), "get %s\r\n", key);
	world_run(0, 0, &in, 1);
	return world_node_of(world_sent(0, 1), NULL);
}

static void hash_tags(void **state)
{
	unsigned int node;

	world_service.hash_rule = (struct kvl_hash_rule){.open = '{', .close = '}', .on = 1};
	world_publish();
	for (unsigned int i = 0; i < 40; i++) {
		char key[64], tag[16];

		snprintf(tag, sizeof(tag), "user%u", i);
		node = node_of(tag);
		snprintf(key, sizeof(key), "a{%s}b", tag);
		assert_int_equal(node_of(key), node);
		snprintf(key, sizeof(key), "{%s}{other}", tag);
		assert_int_equal(node_of(key), node);
	}
	world_service.hash_rule = (struct kvl_hash_rule){.separator = ':', .on = 1};
	world_publish();
	for (unsigned int i = 0; i < 40; i++) {
		char key[64], tag[16];

		snprintf(tag, sizeof(tag), "user%u", i);
		snprintf(key, sizeof(key), "%s:x:y%u", tag, i);
		assert_int_equal(node_of(key), node_of(tag));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(local_answers, world_reset),
		cmocka_unit_test_setup(noreply_is_kept, world_reset),
		cmocka_unit_test_setup(quit_is_answered_by_a_frame, world_reset),
		cmocka_unit_test_setup(stats_tell_what_was_done, world_reset),
		cmocka_unit_test_setup(round_robin, world_reset),
		cmocka_unit_test_setup(proxy_tokens_stay_here, world_reset),
		cmocka_unit_test_setup(hash_tags, world_reset),
	};

	return cmocka_run_group_tests_name("dataplane/keyless", tests, world_begin, world_end);
}

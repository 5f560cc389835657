/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dataplane/clients.h"
#include "dataplane/test_world.h"

/* Lists of clients, rates and the amplification guard, through the whole pipeline. */

static uint64_t drops(enum kvl_drop which)
{
	return world_workers[0]->counters.drops[which];
}

static unsigned int sent_count(unsigned int lane)
{
	struct rte_mbuf *m;
	unsigned int n = 0;

	while ((m = world_sent(0, lane)) != NULL) {
		rte_pktmbuf_free(m);
		n++;
	}
	return n;
}

static void ask(const char *from, const char *to, const char *payload)
{
	struct packet p = {REQUEST, .payload = payload};

	p.from = from;
	p.to = to;
	world_run(0, 0, &p, 1);
}

/* ---- the table ---- */

static struct kvl_clients *clients_of(const char *const *texts, size_t count, unsigned int bit)
{
	static struct kvl_prefix prefixes[KVL_CLIENTS_MAX];
	struct kvl_client_list lists[8] = {0};
	struct kvl_client_sets *sets;
	struct kvl_clients *c;

	for (size_t i = 0; i < count; i++)
		assert_int_equal(kvl_prefix_parse(texts[i], &prefixes[i]), 0);
	lists[bit] = (struct kvl_client_list){prefixes, count};
	sets = kvl_client_sets_new(lists, 8);
	assert_non_null(sets);
	c = kvl_clients_new(sets, 0);
	assert_non_null(c);
	return c;
}

static uint64_t services(const struct kvl_clients *c, const char *text)
{
	struct kvl_addr a;

	assert_int_equal(kvl_addr_parse(text, &a), 0);
	return kvl_clients_services(c, &a);
}

static void tables_of_both_families(void **state)
{
	static const char *const list[] = {
		"10.0.0.0/8", "192.0.2.1", "2001:db8::/32", "2001:db9::1", "198.51.100.128/25"};
	struct kvl_clients *c = clients_of(list, 5, 3);

	assert_int_equal(services(c, "10.255.255.255"), 8);
	assert_int_equal(services(c, "11.0.0.0"), 0);
	assert_int_equal(services(c, "192.0.2.1"), 8);
	assert_int_equal(services(c, "192.0.2.2"), 0);
	assert_int_equal(services(c, "198.51.100.127"), 0);
	assert_int_equal(services(c, "198.51.100.128"), 8);
	assert_int_equal(services(c, "2001:db8:ffff::1"), 8);
	assert_int_equal(services(c, "2001:db9::1"), 8);
	assert_int_equal(services(c, "2001:db9::2"), 0);
	kvl_clients_put(c);
}

static void everybody_of_one_family(void **state)
{
	static const char *const v4[] = {"0.0.0.0/0"}, *const v6[] = {"::/0", "2001:db8::/32"};
	struct kvl_clients *c = clients_of(v4, 1, 0);

	assert_null(c->v4); /* no 64 MB for that */
	assert_int_equal(services(c, "203.0.113.9"), 1);
	assert_int_equal(services(c, "2001:db8::1"), 0);
	kvl_clients_put(c);
	c = clients_of(v6, 2, 1);
	assert_int_equal(services(c, "203.0.113.9"), 0);
	assert_int_equal(services(c, "2001:db7::1"), 2);
	assert_int_equal(services(c, "2001:db8::1"), 2);
	kvl_clients_put(c);
}

/* The table says what the search through all prefixes says. */
static void table_against_search(void **state)
{
	static struct kvl_prefix p[8][KVL_CLIENTS_MAX];
	struct kvl_client_list lists[8];
	struct kvl_clients *c;

	srandom(11);
	for (unsigned int i = 0; i < 8; i++) {
		lists[i] = (struct kvl_client_list){p[i], KVL_CLIENTS_MAX};
		for (unsigned int k = 0; k < KVL_CLIENTS_MAX; k++) {
			char text[KVL_PREFIX_STRLEN];

			if (k % 2)
				snprintf(text, sizeof(text), "2001:db8:%lx:%lx::/%ld", random() % 4,
					random() % 4, 30 + random() % 60);
			else
				snprintf(text, sizeof(text), "10.%ld.%ld.%ld/%ld", random() % 3,
					random() % 3, random() % 256, random() % 33);
			kvl_prefix_parse(text, &p[i][k]);
		}
	}
	c = kvl_clients_new(kvl_client_sets_new(lists, 8), 0);
	assert_non_null(c);
	for (unsigned int i = 0; i < 20000; i++) {
		struct kvl_addr a;
		char text[KVL_ADDR_STRLEN];

		if (i % 2)
			snprintf(text, sizeof(text), "2001:db8:%lx:%lx::%lx", random() % 5,
				random() % 5, random() % 3);
		else
			snprintf(text, sizeof(text), "10.%ld.%ld.%ld", random() % 4, random() % 4,
				random() % 256);
		assert_int_equal(kvl_addr_parse(text, &a), 0);
		assert_int_equal(kvl_clients_services(c, &a), kvl_client_sets_find(c->source, &a));
	}
	kvl_clients_put(c);
}

/* ---- requests ---- */

static void list_begin(const char *const *list, size_t count)
{
	world_clients = clients_of(list, count, 0);
	world_service.policy = KVL_POLICY_GUARD;
	world_policy[0].clients_listed = 1;
	world_publish();
}

static void list_end(void)
{
	struct kvl_clients *c = (struct kvl_clients *)(uintptr_t)world_clients;

	world_service.policy = 0;
	world_clients = NULL;
	world_policy[0].clients_listed = 0;
	world_publish();
	kvl_clients_put(c);
}

static void only_listed_clients(void **state)
{
	static const char *const list[] = {"10.1.0.0/24"};

	list_begin(list, 1);
	ask("10.1.0.9:5000", NAT_VIP, "get k\r\n");
	assert_int_equal(sent_count(1), 1);
	ask("10.1.1.9:5000", NAT_VIP, "get k\r\n");
	ask("10.1.1.9:5000", NAT_VIP, "nonsense\r\n");
	ask("10.1.1.9:5000", NAT_VIP, "version\r\n");
	assert_int_equal(sent_count(1), 0);
	assert_int_equal(sent_count(0), 0); /* nothing is answered */
	assert_int_equal(drops(KVL_DROP_CLIENT_DENIED), 3);
	ask("10.1.1.9:5000", DSR_VIP, "get k\r\n"); /* another service, without a list */
	assert_int_equal(sent_count(1), 1);
	world_check_conservation();
	list_end();
}

static void rate_of_each_client(void **state)
{
	world_service.policy = KVL_POLICY_GUARD;
	world_policy[0].client_rate = (struct kvl_client_rate){10, 4};
	world_publish();
	for (unsigned int i = 0; i < 6; i++)
		ask("10.1.0.9:5000", NAT_VIP, "get k\r\n");
	ask("10.1.0.9:6000", NAT_VIP, "get k\r\n"); /* another port is the same client */
	assert_int_equal(sent_count(1), 4);
	assert_int_equal(drops(KVL_DROP_CLIENT_RATE), 3);
	ask("10.1.0.8:5000", NAT_VIP, "get k\r\n");
	assert_int_equal(sent_count(1), 1);
	world_wait(0, 100);
	ask("10.1.0.9:5000", NAT_VIP, "get k\r\n");
	ask("10.1.0.9:5000", NAT_VIP, "get k\r\n");
	assert_int_equal(sent_count(1), 1);
	world_check_conservation();
}

static void ipv6_clients(void **state)
{
	static const char *const list[] = {"2001:db8:1::/64"};

	list_begin(list, 1);
	world_policy[0].client_rate = (struct kvl_client_rate){1, 2};
	world_publish();
	ask("[2001:db8:2::9]:5000", NAT_VIP6, "get k\r\n");
	ask(CLIENT, NAT_VIP, "get k\r\n"); /* of the other family, which no list has */
	assert_int_equal(sent_count(1), 0);
	assert_int_equal(drops(KVL_DROP_CLIENT_DENIED), 2);
	/* An owner of 64 bits is one client. */
	ask("[2001:db8:1::9]:5000", NAT_VIP6, "get k\r\n");
	ask("[2001:db8:1::a]:5000", NAT_VIP6, "get k\r\n");
	ask("[2001:db8:1::b]:5000", NAT_VIP6, "get k\r\n");
	assert_int_equal(sent_count(1), 2);
	assert_int_equal(drops(KVL_DROP_CLIENT_RATE), 1);
	world_check_conservation();
	list_end();
}

/* ---- replies ---- */

static void guard_begin(uint32_t factor, uint32_t burst)
{
	world_service.policy = KVL_POLICY_GUARD;
	world_policy[0].amplification = (struct kvl_amplification){factor, burst};
	world_publish();
}

/* A get, and its node's reply of `len` bytes of payload. */
static void exchange(uint16_t len)
{
	static char payload[1400];
	struct world_asked asked;
	struct packet reply;

	ask(CLIENT, NAT_VIP, "get k\r\n");
	world_asked(0, &asked);
	memset(payload, 'x', sizeof(payload));
	reply = world_reply(&asked, payload);
	reply.payload_len = len - KVL_FRAME_LEN;
	world_run(0, 1, &reply, 1);
}

static void replies_are_bounded(void **state)
{
	guard_begin(10, 2000); /* a get of 15 bytes earns 150 */
	exchange(1000);
	assert_int_equal(sent_count(0), 1);
	exchange(1000);
	assert_int_equal(sent_count(0), 1);
	exchange(1000);
	assert_int_equal(sent_count(0), 0);
	assert_int_equal(drops(KVL_DROP_AMPLIFICATION), 1);
	exchange(100); /* what is small compared to the request always passes */
	assert_int_equal(sent_count(0), 1);
	world_wait(0, 1000);
	exchange(1000);
	assert_int_equal(sent_count(0), 1);
	/* The slots were given back all the same. */
	assert_int_equal(world_workers[0]->pending.free_count, world_workers[0]->pending.size);
	world_check_conservation();
}

static void answers_are_bounded(void **state)
{
	unsigned int sent;

	guard_begin(1, 1500);
	for (unsigned int i = 0; i < 50; i++)
		ask(CLIENT, NAT_VIP, "stats\r\n");
	sent = sent_count(0); /* of some hundred bytes each */
	assert_in_range(sent, 2, 12);
	assert_int_equal(drops(KVL_DROP_AMPLIFICATION), 50 - sent);
	world_wait(0, 1000);
	ask(CLIENT, NAT_VIP, "stats\r\n");
	assert_int_equal(sent_count(0), 1);
	world_check_conservation();
}

static void merged_replies_are_bounded(void **state)
{
	static char text[1024];
	char *at = text;

	/* The router's own words, a message for each command: 38 bytes for 9. */
	for (unsigned int i = 0; i < 30; i++)
		at += sprintf(at, "version\r\n");
	guard_begin(1, 1500);
	ask(CLIENT, NAT_VIP, text);
	assert_int_equal(sent_count(0), 30);
	assert_int_equal(world_workers[0]->counters.withheld, 0);
	ask(CLIENT, NAT_VIP, text);
	assert_in_range(sent_count(0), 5, 25);
	assert_in_range(world_workers[0]->counters.withheld, 5, 25);
	world_check_conservation();
}

/* What a client is told of a node that did not answer is a reply, too. */
static void silence_is_told_within_bounds(void **state)
{
	unsigned int told;

	guard_begin(1, 1500);
	for (unsigned int i = 0; i < 30; i++)
		ask(CLIENT, NAT_VIP, "get k\r\n");
	assert_int_equal(sent_count(1), 30);
	world_wait(0, WORLD_TIMEOUT + 2);
	told = sent_count(0);
	assert_in_range(told, 8, 20);
	assert_int_equal(world_workers[0]->counters.withheld, 30 - told);
	world_check_conservation();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(tables_of_both_families, world_reset),
		cmocka_unit_test_setup(everybody_of_one_family, world_reset),
		cmocka_unit_test_setup(table_against_search, world_reset),
		cmocka_unit_test_setup(only_listed_clients, world_reset),
		cmocka_unit_test_setup(rate_of_each_client, world_reset),
		cmocka_unit_test_setup(ipv6_clients, world_reset),
		cmocka_unit_test_setup(replies_are_bounded, world_reset),
		cmocka_unit_test_setup(answers_are_bounded, world_reset),
		cmocka_unit_test_setup(silence_is_told_within_bounds, world_reset),
		cmocka_unit_test_setup(merged_replies_are_bounded, world_reset),
	};

	return cmocka_run_group_tests(tests, world_begin, world_end);
}

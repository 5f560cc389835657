/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "dataplane/track/client_table.h"

#define COUNT 64u

static struct kvl_client clients[COUNT];
static struct kvl_client_table table;

static const struct kvl_client_terms terms = {{10, 3}, {2, 3000}};

static int setup(void **state)
{
	memset(clients, 0, sizeof(clients));
	kvl_client_table_init(&table, clients, COUNT, 12345);
	return 0;
}

static struct kvl_addr address(const char *text)
{
	struct kvl_addr a;

	assert_int_equal(kvl_addr_parse(text, &a), 0);
	return a;
}

static struct kvl_client *find(const char *text, uint16_t service, uint32_t now)
{
	const struct kvl_addr a = address(text);
	bool evicted;

	return kvl_client_find(&table, &a, service, &terms, now, &evicted);
}

static bool request(const char *text, uint32_t now)
{
	return kvl_client_request(find(text, 0, now), &terms, 30);
}

static void burst_then_rate(void **state)
{
	for (unsigned int i = 0; i < 3; i++)
		assert_true(request("10.0.0.1", 1000));
	assert_false(request("10.0.0.1", 1000));
	assert_true(request("10.0.0.2", 1000)); /* its own */
	assert_false(request("10.0.0.1", 1099));
	assert_true(request("10.0.0.1", 1100)); /* 10 a second: one in 100 ms */
	assert_false(request("10.0.0.1", 1100));
	for (unsigned int i = 0; i < 3; i++)
		assert_true(request("10.0.0.1", 90000));
	assert_false(request("10.0.0.1", 90000)); /* never more than the burst */
}

static void the_clock_may_wrap(void **state)
{
	for (unsigned int i = 0; i < 3; i++)
		assert_true(request("10.0.0.1", UINT32_MAX - 49));
	assert_false(request("10.0.0.1", UINT32_MAX - 49));
	assert_true(request("10.0.0.1", 50));
	assert_false(request("10.0.0.1", 50));
}

static void services_apart(void **state)
{
	assert_ptr_not_equal(find("10.0.0.1", 0, 0), find("10.0.0.1", 1, 0));
	assert_ptr_equal(find("10.0.0.1", 0, 0), find("10.0.0.1", 0, 5));
}

static void replies_against_requests(void **state)
{
	struct kvl_client *c = find("10.0.0.1", 0, 0);

	assert_true(kvl_client_reply(c, 3000)); /* the burst */
	assert_false(kvl_client_reply(c, 1));
	assert_true(kvl_client_request(c, &terms, 100));
	assert_false(kvl_client_reply(c, 201));
	assert_true(kvl_client_reply(c, 200)); /* twice what it sent */
	c = find("10.0.0.1", 0, 500);          /* half of the burst in half a second */
	assert_false(kvl_client_reply(c, 1501));
	assert_true(kvl_client_reply(c, 1500));
	c = find("10.0.0.1", 0, 60000);
	assert_false(kvl_client_reply(c, 3001));
}

/* In steps of a millisecond no less flows in than at once. */
static void small_steps_lose_nothing(void **state)
{
	const struct kvl_client_terms slow = {{7, 5}, {1, 1500}};
	const struct kvl_addr a = address("10.0.0.1");
	struct kvl_client *c = NULL;
	bool evicted;

	c = kvl_client_find(&table, &a, 0, &slow, 0, &evicted);
	c->requests = c->bytes = 0;
	for (uint32_t now = 1; now <= 500; now++)
		c = kvl_client_find(&table, &a, 0, &slow, now, &evicted);
	assert_int_equal(c->requests, 3500);
	assert_true(c->bytes >= 750 && c->bytes <= 1250);
}

static void ipv6_by_64_bits(void **state)
{
	assert_ptr_equal(find("2001:db8::1", 0, 0), find("2001:db8::ffff:2", 0, 0));
	assert_ptr_not_equal(find("2001:db8::1", 0, 0), find("2001:db8:0:1::1", 0, 0));
	assert_ptr_not_equal(find("10.0.0.1", 0, 0), find("10.0.0.2", 0, 0));
}

/* Far more clients than there is room for, while one goes on asking. */
static void the_busiest_keeps_its_place(void **state)
{
	unsigned int evictions = 0, told = 0;
	struct kvl_client *busy = find("10.0.0.1", 0, 0);
	bool evicted;

	for (uint32_t now = 1; now <= 900; now++) {
		const struct kvl_addr a = kvl_addr_from_v4(now << 8);

		kvl_client_find(&table, &a, 0, &terms, now, &evicted);
		told += evicted;
		assert_ptr_equal(find("10.0.0.1", 0, now), busy);
	}
	for (unsigned int i = 0; i < COUNT; i++)
		evictions += clients[i].service == 0;
	assert_int_equal(evictions, 0);
	assert_int_equal(told, 901 - COUNT); /* each newcomer beyond the room took somebody's */
}

static void idle_ones_go_uncounted(void **state)
{
	bool evicted;

	for (uint32_t i = 0; i < 1000; i++) {
		const struct kvl_addr a = kvl_addr_from_v4(i << 8);

		kvl_client_find(&table, &a, 0, &terms, 0, &evicted);
	}
	for (uint32_t i = 1000; i < 1004; i++) {
		const struct kvl_addr a = kvl_addr_from_v4(i << 8);

		kvl_client_find(&table, &a, 0, &terms, 100000 + i, &evicted);
		assert_false(evicted);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(burst_then_rate, setup),
		cmocka_unit_test_setup(the_clock_may_wrap, setup),
		cmocka_unit_test_setup(services_apart, setup),
		cmocka_unit_test_setup(replies_against_requests, setup),
		cmocka_unit_test_setup(small_steps_lose_nothing, setup),
		cmocka_unit_test_setup(ipv6_by_64_bits, setup),
		cmocka_unit_test_setup(the_busiest_keeps_its_place, setup),
		cmocka_unit_test_setup(idle_ones_go_uncounted, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

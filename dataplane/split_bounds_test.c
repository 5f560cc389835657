/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "dataplane/test_split.h"

/* What a split request may take: merges, parts, chunks, slots, and a reply's length. */

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(no_merge_left_is_said, world_reset),
		cmocka_unit_test_setup(too_few_parts_is_said, world_reset),
		cmocka_unit_test_setup(reply_beyond_all_chunks_is_given_up, world_reset),
		cmocka_unit_test_setup(repetition_is_bounded, world_reset),
		cmocka_unit_test_setup(no_slot_left_is_unanswered, world_reset),
	};

	return cmocka_run_group_tests_name("dataplane/split_bounds", tests, world_begin, world_end);
}

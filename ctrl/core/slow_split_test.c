/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "ctrl/core/slow_split.h"

/* Datagrams taken apart, between a client and nodes that are these functions. */

static struct kvl_slow_split split;
static char asked[4096]; /* what nodes were sent, one command after the other */
static unsigned int asked_count;
static char told[70000]; /* what the client was sent, without frames */
static size_t told_len;
static enum kvl_verdict refusal;

static enum kvl_verdict take_ask(void *context, struct kvl_slow_split *s, uint32_t part,
	const struct kvl_request *request, const uint8_t *command, size_t len)
{
	if (refusal != KVL_REQUEST_OK)
		return refusal;
	if (request->key_len > 5 && memcmp(s->payload + request->key_off, "over:", 5) == 0)
		return KVL_REQUEST_OVER_QUOTA;
	if (strlen(asked) + len < sizeof(asked))
		strncat(asked, (const char *)command, len);
	asked_count++;
	return KVL_REQUEST_OK;
}

static void take_send(void *context, struct kvl_slow_split *s, const uint8_t *datagram, size_t len)
{
	assert_in_range(len, KVL_FRAME_LEN + 1, KVL_FRAME_LEN + 1392);
	assert_true(told_len + len < sizeof(told));
	memcpy(told + told_len, datagram + KVL_FRAME_LEN, len - KVL_FRAME_LEN);
	told_len += len - KVL_FRAME_LEN;
	told[told_len] = '\0';
}

static const struct kvl_slow_split_ops ops = {.ask = take_ask, .send = take_send};

static void begin(const char *commands)
{
	char payload[4096] = "\0\1\0\0\0\1\0";
	size_t len = strlen(commands);

	assert_true(len < sizeof(payload) - KVL_FRAME_LEN);
	memcpy(payload + KVL_FRAME_LEN, commands, len);
	split = (struct kvl_slow_split){0};
	asked[0] = told[0] = '\0';
	asked_count = told_len = 0;
	refusal = KVL_REQUEST_OK;
	assert_int_equal(
		kvl_slow_split_begin(&split, &ops, (const uint8_t *)payload, KVL_FRAME_LEN + len),
		0);
}

static void reply(uint32_t part, const char *text)
{
	kvl_slow_split_add(&split, part, 0, 1, (const uint8_t *)text, strlen(text));
	kvl_slow_split_end(&split, &ops, part, true);
}

static void values_come_in_the_order_asked(void **state)
{
	begin("get a b a\r\n");
	assert_string_equal(asked, "get a\r\nget b\r\nget a\r\n");
	reply(2, "VALUE a 0 1\r\nx\r\nEND\r\n");
	reply(1, "END\r\n");
	assert_string_equal(told, "");
	reply(0, "VALUE a 0 1\r\nx\r\nEND\r\n");
	assert_string_equal(told, "VALUE a 0 1\r\nx\r\nVALUE a 0 1\r\nx\r\nEND\r\n");
	assert_false(split.active);
}

/* The next command is asked when the one before has been answered. */
static void commands_run_one_behind_the_other(void **state)
{
	begin("set a 0 0 1 noreply\r\nx\r\nget a\r\nmn\r\nbad\r\n");
	assert_string_equal(asked, "set a 0 0 1        \r\nx\r\n");
	reply(0, "STORED\r\n");
	assert_int_equal(asked_count, 2);
	reply(0, "VALUE a 0 1\r\nx\r\nEND\r\n");
	assert_string_equal(told, "VALUE a 0 1\r\nx\r\nEND\r\nMN\r\nERROR\r\n");
	assert_false(split.active);
}

/* Datagrams of a reply in any order; the second part of it fits behind the first only. */
static void replies_are_put_together(void **state)
{
	char value[3000], first[1392];
	size_t len =
		(size_t)snprintf(value, sizeof(value), "VALUE a 0 2000\r\n%02000d\r\nEND\r\n", 7);

	memcpy(first, value, sizeof(first));
	begin("get a b\r\n");
	kvl_slow_split_add(&split, 0, 1, 2, (const uint8_t *)value + 1392, len - 1392);
	kvl_slow_split_add(&split, 0, 0, 2, (const uint8_t *)first, sizeof(first));
	kvl_slow_split_end(&split, &ops, 0, true);
	reply(1, "END\r\n");
	assert_int_equal(told_len, len);
	assert_memory_equal(told, value, len);
}

/* A node that sends what cannot be put together costs its own part. */
static void odd_replies_are_misses(void **state)
{
	uint8_t long_one[1500] = {0};

	begin("get a b c d\r\n");
	kvl_slow_split_add(&split, 0, 0, 2, long_one, 10); /* not full, and another is to come */
	kvl_slow_split_end(&split, &ops, 0, true);
	kvl_slow_split_add(&split, 1, 0, 1, long_one, sizeof(long_one));
	kvl_slow_split_end(&split, &ops, 1, true);
	reply(2, "SERVER_ERROR out of memory\r\n");
	reply(3, "VALUE d 0 1\r\nx\r\nEND\r\n");
	assert_string_equal(told, "VALUE d 0 1\r\nx\r\nEND\r\n");

	begin("get a b\r\n");
	split.partial_error = true;
	reply(0, "END\r\n");
	kvl_slow_split_end(&split, &ops, 1, false);
	assert_string_equal(told, "SERVER_ERROR node did not answer\r\n");
}

static void replies_have_a_bound(void **state)
{
	static uint8_t full[1392];

	begin("get a b\r\n");
	for (uint16_t i = 0; i < 1023; i++) /* 1.4 MB each: more than fits after some */
		kvl_slow_split_add(&split, 0, i, 1024, full, sizeof(full));
	for (uint16_t i = 0; i < 10; i++)
		kvl_slow_split_add(&split, 1, UINT16_MAX - 1 - i, UINT16_MAX, full, sizeof(full));
	assert_in_range(split.bytes, 1, KVL_SLOW_SPLIT_BYTES);
	kvl_slow_split_end(&split, &ops, 0, true);
	kvl_slow_split_end(&split, &ops, 1, true);
	assert_string_equal(told, "END\r\n");
	assert_false(split.active);
}

static void a_window_is_asked_at_a_time(void **state)
{
	char request[3000] = "get";
	unsigned int keys = 300;

	for (unsigned int i = 0; i < keys; i++)
		strcat(request, i % 2 ? " a" : " b");
	strcat(request, "\r\n");
	begin(request);
	assert_int_equal(asked_count, KVL_SLOW_WINDOW);
	for (unsigned int i = 0; i < keys; i++) {
		assert_in_range(asked_count - i, 1, KVL_SLOW_WINDOW);
		reply(i, "END\r\n");
	}
	assert_int_equal(asked_count, keys);
	assert_string_equal(told, "END\r\n");
}

/* Without a node there is nothing to wait for. */
static void refusals_are_told(void **state)
{
	begin("get a b\r\n");
	refusal = KVL_REQUEST_NO_NODE;
	reply(0, "END\r\n");
	reply(1, "END\r\n");
	begin("get a b\r\n");
	kvl_slow_split_drop(&split);
	assert_false(split.active);

	begin("mn\r\nincr a 1\r\nincr b 1\r\n");
	refusal = KVL_REQUEST_NO_NODE;
	reply(0, "1\r\n");
	assert_string_equal(told, "MN\r\n1\r\nSERVER_ERROR no node available\r\n");
	assert_false(split.active);
}

/* A key over quota is no miss, whatever the service says of keys without an answer; and it is told
 * before what a node did not answer. */
static void a_refused_key_fails_its_get(void **state)
{
	begin("get a over:b c\r\nmg over:b v\r\nget over:b\r\nmn\r\n");
	assert_string_equal(asked, "get a\r\nget c\r\n");
	kvl_slow_split_end(&split, &ops, 0, false);
	reply(2, "END\r\n");
	assert_string_equal(told, "SERVER_ERROR over quota\r\nSERVER_ERROR over quota\r\n"
				  "SERVER_ERROR over quota\r\nMN\r\n");
	assert_false(split.active);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_come_in_the_order_asked),
		cmocka_unit_test(commands_run_one_behind_the_other),
		cmocka_unit_test(replies_are_put_together),
		cmocka_unit_test(odd_replies_are_misses),
		cmocka_unit_test(replies_have_a_bound),
		cmocka_unit_test(a_window_is_asked_at_a_time),
		cmocka_unit_test(refusals_are_told),
		cmocka_unit_test(a_refused_key_fails_its_get),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

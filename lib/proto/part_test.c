/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/proto/local.h"
#include "lib/proto/part.h"
#include "lib/proto/request_test.h"

/* What nodes are sent for a command, and what the router says in their place. */

static struct kvl_command command_of(const uint8_t *payload, size_t len)
{
	size_t at = KVL_FRAME_LEN;
	struct kvl_command c;

	assert_true(kvl_command_next(payload, len, &at, &c));
	return c;
}

static void part_is(const char *text, const char *want)
{
	size_t len;
	uint8_t *payload = payload_make(text, strlen(text), &len);
	uint8_t *out = malloc(len);
	struct kvl_command c = command_of(payload, len);

	assert_int_equal(
		kvl_part_command(payload, c.off, c.len, c.request.proto, c.request.flags, out),
		strlen(want));
	assert_memory_equal(out, want, strlen(want));
	free(out);
	free(payload);
}

static void silence_is_taken_off(void **state)
{
	part_is("set a 0 0 9 noreply\r\n noreply \r\n", "set a 0 0 9        \r\n noreply \r\n");
	part_is("delete noreplies noreply\r\n", "delete noreplies        \r\n");
	part_is("incr q 1 noreply\n", "incr q 1        \n");
	part_is("mg q q v\r\n", "mg q   v\r\n");
	part_is("ms q 3 q Pab T0 Lc\r\n q \r\n", "ms q 3       T0   \r\n q \r\n");
	part_is("mg Pkey v Oq P\r\n", "mg Pkey v Oq  \r\n");
	part_is("set a 0 0 1\r\nq\r\n", "set a 0 0 1\r\nq\r\n");
}

static void retrievals(void **state)
{
	size_t len;
	uint8_t *payload = payload_make(TEXT("gat -1  a bcd\n"), &len);
	uint8_t out[32];
	struct kvl_command c = command_of(payload, len);
	struct kvl_command_key k;
	size_t at = 0;

	assert_true(kvl_command_key_next(payload, &c, &at, &k));
	assert_true(kvl_command_key_next(payload, &c, &at, &k));
	assert_int_equal(
		kvl_part_retrieval(payload, c.off, c.request.key_off - c.off, k.off, k.len, out),
		13);
	assert_memory_equal(out, "gat -1  bcd\r\n", 13);
	free(payload);
}

static bool hidden(uint8_t proto, uint8_t op, const char *reply)
{
	return kvl_part_hidden(proto, op, KVL_REQ_QUIET, (const uint8_t *)reply, strlen(reply));
}

static void what_is_hidden(void **state)
{
	assert_true(hidden(KVL_PROTO_TEXT, KVL_OP_SET, "SERVER_ERROR"));
	assert_true(hidden(KVL_PROTO_META, KVL_OP_MG, "EN"));
	assert_false(hidden(KVL_PROTO_META, KVL_OP_MG, "VA"));
	assert_true(hidden(KVL_PROTO_META, KVL_OP_MS, "HD"));
	assert_false(hidden(KVL_PROTO_META, KVL_OP_MS, "NS"));
	assert_true(hidden(KVL_PROTO_META, KVL_OP_MD, "HD"));
	assert_false(hidden(KVL_PROTO_META, KVL_OP_MD, "NF"));
	assert_true(hidden(KVL_PROTO_META, KVL_OP_MA, "VA"));
	assert_false(hidden(KVL_PROTO_META, KVL_OP_MA, "CL"));
	assert_false(hidden(KVL_PROTO_META, KVL_OP_MG, ""));
	assert_false(hidden(KVL_PROTO_BINARY, KVL_OP_GET, "\x81"));
	assert_false(kvl_part_hidden(KVL_PROTO_TEXT, KVL_OP_SET, 0, (const uint8_t *)"ST", 2));
}

static void unanswered_is(const char *text, bool miss, const char *want)
{
	size_t len;
	uint8_t *payload = payload_make(text, strlen(text), &len), out[KVL_UNANSWERED_MAX];
	struct kvl_command c = command_of(payload, len);
	size_t n =
		kvl_part_unanswered(KVL_REQUEST_NO_REPLY, miss, &c.request, payload + c.off, out);

	assert_int_equal(n, strlen(want));
	assert_memory_equal(out, want, n);
	free(payload);
}

static void what_silence_becomes(void **state)
{
	const char *error = "SERVER_ERROR node did not answer\r\n";

	unanswered_is("mg a v\r\n", true, "EN\r\n");
	unanswered_is("mg a v q\r\n", true, "");
	unanswered_is("mg a v q\r\n", false, error);
	unanswered_is("set a 0 0 1\r\nx\r\n", true, error);
	unanswered_is("set a 0 0 1 noreply\r\nx\r\n", true, "");
	unanswered_is("md a\r\n", true, error);
}

static int64_t values(const char *text)
{
	size_t len = strlen(text);
	size_t tail = len < KVL_RETRIEVAL_TAIL ? 0 : len - KVL_RETRIEVAL_TAIL;

	return kvl_part_values((const uint8_t *)text, (const uint8_t *)text + tail, len);
}

static void values_of_a_reply(void **state)
{
	assert_int_equal(values("END\r\n"), 0);
	assert_int_equal(values("VALUE k 0 1\r\nx\r\nEND\r\n"), 16);
	assert_int_equal(values("VALUE k 0 0\r\n\r\nEND\r\n"), 15);
	assert_int_equal(values("VALUE k 0 1\r\nx\r\n"), -1);
	assert_int_equal(values("VALUE END\r\n"), -1);
	assert_int_equal(values("SERVER_ERROR out of memory\r\nEND\r\n"), -1);
	assert_int_equal(values("END"), -1);
	assert_int_equal(values(""), -1);
}

static void stats_beyond_a_datagram_are_left_out(void **state)
{
	struct kvl_local_stat stats[100];
	const struct kvl_request req = {.op = KVL_OP_STATS, .proto = KVL_PROTO_TEXT};
	uint8_t *out = malloc(KVL_LOCAL_MAX);
	size_t len;

	for (size_t i = 0; i < 100; i++)
		stats[i] = (struct kvl_local_stat){"a_name_of_some_length", NULL, UINT64_MAX};
	len = kvl_local_answer(&req, (const uint8_t *)"stats\r\n", 7, stats, 100, out);
	assert_in_range(len, 1300, KVL_LOCAL_MAX);
	assert_memory_equal(out, "STAT a_name_of_some_length 18446744073709551615\r\n", 49);
	assert_memory_equal(out + len - 5, "END\r\n", 5);
	assert_int_equal((len - 5) % 49, 0);
	free(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(silence_is_taken_off),
		cmocka_unit_test(retrievals),
		cmocka_unit_test(what_is_hidden),
		cmocka_unit_test(what_silence_becomes),
		cmocka_unit_test(values_of_a_reply),
		cmocka_unit_test(stats_beyond_a_datagram_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

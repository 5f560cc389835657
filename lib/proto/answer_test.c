/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/proto/request_test.h"

/* Parses, answers into a block of its own and compares byte by byte. */
static void answer_is(const char *text, size_t text_len, const char *want, size_t want_len)
{
	struct kvl_request req;
	size_t len;
	uint8_t *payload = payload_make(text, text_len, &len);
	uint8_t *out = malloc(KVL_ANSWER_MAX);
	enum kvl_verdict verdict = kvl_request_parse(payload, len, &req);

	assert_int_equal(kvl_request_answer(verdict, &req, payload, len, out), want_len);
	assert_memory_equal(out, want, want_len);
	free(out);
	free(payload);
}

#define FRAME                 "\x12\x34\0\0\0\1\0\0"
#define ANSWER_IS(text, want) answer_is(TEXT(text), TEXT(FRAME want))
#define ANSWER_NOTHING(text)  answer_is(TEXT(text), "", 0)
#define BINARY(opcode)        "\x80" opcode "\0\3\0\0\0\0\0\0\0\3\xde\xad\xbe\xef\0\0\0\0\0\0\0\0"
#define BINARY_ERROR(opcode, st) \
	"\x81" opcode "\0\0\0\0\0" st "\0\0\0\x0f\xde\xad\xbe\xef\0\0\0\0\0\0\0\0"

static void text_errors(void **state)
{
	ANSWER_IS("bogus\r\n", "ERROR\r\n");
	ANSWER_IS("get\0k\r\n", "CLIENT_ERROR bad command line format\r\n");
	ANSWER_IS("set k 0 0 5\r\nab\r\n", "CLIENT_ERROR bad data chunk\r\n");
	ANSWER_IS("set k x 0 2\r\nab\r\n", "CLIENT_ERROR bad command line format\r\n");
	ANSWER_IS("set k 0 0 99999\r\nab\r\n", "SERVER_ERROR object too large for cache\r\n");
	ANSWER_IS("incr k x\r\n", "CLIENT_ERROR invalid numeric delta argument\r\n");
	ANSWER_IS("touch k x\r\n", "CLIENT_ERROR invalid exptime argument\r\n");
	ANSWER_IS("mg k v v\r\n", "CLIENT_ERROR duplicate flag\r\n");
	ANSWER_IS("mg k !\r\n", "CLIENT_ERROR invalid flag\r\n");
	ANSWER_IS("flush_all\r\n", "SERVER_ERROR command refused by the router\r\n");
	ANSWER_IS("get a b\r\n", "SERVER_ERROR multi-key get not supported\r\n");
}

static void silence(void **state)
{
	struct kvl_request req = {0};
	uint8_t out[KVL_ANSWER_MAX];

	ANSWER_NOTHING("");
	ANSWER_NOTHING("get k\r\n");
	ANSWER_NOTHING("set k 0 0 5 noreply\r\nab\r\n");
	ANSWER_NOTHING("set k x 0 2 noreply\r\nab\r\n");
	ANSWER_NOTHING("delete k 1 noreply\r\n");
	ANSWER_NOTHING("flush_all noreply\r\n");
	assert_int_equal(
		kvl_request_answer(KVL_REQUEST_FORMAT, &req, (const uint8_t *)"1234567", 7, out),
		0);
	assert_int_equal(kvl_request_answer(KVL_VERDICT_COUNT, &req, out, sizeof(out), out), 0);
}

/* Only noreply hides errors; meta's q and the binary quiet opcodes do not, as in memcached. */
static void quiet_is_not_noreply(void **state)
{
	ANSWER_IS("ms k 5 q\r\nab\r\n", "CLIENT_ERROR bad data chunk\r\n");
	ANSWER_IS("mg k q !\r\n", "CLIENT_ERROR invalid flag\r\n");
	ANSWER_IS(BINARY("\x11"), BINARY_ERROR("\x11", "\x81") "Unknown command");
}

/* Behind a quiet command may be one that is waited for: the refusal of all of them is told. */
static void several_commands_are_answered(void **state)
{
	ANSWER_IS("mg a q\r\nmn\r\n",
		"SERVER_ERROR several commands in one datagram not supported\r\n");
}

static void binary_errors(void **state)
{
	ANSWER_IS(BINARY("\0") "key", BINARY_ERROR("\0", "\x81") "Unknown command");
	ANSWER_IS(BINARY("\1"), BINARY_ERROR("\1", "\x81") "Unknown command");
	ANSWER_IS(BINARY("\xff"), BINARY_ERROR("\xff", "\x81") "Unknown command");
	ANSWER_NOTHING("\x80");
	ANSWER_NOTHING("\x80\0\0\3\0\0\0\0\0\0\0\3\xde\xad\xbe\xef\0\0\0\0\0\0\0");
}

static void quiet_opcodes_are_known(void **state)
{
	static const uint8_t quiet[] = {0x09, 0x0d, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,
		0x19, 0x1a, 0x1e, 0x24, 0x32, 0x34, 0x36, 0x38, 0x3a, 0x3c};
	char text[] = BINARY("\0");

	for (int opcode = 0; opcode < 256; opcode++) {
		struct kvl_request req;

		text[1] = opcode;
		assert_int_equal(text_parse(text, sizeof(text) - 1, &req), KVL_REQUEST_BINARY);
		assert_int_equal(req.proto, KVL_PROTO_BINARY);
		assert_int_equal(
			req.flags & KVL_REQ_QUIET, memchr(quiet, opcode, sizeof(quiet)) != NULL);
	}
}

/* The pipeline writes the answer over the request in the mbuf. */
static void answers_in_place(void **state)
{
	struct kvl_request req;
	uint8_t memory[KVL_ANSWER_MAX] = FRAME BINARY("\2");
	size_t len = KVL_FRAME_LEN + 24;

	memory[3] = 7; /* the sequence is the answer's own */
	assert_int_equal(kvl_request_parse(memory, len, &req), KVL_REQUEST_BINARY);
	assert_int_equal(
		kvl_request_answer(KVL_REQUEST_BINARY, &req, memory, len, memory), len + 15);
	assert_memory_equal(memory, FRAME BINARY_ERROR("\2", "\x81") "Unknown command", len + 15);
}

/* Verdicts of the pipeline, for each protocol. */
static void pipeline_verdicts(void **state)
{
	struct kvl_request text = {.proto = KVL_PROTO_TEXT}, binary = {.proto = KVL_PROTO_BINARY};
	const uint8_t request[] = FRAME BINARY("\1");
	uint8_t out[KVL_ANSWER_MAX];
	size_t n;

	n = kvl_request_answer(KVL_REQUEST_NO_NODE, &text, request, 32, out);
	assert_int_equal(n, KVL_FRAME_LEN + strlen("SERVER_ERROR no node available\r\n"));
	assert_memory_equal(out, FRAME "SERVER_ERROR no node available\r\n", n);
	n = kvl_request_answer(KVL_REQUEST_NO_NODE, &binary, request, 32, out);
	assert_int_equal(n, KVL_FRAME_LEN + 24 + strlen("SERVER_ERROR no node available"));
	assert_memory_equal(out + KVL_FRAME_LEN, "\x81\1\0\0\0\0\0\x86", 8);
	kvl_request_answer(KVL_REQUEST_TABLE_FULL, &binary, request, 32, out);
	assert_int_equal(out[KVL_FRAME_LEN + 7], 0x85);
}

static void names_and_sizes(void **state)
{
	struct kvl_request text = {.proto = KVL_PROTO_TEXT}, binary = {.proto = KVL_PROTO_BINARY};
	uint8_t *out = malloc(KVL_ANSWER_MAX);
	const uint8_t request[] = FRAME BINARY("\1");

	for (int v = 0; v < KVL_VERDICT_COUNT; v++) {
		assert_non_null(kvl_verdict_name(v));
		assert_in_range(kvl_request_answer(v, &text, request, 32, out), 0, KVL_ANSWER_MAX);
		assert_in_range(
			kvl_request_answer(v, &binary, request, 32, out), 0, KVL_ANSWER_MAX);
	}
	free(out);
	assert_string_equal(kvl_op_name(KVL_OP_NONE), "none");
	assert_string_equal(kvl_op_name(KVL_OP_PREPEND), "prepend");
	assert_string_equal(kvl_op_name(KVL_OP_ADMIN), "admin");
	for (int op = KVL_OP_GET; op < KVL_OP_COUNT; op++)
		assert_string_not_equal(kvl_op_name(op), "none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_errors),
		cmocka_unit_test(silence),
		cmocka_unit_test(quiet_is_not_noreply),
		cmocka_unit_test(several_commands_are_answered),
		cmocka_unit_test(binary_errors),
		cmocka_unit_test(quiet_opcodes_are_known),
		cmocka_unit_test(answers_in_place),
		cmocka_unit_test(pipeline_verdicts),
		cmocka_unit_test(names_and_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

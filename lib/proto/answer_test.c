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
#define INVALID(opcode)                                                        \
	"\x81" opcode "\0\0\0\0\0\4\0\0\0\x11\xde\xad\xbe\xef\0\0\0\0\0\0\0\0" \
	"Invalid arguments"

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
	ANSWER_IS("get a b\r\n", "SERVER_ERROR keys of several nodes\r\n");
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
	ANSWER_IS(BINARY("\x11") "key", INVALID("\x11"));
}

/* Behind a quiet command may be one that is waited for: the refusal of all of them is told. */
static void several_commands_are_answered(void **state)
{
	ANSWER_IS("mg a q\r\nmn\r\n", "SERVER_ERROR several commands in one datagram\r\n");
}

static void binary_errors(void **state)
{
	ANSWER_IS(BINARY("\x99") "key", BINARY_ERROR("\x99", "\x81") "Unknown command");
	ANSWER_IS(BINARY("\x1b") "key", BINARY_ERROR("\x1b", "\x81") "Unknown command");
	ANSWER_IS(BINARY("\1") "key", INVALID("\1"));
	ANSWER_IS(BINARY("\0") "ke", INVALID("\0"));
	ANSWER_IS(BINARY("\x0a") "key", INVALID("\x0a"));
	ANSWER_NOTHING("\x80");
	ANSWER_NOTHING("\x80\0\0\3\0\0\0\0\0\0\0\3\xde\xad\xbe\xef\0\0\0\0\0\0\0");
}

/* The pipeline writes the answer over the request in the mbuf. */
static void answers_in_place(void **state)
{
	struct kvl_request req;
	uint8_t memory[KVL_ANSWER_MAX] = FRAME BINARY("\x99") "key";
	size_t len = KVL_FRAME_LEN + 24 + 3;

	memory[3] = 7; /* the sequence is the answer's own */
	assert_int_equal(kvl_request_parse(memory, len, &req), KVL_REQUEST_NO_COMMAND);
	assert_int_equal(
		kvl_request_answer(KVL_REQUEST_NO_COMMAND, &req, memory, len, memory), 8 + 24 + 15);
	assert_memory_equal(
		memory, FRAME BINARY_ERROR("\x99", "\x81") "Unknown command", 8 + 24 + 15);
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
	n = kvl_request_answer(KVL_REQUEST_OVER_QUOTA, &text, request, 32, out);
	assert_memory_equal(out, FRAME "SERVER_ERROR over quota\r\n", n);
	kvl_request_answer(KVL_REQUEST_OVER_QUOTA, &binary, request, 32, out);
	assert_int_equal(out[KVL_FRAME_LEN + 7], 0x85); /* busy */
	kvl_request_answer(KVL_REQUEST_SHED, &binary, request, 32, out);
	assert_int_equal(out[KVL_FRAME_LEN + 7], 0x86); /* temporary failure */
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
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_errors),
		cmocka_unit_test(silence),
		cmocka_unit_test(quiet_is_not_noreply),
		cmocka_unit_test(several_commands_are_answered),
		cmocka_unit_test(binary_errors),
		cmocka_unit_test(answers_in_place),
		cmocka_unit_test(pipeline_verdicts),
		cmocka_unit_test(names_and_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

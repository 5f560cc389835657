/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/proto/binary_test.h"
#include "lib/proto/commands.h"

/* What a datagram falls into: verdict, and the text of each piece. */
struct piece {
	const char *text;
	enum kvl_verdict verdict;
	enum kvl_op op;
};

static void pieces_are(const char *text, size_t text_len, const struct piece *want)
{
	size_t len, at = KVL_FRAME_LEN, n = 0;
	uint8_t *payload = payload_make(text, text_len, &len);
	struct kvl_command c;

	for (; kvl_command_next(payload, len, &at, &c); n++) {
		if (want[n].text == NULL)
			fail_msg("%s: more than %zu pieces", text, n);
		assert_int_equal(c.len, strlen(want[n].text));
		assert_memory_equal(payload + c.off, want[n].text, c.len);
		if (c.verdict != want[n].verdict)
			fail_msg("%s, piece %zu: %s", text, n, kvl_verdict_name(c.verdict));
		assert_int_equal(c.request.op, want[n].op);
	}
	if (want[n].text != NULL)
		fail_msg("%s: %zu pieces only", text, n);
	free(payload);
}

#define PIECES(text, ...) pieces_are(TEXT(text), (struct piece[]){__VA_ARGS__, {NULL}})
#define GOOD_PIECE(text, op)                      \
	{                                         \
		text, KVL_REQUEST_OK, KVL_OP_##op \
	}

static void good_commands(void **state)
{
	PIECES("get a\r\n", GOOD_PIECE("get a\r\n", GET));
	PIECES("get a\r\nget b\n", GOOD_PIECE("get a\r\n", GET), GOOD_PIECE("get b\n", GET));
	PIECES("set a 0 0 7\r\nget b\r\n\r\ndelete a\r\n",
		GOOD_PIECE("set a 0 0 7\r\nget b\r\n\r\n", SET),
		GOOD_PIECE("delete a\r\n", DELETE));
	PIECES("ms a 2 q\r\nab\r\nmn\r\n", GOOD_PIECE("ms a 2 q\r\nab\r\n", MS),
		{"mn\r\n", KVL_REQUEST_KEYLESS, KVL_OP_MN});
	PIECES("get a b\r\nmg a Px\r\n", {"get a b\r\n", KVL_REQUEST_MULTI_KEY, KVL_OP_GET},
		{"mg a Px\r\n", KVL_REQUEST_PROXY_TOKEN, KVL_OP_MG});
}

static void faults_between(void **state)
{
	PIECES("bogus\r\nget a\r\n", {"bogus\r\n", KVL_REQUEST_NO_COMMAND, KVL_OP_NONE},
		GOOD_PIECE("get a\r\n", GET));
	PIECES("\r\nget\r\nincr a x\r\nget a\r\n", {"\r\n", KVL_REQUEST_NO_COMMAND, KVL_OP_NONE},
		{"get\r\n", KVL_REQUEST_ARGS, KVL_OP_GET},
		{"incr a x\r\n", KVL_REQUEST_DELTA, KVL_OP_INCR}, GOOD_PIECE("get a\r\n", GET));
	PIECES("flush_all\r\nget a\r\n", {"flush_all\r\n", KVL_REQUEST_ADMIN, KVL_OP_ADMIN},
		GOOD_PIECE("get a\r\n", GET));
}

/* Its value's length, and so the place of the next command, cannot be trusted. */
static void a_storage_fault_is_the_last(void **state)
{
	PIECES("set a 0 0 40\r\nx\r\nget a\r\n",
		{"set a 0 0 40\r\nx\r\nget a\r\n", KVL_REQUEST_VALUE_SHORT, KVL_OP_SET});
	PIECES("set a 0 0 x\r\nget a\r\n",
		{"set a 0 0 x\r\nget a\r\n", KVL_REQUEST_FORMAT, KVL_OP_SET});
	PIECES("get a\r\nms a 1\r\nxx\r\nget b\r\n", GOOD_PIECE("get a\r\n", GET),
		{"ms a 1\r\nxx\r\nget b\r\n", KVL_REQUEST_VALUE_LONG, KVL_OP_MS});
}

static void a_trailing_piece_is_dropped(void **state)
{
	PIECES("get a\r\nge", GOOD_PIECE("get a\r\n", GET));
	PIECES("get a\r\nget b", GOOD_PIECE("get a\r\n", GET));
	PIECES("get a\r\nset b 0 0 1", GOOD_PIECE("get a\r\n", GET));
}

static void keys_in_order(void **state)
{
	static const char *const want[] = {"a", "bb", "a", "c\tc"};
	size_t len, command = KVL_FRAME_LEN, at = 0, n = 0;
	uint8_t *payload = payload_make(TEXT("gat 0 a  bb a c\tc \r\nget x\r\n"), &len);
	struct kvl_command_key key;
	struct kvl_command c;

	assert_true(kvl_command_next(payload, len, &command, &c));
	assert_int_equal(c.verdict, KVL_REQUEST_MULTI_KEY);
	for (; kvl_command_key_next(payload, &c, &at, &key); n++) {
		assert_int_equal(key.len, strlen(want[n]));
		assert_memory_equal(payload + key.off, want[n], key.len);
	}
	assert_int_equal(n, 4);
	assert_in_range(n + 1, 1, kvl_commands_bound(payload, len));
	free(payload);
}

/* Verdicts of the pieces of some binary commands side by side. */
static void binary_are(const struct binary_packet *packets, size_t count, const char *tail,
	const enum kvl_verdict *want)
{
	uint8_t text[BINARY_PACKET_MAX], *payload;
	size_t text_len = 0, len, at = KVL_FRAME_LEN, n = 0;
	struct kvl_command c;

	for (size_t i = 0; i < count; i++)
		text_len += binary_write(&packets[i], text + text_len);
	memcpy(text + text_len, tail, strlen(tail));
	payload = payload_make((char *)text, text_len + strlen(tail), &len);
	for (; kvl_command_next(payload, len, &at, &c); n++)
		assert_int_equal(c.verdict, want[n]);
	assert_int_equal(want[n], KVL_VERDICT_COUNT);
	free(payload);
}

#define VERDICTS(...)                          \
	(enum kvl_verdict[])                   \
	{                                      \
		__VA_ARGS__, KVL_VERDICT_COUNT \
	}
#define PACKETS(...)                           \
	(struct binary_packet[]){__VA_ARGS__}, \
		sizeof((struct binary_packet[]){__VA_ARGS__}) / sizeof(struct binary_packet)

static void binary_commands(void **state)
{
	binary_are(PACKETS({0x0d, "a"}, {0x01, "b", "v", 8}, {0x0a}), "",
		VERDICTS(KVL_REQUEST_OK, KVL_REQUEST_OK, KVL_REQUEST_KEYLESS));
	binary_are(PACKETS({0x77, "a", "body"}, {0x08}, {0x00, "a"}), "",
		VERDICTS(KVL_REQUEST_NO_COMMAND, KVL_REQUEST_ADMIN, KVL_REQUEST_OK));
	/* memcached closes for these, so what follows is dropped */
	binary_are(PACKETS({0x00, "a"}, {0x00}, {0x00, "a"}), "",
		VERDICTS(KVL_REQUEST_OK, KVL_REQUEST_ARGS));
	binary_are(PACKETS({0x00, "a"}, {0x01, "b", "v", 8, .body_add = 9}), "",
		VERDICTS(KVL_REQUEST_OK, KVL_REQUEST_VALUE_SHORT));
	binary_are(PACKETS({0x00, "a"}), "get a\r\n", VERDICTS(KVL_REQUEST_OK));
	binary_are(PACKETS({0x00, "a"}), "\x80", VERDICTS(KVL_REQUEST_OK));
	binary_are(PACKETS({0x00, "a"}), "text behind, and longer than a header\r\n",
		VERDICTS(KVL_REQUEST_OK));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_commands),
		cmocka_unit_test(faults_between),
		cmocka_unit_test(a_storage_fault_is_the_last),
		cmocka_unit_test(a_trailing_piece_is_dropped),
		cmocka_unit_test(keys_in_order),
		cmocka_unit_test(binary_commands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

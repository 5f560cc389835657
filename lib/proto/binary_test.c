/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/proto/binary_test.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static enum kvl_verdict parse(const struct binary_packet *b, struct kvl_request *req)
{
	uint8_t text[BINARY_PACKET_MAX];
	size_t len = binary_write(b, text);

	return text_parse((const char *)text, len, req);
}

/* All opcodes of memcached 1.6 with the lengths that it wants, and what they are to the router. */
static const struct {
	struct binary_packet packet;
	uint8_t op, kind, flags;
} good[] = {
	{{0x00, "k"}, KVL_OP_GET, KVL_KIND_TOKEN, 0},
	{{0x09, "k"}, KVL_OP_GET, KVL_KIND_TOKEN, KVL_REQ_QUIET},
	{{0x0c, "k"}, KVL_OP_GET, KVL_KIND_TOKEN, 0},
	{{0x0d, "k"}, KVL_OP_GET, KVL_KIND_TOKEN, KVL_REQ_QUIET},
	{{0x01, "k", "value", 8}, KVL_OP_SET, KVL_KIND_WRITE, 0},
	{{0x11, "k", "value", 8}, KVL_OP_SET, KVL_KIND_WRITE, KVL_REQ_QUIET},
	{{0x01, "k", "", 8}, KVL_OP_SET, KVL_KIND_WRITE, 0},
	{{0x02, "k", "v", 8}, KVL_OP_ADD, KVL_KIND_WRITE, 0},
	{{0x12, "k", "v", 8}, KVL_OP_ADD, KVL_KIND_WRITE, KVL_REQ_QUIET},
	{{0x03, "k", "v", 8}, KVL_OP_REPLACE, KVL_KIND_WRITE, 0},
	{{0x13, "k", "v", 8}, KVL_OP_REPLACE, KVL_KIND_WRITE, KVL_REQ_QUIET},
	{{0x04, "k"}, KVL_OP_DELETE, KVL_KIND_WRITE, 0},
	{{0x14, "k"}, KVL_OP_DELETE, KVL_KIND_WRITE, KVL_REQ_QUIET},
	{{0x05, "k", NULL, 20}, KVL_OP_INCR, KVL_KIND_WRITE, 0},
	{{0x15, "k", NULL, 20}, KVL_OP_INCR, KVL_KIND_WRITE, KVL_REQ_QUIET},
	{{0x06, "k", NULL, 20}, KVL_OP_DECR, KVL_KIND_WRITE, 0},
	{{0x16, "k", NULL, 20}, KVL_OP_DECR, KVL_KIND_WRITE, KVL_REQ_QUIET},
	{{0x0e, "k", "v"}, KVL_OP_APPEND, KVL_KIND_WRITE, 0},
	{{0x19, "k", "v"}, KVL_OP_APPEND, KVL_KIND_WRITE, KVL_REQ_QUIET},
	{{0x0f, "k", "v"}, KVL_OP_PREPEND, KVL_KIND_WRITE, 0},
	{{0x1a, "k", "v"}, KVL_OP_PREPEND, KVL_KIND_WRITE, KVL_REQ_QUIET},
	{{0x1c, "k", NULL, 4}, KVL_OP_TOUCH, KVL_KIND_WRITE, 0},
	{{0x1d, "k", NULL, 4}, KVL_OP_GAT, KVL_KIND_WRITE, 0},
	{{0x1e, "k", NULL, 4}, KVL_OP_GAT, KVL_KIND_WRITE, KVL_REQ_QUIET},
	{{0x23, "k", NULL, 4}, KVL_OP_GAT, KVL_KIND_WRITE, 0},
	{{0x24, "k", NULL, 4}, KVL_OP_GAT, KVL_KIND_WRITE, KVL_REQ_QUIET},
	{{0x00, "a key\r\n with anything \xff"}, KVL_OP_GET, KVL_KIND_TOKEN, 0},
};

static void good_requests_are_understood(void **state)
{
	for (size_t i = 0; i < COUNT(good); i++) {
		const struct binary_packet *b = &good[i].packet;
		uint8_t payload[BINARY_PACKET_MAX], scratch[KVL_KEY_MAX];
		struct kvl_request req;
		size_t len;

		if (parse(b, &req) != KVL_REQUEST_OK)
			fail_msg("opcode %#x", b->opcode);
		assert_int_equal(req.proto, KVL_PROTO_BINARY);
		assert_int_equal(req.op, good[i].op);
		assert_int_equal(req.kind, good[i].kind);
		assert_int_equal(req.flags, good[i].flags);
		assert_int_equal(req.value_len, b->value != NULL ? strlen(b->value) : 0);
		binary_write(b, payload + KVL_FRAME_LEN);
		assert_memory_equal(
			kvl_request_key(payload, &req, scratch, &len), b->key, strlen(b->key));
		assert_int_equal(len, strlen(b->key));
	}
}

/* One byte more or less of extras, key or body in the header, and the request does not pass. */
static void wrong_lengths_never_pass(void **state)
{
	struct kvl_request req;

	for (size_t i = 0; i < COUNT(good); i++) {
		struct binary_packet b = good[i].packet;
		bool value = b.value != NULL;

		for (int add = -1; add <= 1; add += 2) {
			b.extras_add = add;
			assert_int_not_equal(parse(&b, &req), KVL_REQUEST_OK);
			b.extras_add = 0;
			b.key_add = add;
			/* with a value behind it a longer key is one all the same */
			if (!value || (add < 0 && strlen(b.key) == 1))
				assert_int_not_equal(parse(&b, &req), KVL_REQUEST_OK);
			b.key_add = 0;
			b.body_add = add;
			if (b.extras + strlen(b.key) != 0)
				assert_int_not_equal(parse(&b, &req), KVL_REQUEST_OK);
			b.body_add = 0;
		}
	}
}

/* The declared body beyond the bytes there would swallow other clients' datagrams. */
static void a_cut_request_is_never_ok(void **state)
{
	struct kvl_request req;

	for (size_t i = 0; i < COUNT(good); i++) {
		uint8_t text[BINARY_PACKET_MAX];
		size_t whole = binary_write(&good[i].packet, text);

		for (size_t len = 0; len < whole; len++) {
			enum kvl_verdict verdict = text_parse((const char *)text, len, &req);

			assert_int_equal(verdict, len == 0   ? KVL_REQUEST_FRAME_SHORT
						  : len < 24 ? KVL_REQUEST_BINARY
							     : KVL_REQUEST_VALUE_SHORT);
		}
	}
}

static void bad_requests_get_their_verdict(void **state)
{
	static char k251[252];
	static const struct {
		struct binary_packet packet;
		enum kvl_verdict verdict;
	} bad[] = {
		{{0x00, k251}, KVL_REQUEST_KEY_LONG},
		{{0x77, k251}, KVL_REQUEST_KEY_LONG},
		{{0x00}, KVL_REQUEST_ARGS},
		{{0x01, "k", "v"}, KVL_REQUEST_ARGS},
		{{0x00, "k", "v"}, KVL_REQUEST_ARGS},
		{{0x00, "k", NULL, 3}, KVL_REQUEST_ARGS},
		{{0x1c, "k", "v", 4}, KVL_REQUEST_ARGS},
		{{0x0e, "k", "v", 8}, KVL_REQUEST_ARGS},
		{{0x77}, KVL_REQUEST_NO_COMMAND},
		{{0x77, "k", "v", 8}, KVL_REQUEST_NO_COMMAND},
		{{0x1b, NULL, NULL, 4}, KVL_REQUEST_NO_COMMAND},
		{{0x20}, KVL_REQUEST_NO_COMMAND},
		{{0x21, "PLAIN", "x"}, KVL_REQUEST_NO_COMMAND},
		{{0x30, "k"}, KVL_REQUEST_NO_COMMAND},
		{{0x00, "k", .key_add = 5}, KVL_REQUEST_NO_COMMAND},
		{{0x00, "k", .body_add = 70000}, KVL_REQUEST_VALUE_HUGE},
		{{0x01, "k", "v", 8, .body_add = -9}, KVL_REQUEST_MULTI_COMMAND},
		{{0x0a}, KVL_REQUEST_KEYLESS},
		{{0x0a, "k"}, KVL_REQUEST_ARGS},
		{{0x0b}, KVL_REQUEST_KEYLESS},
		{{0x10}, KVL_REQUEST_KEYLESS},
		{{0x10, "items"}, KVL_REQUEST_KEYLESS},
		{{0x10, NULL, NULL, 1}, KVL_REQUEST_ARGS},
		{{0x07}, KVL_REQUEST_KEYLESS},
		{{0x17}, KVL_REQUEST_KEYLESS},
		{{0x08}, KVL_REQUEST_ADMIN},
		{{0x08, NULL, NULL, 4}, KVL_REQUEST_ADMIN},
		{{0x08, NULL, NULL, 3}, KVL_REQUEST_ARGS},
		{{0x18}, KVL_REQUEST_ADMIN},
	};
	struct kvl_request req;

	memset(k251, 'k', 251);
	for (size_t i = 0; i < COUNT(bad); i++) {
		enum kvl_verdict verdict = parse(&bad[i].packet, &req);

		if (verdict != bad[i].verdict)
			fail_msg("case %zu: %s, not %s", i, kvl_verdict_name(verdict),
				kvl_verdict_name(bad[i].verdict));
		assert_int_equal(req.proto, KVL_PROTO_BINARY);
	}
}

static void quiet_opcodes_are_known(void **state)
{
	static const uint8_t quiet[] = {0x09, 0x0d, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,
		0x19, 0x1a, 0x1e, 0x24, 0x32, 0x34, 0x36, 0x38, 0x3a, 0x3c};

	for (int opcode = 0; opcode < 256; opcode++) {
		struct binary_packet b = {opcode};
		struct kvl_request req;

		parse(&b, &req);
		assert_int_equal((req.flags & KVL_REQ_QUIET) != 0,
			memchr(quiet, opcode, sizeof(quiet)) != NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_requests_are_understood),
		cmocka_unit_test(wrong_lengths_never_pass),
		cmocka_unit_test(a_cut_request_is_never_ok),
		cmocka_unit_test(bad_requests_get_their_verdict),
		cmocka_unit_test(quiet_opcodes_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

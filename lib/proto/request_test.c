/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "lib/proto/request_bad_cases.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* The differences, if any, with the case's name in front. */
static void verdict_is(const struct request_case *c, enum kvl_verdict verdict)
{
	if (verdict != c->verdict)
		fail_msg("%s: verdict %s, not %s", c->about, kvl_verdict_name(verdict),
			kvl_verdict_name(c->verdict));
}

static void field_is(const struct request_case *c, const char *field, unsigned got, unsigned want)
{
	if (got != want)
		fail_msg("%s: %s %u, not %u", c->about, field, got, want);
}

static void key_is(const struct request_case *c, const struct kvl_request *req)
{
	uint8_t scratch[KVL_KEY_MAX];
	size_t payload_len, len;
	uint8_t *payload = payload_make(c->text, c->text_len, &payload_len);
	const uint8_t *key = kvl_request_key(payload, req, scratch, &len);

	field_is(c, "key length", len, strlen(c->key));
	assert_memory_equal(key, c->key, len);
	free(payload);
}

static void good_requests_are_understood(void **state)
{
	struct kvl_request req;

	for (size_t i = 0; i < COUNT(good_cases); i++) {
		const struct request_case *c = &good_cases[i];

		verdict_is(c, text_parse(c->text, c->text_len, &req));
		field_is(c, "op", req.op, c->op);
		field_is(c, "proto", req.proto,
			c->op >= KVL_OP_MG ? KVL_PROTO_META : KVL_PROTO_TEXT);
		field_is(c, "kind", req.kind, c->kind);
		field_is(c, "flags", req.flags, c->flags);
		field_is(c, "value_len", req.value_len, c->value_len);
		key_is(c, &req);
	}
}

static void bad_requests_get_their_verdict(void **state)
{
	struct kvl_request req;

	for (size_t i = 0; i < COUNT(bad_cases); i++) {
		const struct request_case *c = &bad_cases[i];

		verdict_is(c, text_parse(c->text, c->text_len, &req));
		field_is(c, "op", req.op, c->op);
		field_is(c, "flags", req.flags, c->flags);
	}
}

/*
 * Cut anywhere, a request must not become another one. No request of the table has a shorter one
 * at its start (a line end inside is always followed by a value), so none of the pieces may pass.
 */
static void a_cut_request_is_never_ok(void **state)
{
	struct kvl_request req;

	for (size_t i = 0; i < COUNT(good_cases); i++) {
		const struct request_case *c = &good_cases[i];

		for (size_t len = 0; len < c->text_len; len++) {
			if (text_parse(c->text, len, &req) == KVL_REQUEST_OK)
				fail_msg("%s, cut to %zu bytes, passed", c->about, len);
		}
	}
}

/* One byte changed anywhere in the command line must not make the parser look beyond the end. */
static void a_spoilt_byte_is_survived(void **state)
{
	static const char spoil[] = {'\0', '\n', '\r', ' ', '\t', '-', '9', 'q', '\x7f', '\xff'};
	struct kvl_request req;

	for (size_t i = 0; i < COUNT(good_cases); i++) {
		const struct request_case *c = &good_cases[i];
		char text[512];

		for (size_t at = 0; at < c->text_len * sizeof(spoil); at++) {
			memcpy(text, c->text, c->text_len);
			text[at / sizeof(spoil)] = spoil[at % sizeof(spoil)];
			if (!kvl_verdict_good(text_parse(text, c->text_len, &req))
				|| req.key_len == 0)
				continue;
			assert_in_range(req.key_len, 1, KVL_KEY_MAX);
			assert_in_range(req.key_off, KVL_FRAME_LEN + 3,
				KVL_FRAME_LEN + c->text_len - req.key_len - 1);
		}
	}
}

/* Every key length at every alignment of the end, over the 16-byte steps of the scan. */
static void key_lengths(void **state)
{
	struct kvl_request req;
	char text[2][300];

	for (int key = 1; key <= KVL_KEY_MAX + 1; key++) {
		char name[KVL_KEY_MAX + 2];

		memset(name, 'k', key);
		name[key] = '\0';
		for (int tail = 0; tail < 20; tail++) {
			int len =
				snprintf(text[0], sizeof(text[0]), "get %s%*s\r\n", name, tail, "");
			enum kvl_verdict verdict = text_parse(text[0], len, &req);

			assert_int_equal(verdict,
				key <= KVL_KEY_MAX ? KVL_REQUEST_OK : KVL_REQUEST_KEY_LONG);
			assert_int_equal(req.key_len, key <= KVL_KEY_MAX ? key : 0);
		}
		int len = snprintf(text[1], sizeof(text[1]), "mg %s v\r\n", name);

		assert_int_equal(text_parse(text[1], len, &req),
			key <= KVL_KEY_MAX ? KVL_REQUEST_OK : KVL_REQUEST_KEY_LONG);
	}
}

/* Values up to what a datagram carries: n-1, n and n+1 bytes for a declared n. */
static void value_lengths(void **state)
{
	static const int lengths[] = {1, 2, 100, 1391, 1392, 1400, 8192, 65400};
	static char text[70000];
	struct kvl_request req;

	for (size_t i = 0; i < COUNT(lengths); i++) {
		for (int more = -1; more <= 1; more++) {
			static const enum kvl_verdict verdicts[] = {
				KVL_REQUEST_VALUE_SHORT, KVL_REQUEST_OK, KVL_REQUEST_VALUE_LONG};
			int len = sprintf(text, "set k 0 0 %d\r\n", lengths[i]);

			memset(text + len, 'v', lengths[i] + more);
			len += lengths[i] + more;
			memcpy(text + len, "\r\n", 2);
			assert_int_equal(text_parse(text, len + 2, &req), verdicts[more + 1]);
			if (more == 0)
				assert_int_equal(req.value_len, lengths[i]);
		}
	}
}

static void payload_beyond_64k(void **state)
{
	static char text[70000] = "get ";
	struct kvl_request req;

	memset(text + 4, ' ', sizeof(text) - 4);
	memcpy(text + sizeof(text) - 3, "k\r\n", 3);
	assert_int_equal(text_parse(text, sizeof(text), &req), KVL_REQUEST_VALUE_HUGE);
	/* the key's offset just fits */
	memcpy(text + UINT16_MAX - KVL_FRAME_LEN - 3, "k\r\n", 3);
	assert_int_equal(text_parse(text, UINT16_MAX - KVL_FRAME_LEN, &req), KVL_REQUEST_OK);
	assert_int_equal(req.key_off, UINT16_MAX - 3);
}

static void frame_faults(void **state)
{
	struct kvl_request req;
	const uint8_t none[9] = {0, 0, 0, 0, 0, 1, 0, 0, 'g'};
	uint8_t total[] = "\0\1\0\0\0\0\0\0get k\r\n";

	for (size_t len = 0; len <= KVL_FRAME_LEN; len++)
		assert_int_equal(kvl_request_parse(none, len, &req), KVL_REQUEST_FRAME_SHORT);
	assert_int_equal(kvl_request_parse(total, 15, &req), KVL_REQUEST_FRAME_TOTAL);
	total[5] = 2;
	assert_int_equal(kvl_request_parse(total, 15, &req), KVL_REQUEST_FRAME_TOTAL);
	total[4] = 1;
	total[5] = 1;
	assert_int_equal(kvl_request_parse(total, 15, &req), KVL_REQUEST_FRAME_TOTAL);
	/* sequence and reserved are ignored, as memcached does */
	memcpy(total + 2, "\xff\xff\0\1\xff\xff", 6);
	assert_int_equal(kvl_request_parse(total, 15, &req), KVL_REQUEST_OK);
}

/* The parser's own verdicts; the pipeline's are not its to give. */
static void every_verdict_is_reached(void **state)
{
	bool seen[KVL_VERDICT_COUNT] = {
		[KVL_REQUEST_OK] = true,
		[KVL_REQUEST_FRAME_SHORT] = true, /* frame_faults */
		[KVL_REQUEST_FRAME_TOTAL] = true,
		[KVL_REQUEST_BINARY] = true,      /* binary_test.c */
		[KVL_REQUEST_PROXY_TOKEN] = true, /* good_cases */
		[KVL_REQUEST_NO_NODE] = true,
		[KVL_REQUEST_NO_REPLY] = true,
		[KVL_REQUEST_REPLY_HUGE] = true,
		[KVL_REQUEST_PATH_MTU] = true,
		[KVL_REQUEST_TABLE_FULL] = true,
		[KVL_REQUEST_OVER_QUOTA] = true,
		[KVL_REQUEST_SHED] = true,
	};

	for (size_t i = 0; i < COUNT(bad_cases); i++)
		seen[bad_cases[i].verdict] = true;
	for (int v = 0; v < KVL_VERDICT_COUNT; v++) {
		if (!seen[v])
			fail_msg("no case has verdict %s", kvl_verdict_name(v));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_requests_are_understood),
		cmocka_unit_test(bad_requests_get_their_verdict),
		cmocka_unit_test(a_cut_request_is_never_ok),
		cmocka_unit_test(a_spoilt_byte_is_survived),
		cmocka_unit_test(key_lengths),
		cmocka_unit_test(value_lengths),
		cmocka_unit_test(payload_beyond_64k),
		cmocka_unit_test(frame_faults),
		cmocka_unit_test(every_verdict_is_reached),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "lib/proto/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(what)            \
	do {                     \
		if (!(what))     \
			abort(); \
	} while (0)

/* The key is one token of the datagram, as memcached sees tokens: the bytes around it end it. */
static void key_check(const uint8_t *data, size_t size, const struct kvl_request *req)
{
	size_t end = (size_t)req->key_off + req->key_len;

	REQUIRE(req->key_len >= 1 && req->key_len <= KVL_KEY_MAX);
	REQUIRE(req->key_off > KVL_FRAME_LEN && end < size);
	REQUIRE(data[req->key_off - 1] == ' ');
	REQUIRE(data[end] == ' ' || data[end] == '\r' || data[end] == '\n');
	for (size_t i = req->key_off; i < end; i++)
		REQUIRE(data[i] != ' ' && data[i] != '\r' && data[i] != '\n' && data[i] != '\0');
}

/* The lengths of a binary header add up to the datagram, and the key lies where they say. */
static void binary_check(const uint8_t *data, size_t size, const struct kvl_request *req)
{
	const uint8_t *p = data + KVL_FRAME_LEN;
	size_t key_len = p[2] << 8 | p[3], extras = p[4];
	size_t body = (size_t)p[8] << 24 | p[9] << 16 | p[10] << 8 | p[11];

	REQUIRE(p[0] == 0x80 && size == KVL_FRAME_LEN + 24 + body);
	REQUIRE(req->key_len == key_len && key_len >= 1 && key_len <= KVL_KEY_MAX);
	REQUIRE(req->key_off == KVL_FRAME_LEN + 24 + extras);
	REQUIRE(req->value_len == body - extras - key_len);
}

/* Nothing follows the one line, or exactly the declared value and its CR LF do. */
static void extent_check(const uint8_t *data, size_t size, const struct kvl_request *req)
{
	const uint8_t *text = data + KVL_FRAME_LEN;
	const uint8_t *lf = memchr(text, '\n', size - KVL_FRAME_LEN);
	bool storage = (req->op >= KVL_OP_SET && req->op <= KVL_OP_CAS) || req->op == KVL_OP_MS;

	REQUIRE(lf != NULL);
	REQUIRE(memchr(text, '\0', lf - text) == NULL);

	size_t rest = data + size - (lf + 1);

	if (!storage) {
		REQUIRE(rest == 0 && req->value_len == 0);
		return;
	}
	REQUIRE(rest == (size_t)req->value_len + 2);
	REQUIRE(memcmp(data + size - 2, "\r\n", 2) == 0);
}

static void scratch_check(const uint8_t *data, const struct kvl_request *req)
{
	uint8_t *scratch = malloc(KVL_KEY_MAX);
	size_t len;

	REQUIRE(kvl_request_key(data, req, scratch, &len) != NULL);
	REQUIRE(len >= 1 && len <= req->key_len);
	free(scratch);
}

static void answer_check(
	enum kvl_verdict verdict, const uint8_t *data, size_t size, const struct kvl_request *req)
{
	uint8_t *out = malloc(KVL_ANSWER_MAX);
	size_t len = kvl_request_answer(verdict, req, data, size, out);

	REQUIRE(len <= KVL_ANSWER_MAX);
	if (len != 0) {
		REQUIRE(len > KVL_FRAME_LEN && verdict != KVL_REQUEST_OK);
		REQUIRE(memcmp(out, data, 2) == 0 && memcmp(out + 2, "\0\0\0\1\0\0", 6) == 0);
	}
	free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kvl_request req;
	enum kvl_verdict verdict = kvl_request_parse(data, size, &req);

	REQUIRE(verdict < KVL_VERDICT_COUNT);
	REQUIRE(req.op < KVL_OP_COUNT && req.kind <= KVL_KIND_ADMIN);
	if (verdict == KVL_REQUEST_OK && req.proto == KVL_PROTO_BINARY) {
		binary_check(data, size, &req);
	} else if (verdict == KVL_REQUEST_OK || verdict == KVL_REQUEST_PROXY_TOKEN) {
		key_check(data, size, &req);
		extent_check(data, size, &req);
		scratch_check(data, &req);
	}
	answer_check(verdict, data, size, &req);
	return 0;
}

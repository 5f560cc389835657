/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "lib/model/rules.h"
#include "lib/proto/hint.h"
#include "lib/proto/part.h"
#include "tests/fuzz/fuzz.h"

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

/* Rules that share much with each other, so that a key of few changes meets all their edges. */
static void rules_check(const uint8_t *key, size_t len)
{
	static const char *const prefixes[] = {"a", "k", "ke", "key",
		"key:", "key:aaaaaaaaaaaaaaaa", "key:aaaaaaaaaaaaaaaab", "key:aaaaaaaaaaaaaaaabb",
		"kf", "user:", "user:1", "\xff"};
	static struct kvl_rules *table;
	int want = -1;
	unsigned int got;

	if (table == NULL) {
		struct kvl_rule rules[sizeof(prefixes) / sizeof(*prefixes)] = {0};
		unsigned int count = sizeof(prefixes) / sizeof(*prefixes);

		for (unsigned int i = 0; i < count; i++) {
			rules[i].len = (uint8_t)strlen(prefixes[i]);
			rules[i].target = (uint16_t)i;
			memcpy(rules[i].prefix, prefixes[i], rules[i].len);
		}
		table = malloc(kvl_rules_size(count));
		REQUIRE(kvl_rules_build(table, rules, count) == 0);
	}
	for (unsigned int i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (strlen(prefixes[i]) <= len && memcmp(prefixes[i], key, strlen(prefixes[i])) == 0
			&& (want < 0 || strlen(prefixes[i]) > strlen(prefixes[want])))
			want = (int)i;
	got = kvl_rules_match(table, key, len);
	REQUIRE((got == KVL_RULE_NONE ? -1 : table->rules[got].target) == want);
}

static void scratch_check(const uint8_t *data, const struct kvl_request *req)
{
	uint8_t *scratch = malloc(KVL_KEY_MAX);
	size_t len;

	REQUIRE(kvl_request_key(data, req, scratch, &len) != NULL);
	REQUIRE(len >= 1 && len <= req->key_len);
	rules_check(kvl_request_key(data, req, scratch, &len), len);
	free(scratch);
}

/* Hints are taken and blanked, as the router does it; then the request is an ordinary one. */
static void hints_check(const uint8_t *data, size_t size, struct kvl_request req)
{
	const struct kvl_request before = req;
	uint8_t *copy = malloc(size), *line = copy + KVL_FRAME_LEN;
	size_t len, off, tokens = 0;
	struct kvl_request plain;

	memcpy(copy, data, size);
	while ((len = kvl_proxy_token(line, size - KVL_FRAME_LEN, &off)) != 0) {
		bool taken = kvl_hint_take(&req, line + off, len);

		REQUIRE(off + len <= size - KVL_FRAME_LEN && len >= 1);
		REQUIRE(!taken || req.kind == KVL_KIND_READ);
		memset(line + off, ' ', len);
		REQUIRE(++tokens <= 2); /* a flag stands once */
	}
	REQUIRE(tokens >= 1);
	REQUIRE((req.flags & ~(KVL_REQ_STRONG | KVL_REQ_EVENTUAL | KVL_REQ_LAG)) == before.flags);
	REQUIRE((req.flags & KVL_REQ_LAG) || req.value_len == before.value_len);
	REQUIRE(kvl_request_parse(copy, size, &plain) == KVL_REQUEST_OK);
	REQUIRE(plain.key_off == before.key_off && plain.key_len == before.key_len);
	REQUIRE(!(plain.flags & KVL_REQ_PROXY));
	free(copy);
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
	REQUIRE(req.op < KVL_OP_COUNT && req.kind <= KVL_KIND_TOKEN);
	if (verdict == KVL_REQUEST_OK && req.proto == KVL_PROTO_BINARY) {
		binary_check(data, size, &req);
	} else if (verdict == KVL_REQUEST_OK || verdict == KVL_REQUEST_PROXY_TOKEN) {
		key_check(data, size, &req);
		extent_check(data, size, &req);
		scratch_check(data, &req);
		if (verdict == KVL_REQUEST_PROXY_TOKEN)
			hints_check(data, size, req);
	}
	answer_check(verdict, data, size, &req);
	return 0;
}

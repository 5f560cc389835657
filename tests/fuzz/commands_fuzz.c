/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A datagram taken apart: the commands lie one behind the other, and whatever a node would be sent
 * for one of them is, by itself, a request that passes the parser with the same key. So no piece
 * of a datagram can poison a node, whatever its neighbours are.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/proto/hint.h"
#include "lib/proto/local.h"
#include "lib/proto/part.h"
#include "tests/fuzz/fuzz.h"

static void part_check(const uint8_t *data, const struct kvl_command *c, struct kvl_command_key key,
	const uint8_t *part, size_t part_len)
{
	uint8_t *alone = malloc(KVL_FRAME_LEN + part_len);
	struct kvl_request req;

	memcpy(alone, "\0\1\0\0\0\1\0\0", KVL_FRAME_LEN);
	memcpy(alone + KVL_FRAME_LEN, part, part_len);
	REQUIRE(kvl_request_parse(alone, KVL_FRAME_LEN + part_len, &req) == KVL_REQUEST_OK);
	REQUIRE(req.op == c->request.op && req.key_len == key.len);
	REQUIRE(memcmp(alone + req.key_off, data + key.off, key.len) == 0);
	REQUIRE(req.proto == KVL_PROTO_BINARY || !(req.flags & (KVL_REQ_QUIET | KVL_REQ_PROXY)));
	free(alone);
}

static size_t parts_check(const uint8_t *data, const struct kvl_command *c)
{
	struct kvl_command_key key = {c->request.key_off, c->request.key_len};
	uint16_t words = c->request.key_off - c->off;
	uint8_t *out = malloc(c->len + 2);
	size_t at = 0, parts = 0;

	if (!kvl_command_is_retrieval(&c->request)) {
		size_t len = kvl_part_command(
			data, c->off, c->len, c->request.proto, c->request.flags, out);

		REQUIRE(len == c->len);
		part_check(data, c, key, out, len);
		parts++;
	} else {
		while (kvl_command_key_next(data, c, &at, &key)) {
			size_t len = kvl_part_retrieval(data, c->off, words, key.off, key.len, out);

			REQUIRE(len <= (size_t)c->len + 2);
			part_check(data, c, key, out, len);
			parts++;
		}
		REQUIRE(parts >= 1 && (parts == 1) == (c->verdict == KVL_REQUEST_OK));
	}
	free(out);
	return parts;
}

/* Hints of one command never reach into the next. */
static void hints_check(const uint8_t *data, const struct kvl_command *c)
{
	struct kvl_request req = c->request;
	uint8_t *command = malloc(c->len);
	size_t len, off, tokens = 0;

	memcpy(command, data + c->off, c->len);
	while ((len = kvl_proxy_token(command, c->len, &off)) != 0) {
		REQUIRE(off + len <= c->len && ++tokens <= 2);
		kvl_hint_take(&req, command + off, len);
		memset(command + off, ' ', len);
	}
	REQUIRE(tokens >= 1);
	free(command);
}

static void answers_check(const uint8_t *data, const struct kvl_command *c)
{
	static const struct kvl_local_stat stats[] = {{"one", NULL, 1}, {"two", "text", 0}};
	uint8_t *out = malloc(KVL_LOCAL_MAX);

	if (c->verdict == KVL_REQUEST_KEYLESS)
		REQUIRE(kvl_local_answer(&c->request, data + c->off, c->len, stats, 2, out)
			<= KVL_LOCAL_MAX);
	else
		REQUIRE(kvl_command_answer(c->verdict, &c->request, data + c->off, out)
			<= KVL_ANSWER_MAX);
	free(out);
}

static void unanswered_check(const uint8_t *data, const struct kvl_command *c)
{
	uint8_t *out = malloc(KVL_UNANSWERED_MAX);

	for (int miss = 0; miss <= 1; miss++)
		REQUIRE(kvl_part_unanswered(
				KVL_REQUEST_NO_REPLY, miss, &c->request, data + c->off, out)
			<= KVL_UNANSWERED_MAX);
	free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t at = KVL_FRAME_LEN, parts = 0;
	struct kvl_command c;

	if (size <= KVL_FRAME_LEN || size > UINT16_MAX)
		return 0;
	for (size_t before = at; kvl_command_next(data, size, &at, &c); before = at) {
		REQUIRE(c.off == before && c.len != 0 && c.off + c.len <= size && at > before);
		REQUIRE(at == (size_t)c.off + c.len || at == size);
		REQUIRE(c.verdict < KVL_VERDICT_COUNT && c.verdict != KVL_REQUEST_MULTI_COMMAND);
		if (!kvl_verdict_good(c.verdict) || c.verdict == KVL_REQUEST_KEYLESS) {
			answers_check(data, &c);
			parts++;
			continue;
		}
		parts += parts_check(data, &c);
		unanswered_check(data, &c);
		if (c.verdict == KVL_REQUEST_PROXY_TOKEN)
			hints_check(data, &c);
	}
	REQUIRE(parts <= kvl_commands_bound(data, size));
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/proto/binary.h"
#include "lib/proto/request.h"

static const struct {
	const char *name;
	const char *answer;
} verdicts[] = {
#define X(e, name, answer) [e] = {name, answer},
	KVL_VERDICTS(X)
#undef X
};

const char *kvl_verdict_name(enum kvl_verdict verdict)
{
	return verdict < KVL_VERDICT_COUNT ? verdicts[verdict].name : "unknown";
}

/*
 * As memcached does it: noreply hides errors too, while meta's q and the binary quiet opcodes hide
 * only what went well, for their users wait for a fence and take silence for success. Several
 * commands are refused together, unread behind the first: one of them may be waited for, so the
 * first one's noreply does not count.
 */
static bool answer_wanted(enum kvl_verdict verdict, const struct kvl_request *req)
{
	bool noreply = req->proto == KVL_PROTO_TEXT && (req->flags & KVL_REQ_QUIET);

	if (verdict >= KVL_VERDICT_COUNT || verdicts[verdict].answer == NULL)
		return false;
	return verdict == KVL_REQUEST_MULTI_COMMAND || !noreply;
}

static size_t text_answer(const char *text, uint8_t *out)
{
	size_t len = strlen(text);

	memcpy(out, text, len);
	return len;
}

size_t kvl_command_answer(enum kvl_verdict verdict, const struct kvl_request *req,
	const uint8_t *command, uint8_t *out)
{
	if (!answer_wanted(verdict, req))
		return 0;
	if (req->proto == KVL_PROTO_BINARY)
		return binary_error(verdict, verdicts[verdict].answer, command, out);
	return text_answer(verdicts[verdict].answer, out);
}

struct kvl_echo kvl_command_echo(const struct kvl_request *req, const uint8_t *command)
{
	struct kvl_echo echo = {.proto = req->proto};

	if (req->proto == KVL_PROTO_BINARY) {
		echo.opcode = command[BINARY_OPCODE];
		memcpy(&echo.opaque, command + BINARY_OPAQUE, sizeof(echo.opaque));
	}
	return echo;
}

size_t kvl_echo_answer(
	enum kvl_verdict verdict, const struct kvl_echo *echo, uint8_t out[KVL_ANSWER_MAX])
{
	const struct kvl_request req = {.proto = echo->proto};
	uint8_t command[BINARY_HEADER_LEN] = {BINARY_REQUEST};

	command[BINARY_OPCODE] = echo->opcode;
	memcpy(command + BINARY_OPAQUE, &echo->opaque, sizeof(echo->opaque));
	return kvl_command_answer(verdict, &req, command, out);
}

size_t kvl_request_answer(enum kvl_verdict verdict, const struct kvl_request *req,
	const uint8_t *payload, size_t len, uint8_t out[KVL_ANSWER_MAX])
{
	static const uint8_t sequence_0_total_1[] = {0, 0, 0, 1, 0, 0};
	size_t body;

	if (len < KVL_FRAME_LEN
		|| (req->proto == KVL_PROTO_BINARY && len < KVL_FRAME_LEN + BINARY_HEADER_LEN))
		return 0;

	uint8_t id[2] = {payload[0], payload[1]};

	body = kvl_command_answer(verdict, req, payload + KVL_FRAME_LEN, out + KVL_FRAME_LEN);
	if (body == 0)
		return 0;
	memcpy(out, id, sizeof(id));
	memcpy(out + sizeof(id), sequence_0_total_1, sizeof(sequence_0_total_1));
	return KVL_FRAME_LEN + body;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/proto/part.h"
#include "lib/proto/binary.h"
#include "lib/proto/line.h"

size_t kvl_part_retrieval(const uint8_t *payload, uint16_t off, uint16_t words, uint16_t key_off,
	uint16_t key_len, uint8_t *out)
{
	memcpy(out, payload + off, words);
	memcpy(out + words, payload + key_off, key_len);
	memcpy(out + words + key_len, "\r\n", 2);
	return (size_t)words + key_len + 2;
}

static void token_blank(const uint8_t *base, const uint8_t *token, size_t len, uint8_t *out)
{
	memset(out + (token - base), ' ', len);
}

static bool token_goes(const uint8_t *token, size_t len, unsigned place, uint8_t proto)
{
	if (proto == KVL_PROTO_TEXT)
		return len == 7 && place >= 2 && memcmp(token, "noreply", 7) == 0;
	return place >= 2 && ((len == 1 && *token == 'q') || *token == 'P' || *token == 'L');
}

size_t kvl_part_command(const uint8_t *payload, uint16_t off, uint16_t len, uint8_t proto,
	uint8_t flags, uint8_t *out)
{
	const uint8_t *base = payload + off;
	struct line l = {payload, base, base + len};

	memcpy(out, base, len);
	if (proto == KVL_PROTO_BINARY || !(flags & (KVL_REQ_QUIET | KVL_REQ_PROXY)))
		return len;
	for (unsigned place = 0; line_more(&l); place++) {
		const uint8_t *token = l.p;
		size_t token_len = line_token(&l);

		if (token_len == 0)
			break;
		if (token_goes(token, token_len, place, proto))
			token_blank(base, token, token_len, out);
	}
	return len;
}

/* Meta hides the ordinary end of each command, and nothing else. */
static bool meta_hidden(uint8_t op, const uint8_t *reply, size_t len)
{
	if (len < 2)
		return false;
	switch (op) {
	case KVL_OP_MG:
		return memcmp(reply, "EN", 2) == 0;
	case KVL_OP_MS:
	case KVL_OP_MD:
		return memcmp(reply, "HD", 2) == 0;
	case KVL_OP_MA:
		return memcmp(reply, "HD", 2) == 0 || memcmp(reply, "VA", 2) == 0;
	default:
		return false;
	}
}

bool kvl_part_hidden(uint8_t proto, uint8_t op, uint8_t flags, const uint8_t *reply, size_t len)
{
	if (!(flags & KVL_REQ_QUIET) || proto == KVL_PROTO_BINARY)
		return false; /* a node hides by itself what a quiet opcode hides */
	return proto == KVL_PROTO_TEXT || meta_hidden(op, reply, len);
}

size_t kvl_proxy_token(const uint8_t *line, size_t len, size_t *off)
{
	struct line l = {line, line, line + len};

	for (unsigned place = 0; line_more(&l); place++) {
		const uint8_t *token = l.p;
		size_t token_len = line_token(&l);

		if (token_len == 0)
			break;
		if (place >= 2 && (*token == 'P' || *token == 'L')) {
			*off = token - line;
			return token_len;
		}
	}
	return 0;
}

/* memcached's miss: with the key when the opcode wants it, else with words. */
static size_t binary_miss(const uint8_t *command, uint8_t *out)
{
	uint16_t key_len = command[BINARY_KEY] << 8 | command[BINARY_KEY + 1];
	const uint8_t *key = command + BINARY_HEADER_LEN + command[BINARY_EXTRAS];
	static const char words[] = "Not found";

	if (!binary_opcode_keyed_reply(command[BINARY_OPCODE])) {
		binary_reply_header(command, BINARY_STATUS_NOT_FOUND, 0, sizeof(words) - 1, out);
		memcpy(out + BINARY_HEADER_LEN, words, sizeof(words) - 1);
		return BINARY_HEADER_LEN + sizeof(words) - 1;
	}
	binary_reply_header(command, BINARY_STATUS_NOT_FOUND, key_len, key_len, out);
	memcpy(out + BINARY_HEADER_LEN, key, key_len);
	return BINARY_HEADER_LEN + key_len;
}

static bool can_miss(const struct kvl_request *req, const uint8_t *command)
{
	if (req->proto == KVL_PROTO_BINARY)
		return binary_opcode_reads(command[BINARY_OPCODE]);
	return req->op == KVL_OP_MG || req->op == KVL_OP_ME;
}

size_t kvl_part_unanswered(enum kvl_verdict verdict, bool miss, const struct kvl_request *req,
	const uint8_t *command, uint8_t out[KVL_UNANSWERED_MAX])
{
	if (!miss || kvl_verdict_refused(verdict) || !can_miss(req, command))
		return kvl_command_answer(verdict, req, command, out);
	if (req->flags & KVL_REQ_QUIET)
		return 0;
	if (req->proto == KVL_PROTO_BINARY)
		return binary_miss(command, out);
	memcpy(out, "EN\r\n", 4);
	return 4;
}

int64_t kvl_part_values(const uint8_t *head, const uint8_t *tail, size_t len)
{
	if (len == 5 && memcmp(head, "END\r\n", 5) == 0)
		return 0;
	if (len < KVL_RETRIEVAL_HEAD + KVL_RETRIEVAL_TAIL || memcmp(head, "VALUE ", 6) != 0
		|| memcmp(tail, "\r\nEND\r\n", KVL_RETRIEVAL_TAIL) != 0)
		return -1;
	return (int64_t)len - 5;
}

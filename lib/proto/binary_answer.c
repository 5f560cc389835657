/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/proto/binary.h"

/* Replies in the binary protocol that the router makes itself. */

static uint8_t status_of(enum kvl_verdict verdict)
{
	switch (verdict) {
	case KVL_REQUEST_ARGS:
	case KVL_REQUEST_KEY_LONG:
	case KVL_REQUEST_VALUE_SHORT:
		return BINARY_STATUS_INVALID;
	case KVL_REQUEST_VALUE_HUGE:
	case KVL_REQUEST_PATH_MTU:
		return BINARY_STATUS_TOO_LARGE;
	case KVL_REQUEST_NO_NODE:
	case KVL_REQUEST_NO_REPLY:
	case KVL_REQUEST_SHED:
		return BINARY_STATUS_TEMPORARY;
	case KVL_REQUEST_TABLE_FULL:
	case KVL_REQUEST_OVER_QUOTA:
		return BINARY_STATUS_BUSY;
	default:
		return BINARY_STATUS_UNKNOWN;
	}
}

/* memcached's own words where it has some for the case. */
static const char *body_of(enum kvl_verdict verdict, const char *text)
{
	switch (verdict) {
	case KVL_REQUEST_NO_COMMAND:
		return "Unknown command";
	case KVL_REQUEST_ARGS:
	case KVL_REQUEST_KEY_LONG:
	case KVL_REQUEST_VALUE_SHORT:
		return "Invalid arguments";
	case KVL_REQUEST_VALUE_HUGE:
		return "Too large.";
	default:
		return text;
	}
}

void binary_reply_header(const uint8_t *request, uint8_t status, uint16_t key_len,
	uint32_t body_len, uint8_t out[BINARY_HEADER_LEN])
{
	uint8_t opcode = request[BINARY_OPCODE];
	uint8_t opaque[4];

	/* `out` may lie over the request: take all of it before writing any */
	memcpy(opaque, request + BINARY_OPAQUE, sizeof(opaque));
	memset(out, 0, BINARY_HEADER_LEN);
	out[0] = BINARY_REPLY;
	out[BINARY_OPCODE] = opcode;
	out[BINARY_KEY] = key_len >> 8;
	out[BINARY_KEY + 1] = key_len;
	out[BINARY_STATUS + 1] = status;
	for (unsigned i = 0; i < 4; i++)
		out[BINARY_BODY + i] = body_len >> (24 - 8 * i);
	memcpy(out + BINARY_OPAQUE, opaque, sizeof(opaque));
}

size_t binary_error(
	enum kvl_verdict verdict, const char *text, const uint8_t *request, uint8_t *out)
{
	const char *words = body_of(verdict, text);
	size_t body = strcspn(words, "\r");

	binary_reply_header(request, status_of(verdict), 0, body, out);
	memcpy(out + BINARY_HEADER_LEN, words, body);
	return BINARY_HEADER_LEN + body;
}

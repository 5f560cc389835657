/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/proto/request.h"

/* One datagram and what the parser has to make of it. Frame 0x1234, 0, 1, 0 is put in front. */
struct request_case {
	const char *about;
	const char *text;
	size_t text_len; /* CASE() takes it from the literal, so NULs may be inside */
	enum kvl_verdict verdict;
	uint8_t op, kind, flags;
	const char *key; /* as hashed: decoded for base64; NULL: not looked at */
	uint32_t value_len;
};

#define TEXT(t) (t), sizeof(t) - 1

/* A payload in a block of its exact size, so that ASan sees a read beyond it. */
static inline uint8_t *payload_make(const char *text, size_t text_len, size_t *len)
{
	static const uint8_t frame[KVL_FRAME_LEN] = {0x12, 0x34, 0, 0, 0, 1, 0, 0};
	uint8_t *payload;

	*len = sizeof(frame) + text_len;
	payload = malloc(*len);
	assert_non_null(payload);
	memcpy(payload, frame, sizeof(frame));
	memcpy(payload + sizeof(frame), text, text_len);
	return payload;
}

static inline enum kvl_verdict text_parse(
	const char *text, size_t text_len, struct kvl_request *req)
{
	size_t len;
	uint8_t *payload = payload_make(text, text_len, &len);
	enum kvl_verdict verdict = kvl_request_parse(payload, len, req);

	free(payload);
	return verdict;
}

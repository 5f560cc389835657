/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lib/proto/request.h"
#include "lib/proto/scan.h"

/*
 * A get of one key and nothing else, CR LF at the very end: nearly all traffic of most services.
 * Here, so that it is inlined where bursts of them are parsed; kvl_request_parse() begins with it
 * too. False for all others, right or wrong, and for keys shorter than four bytes.
 */
#define GET_KEY_AT  (KVL_FRAME_LEN + 4)
#define GET_KEY_MIN 4 /* then 16 bytes stand before the line's end, as scan_clear() wants */

/* Frame's total and reserved field, and the command word: total is 1, reserved may be anything. */
static inline bool get_head(const uint8_t *payload)
{
	static const uint8_t mask[8] = {0xff, 0xff, 0, 0, 0xff, 0xff, 0xff, 0xff};
	static const uint8_t want[8] = {0, 1, 0, 0, 'g', 'e', 't', ' '};

	return (load64(payload + 4) & load64(mask)) == load64(want);
}

static inline bool kvl_get_parse(const uint8_t *payload, size_t len, struct kvl_request *req)
{
	size_t key_len = len - GET_KEY_AT - 2;
	const uint8_t *key = payload + GET_KEY_AT;

	if (key_len - GET_KEY_MIN > KVL_KEY_MAX - GET_KEY_MIN || !get_head(payload)
		|| key[key_len] != '\r' || key[key_len + 1] != '\n' || !scan_clear(key, key_len))
		return false;
	*req = (struct kvl_request){.key_off = GET_KEY_AT,
		.key_len = key_len,
		.op = KVL_OP_GET,
		.kind = KVL_KIND_READ,
		.flags = KVL_REQ_IDEMPOTENT};
	return true;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/proto/reply.h"

#include <errno.h>

#include "lib/proto/binary.h"
#include "lib/proto/scan.h"

#define STARTS(p, n, word) ((n) >= sizeof(word) - 1 && memcmp(p, word, sizeof(word) - 1) == 0)

/* HD, VA and the like: two letters, then a flag or the line's end. */
static enum kvl_reply_kind meta_kind(const uint8_t *p)
{
	if (p[2] != ' ' && p[2] != '\r')
		return KVL_REPLY_OTHER;
	switch (p[0] << 8 | p[1]) {
	case 'V' << 8 | 'A':
	case 'M' << 8 | 'E':
		return KVL_REPLY_HIT;
	case 'E' << 8 | 'N':
	case 'N' << 8 | 'F':
		return KVL_REPLY_MISS;
	case 'H' << 8 | 'D':
	case 'O' << 8 | 'K':
		return KVL_REPLY_OK;
	case 'N' << 8 | 'S':
	case 'E' << 8 | 'X':
		return KVL_REPLY_NOT;
	}
	return KVL_REPLY_OTHER;
}

/* An item too large is the client's doing: it must not count against the node. */
static enum kvl_reply_kind server_error_kind(const uint8_t *p, size_t n)
{
	if (!STARTS(p, n, "SERVER_ERROR"))
		return KVL_REPLY_OTHER;
	return STARTS(p, n, "SERVER_ERROR object too large") ? KVL_REPLY_ERROR : KVL_REPLY_REJECT;
}

static enum kvl_reply_kind text_kind(const uint8_t *p, size_t n)
{
	if (n < 4)
		return KVL_REPLY_OTHER;
	switch (load32(p)) {
	case WORD4('V', 'A', 'L', 'U'):
		return STARTS(p, n, "VALUE ") ? KVL_REPLY_HIT : KVL_REPLY_OTHER;
	case WORD4('E', 'N', 'D', '\r'):
		return KVL_REPLY_MISS;
	case WORD4('S', 'T', 'O', 'R'):
		return STARTS(p, n, "STORED\r") ? KVL_REPLY_OK : KVL_REPLY_OTHER;
	case WORD4('D', 'E', 'L', 'E'):
		return STARTS(p, n, "DELETED\r") ? KVL_REPLY_OK : KVL_REPLY_OTHER;
	case WORD4('T', 'O', 'U', 'C'):
		return STARTS(p, n, "TOUCHED\r") ? KVL_REPLY_OK : KVL_REPLY_OTHER;
	case WORD4('E', 'X', 'I', 'S'):
		return STARTS(p, n, "EXISTS\r") ? KVL_REPLY_NOT : KVL_REPLY_OTHER;
	case WORD4('N', 'O', 'T', '_'):
		if (STARTS(p, n, "NOT_FOUND\r"))
			return KVL_REPLY_MISS;
		return STARTS(p, n, "NOT_STORED\r") ? KVL_REPLY_NOT : KVL_REPLY_OTHER;
	case WORD4('E', 'R', 'R', 'O'):
		return STARTS(p, n, "ERROR") ? KVL_REPLY_ERROR : KVL_REPLY_OTHER;
	case WORD4('C', 'L', 'I', 'E'):
		return STARTS(p, n, "CLIENT_ERROR") ? KVL_REPLY_ERROR : KVL_REPLY_OTHER;
	case WORD4('S', 'E', 'R', 'V'):
		return server_error_kind(p, n);
	}
	return meta_kind(p);
}

static enum kvl_reply_kind binary_success_kind(uint8_t opcode)
{
	switch (opcode) {
	case 0x07: /* quit */
	case 0x0a: /* noop */
	case 0x0b: /* version */
	case 0x10: /* stat */
		return KVL_REPLY_OTHER;
	}
	return binary_opcode_reads(opcode) ? KVL_REPLY_HIT : KVL_REPLY_OK;
}

static enum kvl_reply_kind binary_kind(const uint8_t *p, size_t n)
{
	if (n < BINARY_HEADER_LEN)
		return KVL_REPLY_OTHER;
	switch (p[BINARY_STATUS] << 8 | p[BINARY_STATUS + 1]) {
	case BINARY_STATUS_OK:
		return binary_success_kind(p[BINARY_OPCODE]);
	case BINARY_STATUS_NOT_FOUND:
		return KVL_REPLY_MISS;
	case BINARY_STATUS_EXISTS:
	case BINARY_STATUS_NOT_STORED:
		return KVL_REPLY_NOT;
	case BINARY_STATUS_NO_MEMORY:
	case BINARY_STATUS_INTERNAL:
	case BINARY_STATUS_BUSY:
	case BINARY_STATUS_TEMPORARY:
		return KVL_REPLY_REJECT;
	}
	return KVL_REPLY_ERROR;
}

static uint16_t load_be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

int kvl_reply_parse(const uint8_t *payload, size_t len, struct kvl_reply *reply)
{
	if (len < KVL_FRAME_LEN)
		return -EINVAL;
	reply->id = load_be16(payload);
	reply->sequence = load_be16(payload + 2);
	reply->total = load_be16(payload + 4);
	reply->kind = KVL_REPLY_OTHER;

	const uint8_t *p = payload + KVL_FRAME_LEN;
	size_t n = len - KVL_FRAME_LEN;

	if (reply->total == 0) {
		/* what memcached sends when all it would have said was hidden or missed */
		if (n == 0)
			reply->kind = KVL_REPLY_MISS;
		return reply->sequence == 0 ? 0 : -EINVAL;
	}
	if (reply->sequence >= reply->total || n == 0)
		return -EINVAL;
	if (reply->sequence == 0)
		reply->kind = *p == BINARY_REPLY ? binary_kind(p, n) : text_kind(p, n);
	return 0;
}

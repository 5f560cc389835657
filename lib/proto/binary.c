/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/proto/binary.h"

/* Opcodes that stay silent on success or miss, as a set. */
static bool opcode_quiet(uint8_t opcode)
{
	const uint64_t quiet =
		1ull << 0x09 | 1ull << 0x0d                     /* getq getkq */
		| 0xffull << 0x11 | 1ull << 0x19 | 1ull << 0x1a /* setq..flushq appendq prependq */
		| 1ull << 0x1e | 1ull << 0x24                   /* gatq gatkq */
		| 1ull << 0x32 | 1ull << 0x34 | 1ull << 0x36    /* the range protocol's */
		| 1ull << 0x38 | 1ull << 0x3a | 1ull << 0x3c;

	return opcode < 64 && (quiet >> opcode & 1);
}

bool binary_opcode_reads(uint8_t opcode)
{
	const uint64_t reads = 1ull << 0x00 | 1ull << 0x09 | 1ull << 0x0c | 1ull << 0x0d
			       | 1ull << 0x1d | 1ull << 0x1e | 1ull << 0x23 | 1ull << 0x24;

	return opcode < 64 && (reads >> opcode & 1);
}

enum kvl_verdict binary_request(const uint8_t *p, const uint8_t *end, struct kvl_request *req)
{
	req->proto = KVL_PROTO_BINARY;
	if (end - p > BINARY_OPCODE && opcode_quiet(p[BINARY_OPCODE]))
		req->flags |= KVL_REQ_QUIET;
	return KVL_REQUEST_BINARY;
}

static uint8_t status_of(enum kvl_verdict verdict)
{
	switch (verdict) {
	case KVL_REQUEST_NO_NODE:
		return BINARY_STATUS_TEMPORARY;
	case KVL_REQUEST_TABLE_FULL:
		return BINARY_STATUS_BUSY;
	default:
		return BINARY_STATUS_UNKNOWN;
	}
}

size_t binary_answer(enum kvl_verdict verdict, const char *text, const uint8_t *payload, size_t len,
	uint8_t *out, size_t room)
{
	const uint8_t *header = payload + KVL_FRAME_LEN;
	uint8_t opaque[4];
	size_t body = strcspn(text, "\r");

	if (len < KVL_FRAME_LEN + BINARY_HEADER_LEN || BINARY_HEADER_LEN + body > room)
		return 0;

	uint8_t opcode = header[BINARY_OPCODE];

	/* `out` may lie over the request: take all of it before writing any */
	memcpy(opaque, header + BINARY_OPAQUE, sizeof(opaque));
	memset(out, 0, BINARY_HEADER_LEN);
	out[0] = BINARY_REPLY;
	out[BINARY_OPCODE] = opcode;
	out[BINARY_STATUS + 1] = status_of(verdict);
	out[BINARY_BODY + 3] = body;
	memcpy(out + BINARY_OPAQUE, opaque, sizeof(opaque));
	memcpy(out + BINARY_HEADER_LEN, text, body);
	return BINARY_HEADER_LEN + body;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lib/proto/line.h"

/* memcached's binary protocol (doc/protocol-binary.xml); a request's header is a reply's too. */
#define BINARY_REQUEST    0x80
#define BINARY_REPLY      0x81
#define BINARY_HEADER_LEN 24

/* Offsets in the header. */
#define BINARY_OPCODE 1
#define BINARY_KEY    2 /* its length, two bytes */
#define BINARY_EXTRAS 4 /* their length */
#define BINARY_STATUS 6
#define BINARY_BODY   8 /* its length, four bytes: extras, key and value */
#define BINARY_OPAQUE 12
#define BINARY_CAS    16

enum binary_opcode {
	BINARY_QUIT = 0x07,
	BINARY_NOOP = 0x0a,
	BINARY_VERSION = 0x0b,
	BINARY_GETK = 0x0c,
	BINARY_GETKQ = 0x0d,
	BINARY_STAT = 0x10,
	BINARY_QUITQ = 0x17,
	BINARY_GATK = 0x23,
	BINARY_GATKQ = 0x24,
};

enum binary_status {
	BINARY_STATUS_OK = 0x00,
	BINARY_STATUS_NOT_FOUND = 0x01,
	BINARY_STATUS_EXISTS = 0x02,
	BINARY_STATUS_TOO_LARGE = 0x03,
	BINARY_STATUS_INVALID = 0x04,
	BINARY_STATUS_NOT_STORED = 0x05,
	BINARY_STATUS_UNKNOWN = 0x81,
	BINARY_STATUS_NO_MEMORY = 0x82,
	BINARY_STATUS_INTERNAL = 0x84,
	BINARY_STATUS_BUSY = 0x85,
	BINARY_STATUS_TEMPORARY = 0x86,
};

/* True for the get family, whose success is a hit. */
bool binary_opcode_reads(uint8_t opcode);

/* Opcodes that stay silent on success or miss. */
bool binary_opcode_quiet(uint8_t opcode);

/* Opcodes whose reply carries the key: getk, gatk and their quiet forms. */
static inline bool binary_opcode_keyed_reply(uint8_t opcode)
{
	return (opcode | 1) == BINARY_GETKQ || opcode == BINARY_GATK || opcode == BINARY_GATKQ;
}

/*
 * One binary command at `p`, at least one byte. Its declared lengths must be those of its opcode
 * and, together, exactly the bytes up to `end`; KVL_REQUEST_MULTI_COMMAND: more follows it.
 * Key, value and lengths are noted in req when its header is whole.
 */
enum kvl_verdict binary_request(
	const uint8_t *base, const uint8_t *p, const uint8_t *end, struct kvl_request *req);

/* Header and body as the header declares, no check made. */
static inline uint64_t binary_extent(const uint8_t *p)
{
	return BINARY_HEADER_LEN
	       + ((uint64_t)p[BINARY_BODY] << 24 | p[BINARY_BODY + 1] << 16
		       | p[BINARY_BODY + 2] << 8 | p[BINARY_BODY + 3]);
}

/*
 * A reply's header at `out`, echoing the request's opcode and opaque; `out` may lie over `request`.
 * The body is the caller's to write.
 */
void binary_reply_header(const uint8_t *request, uint8_t status, uint16_t key_len,
	uint32_t body_len, uint8_t out[BINARY_HEADER_LEN]);

/* The error reply to the header at `request`; returns its length, at most 128. */
size_t binary_error(
	enum kvl_verdict verdict, const char *text, const uint8_t *request, uint8_t *out);

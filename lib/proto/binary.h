/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lib/proto/line.h"

/* memcached's binary protocol (doc/protocol-binary.xml); a request's header is a reply's too. */
#define BINARY_REQUEST    0x80
#define BINARY_REPLY      0x81
#define BINARY_HEADER_LEN 24

/* Offsets in the header. */
#define BINARY_OPCODE 1
#define BINARY_STATUS 6
#define BINARY_BODY   8 /* its length, four bytes */
#define BINARY_OPAQUE 12

enum binary_status {
	BINARY_STATUS_OK = 0x00,
	BINARY_STATUS_NOT_FOUND = 0x01,
	BINARY_STATUS_EXISTS = 0x02,
	BINARY_STATUS_NOT_STORED = 0x05,
	BINARY_STATUS_UNKNOWN = 0x81,
	BINARY_STATUS_NO_MEMORY = 0x82,
	BINARY_STATUS_INTERNAL = 0x84,
	BINARY_STATUS_BUSY = 0x85,
	BINARY_STATUS_TEMPORARY = 0x86,
};

/* True for the get family, whose success is a hit. */
bool binary_opcode_reads(uint8_t opcode);

/* Recognises what is at `p` and refuses it: binary requests are not routed. */
enum kvl_verdict binary_request(const uint8_t *p, const uint8_t *end, struct kvl_request *req);

/* The error reply behind the frame; returns its length, or 0 if the request has no header. */
size_t binary_answer(enum kvl_verdict verdict, const char *text, const uint8_t *payload, size_t len,
	uint8_t *out, size_t room);

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lib/proto/request_test.h"

/* A binary request as its parts; the header's lengths follow them unless said otherwise. */
struct binary_packet {
	uint8_t opcode;
	const char *key, *value;
	uint8_t extras; /* bytes of them, all zero */
	int body_add;   /* a lie about the body's length */
	int extras_add, key_add;
};

#define BINARY_PACKET_MAX 2048

static inline size_t binary_write(const struct binary_packet *b, uint8_t *out)
{
	size_t key_len = b->key != NULL ? strlen(b->key) : 0;
	size_t value_len = b->value != NULL ? strlen(b->value) : 0;
	size_t body = b->extras + key_len + value_len;
	uint32_t said = body + b->body_add;
	uint8_t header[24] = {0x80, b->opcode, (key_len + b->key_add) >> 8, key_len + b->key_add,
		b->extras + b->extras_add, 0, 0, 0, said >> 24, said >> 16, said >> 8, said, 0xde,
		0xad, 0xbe, 0xef};

	memcpy(out, header, sizeof(header));
	memset(out + 24, 0, b->extras);
	if (key_len != 0)
		memcpy(out + 24 + b->extras, b->key, key_len);
	if (value_len != 0)
		memcpy(out + 24 + b->extras + key_len, b->value, value_len);
	return 24 + body;
}

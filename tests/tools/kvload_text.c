/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "tests/tools/kvload.h"

static uint64_t mix(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdull;
	x ^= x >> 33;
	return x;
}

/* The one right value of a key: printable, and different in every 16 bytes from any other's. */
static void value_write(const struct kvload_options *o, uint32_t key, uint8_t *out)
{
	char chunk[17];

	for (uint32_t at = 0; at < o->value_size; at += 16) {
		uint32_t n = o->value_size - at < 16 ? o->value_size - at : 16;

		snprintf(chunk, sizeof(chunk), "%016llx",
			(unsigned long long)mix((uint64_t)key << 32 | at));
		memcpy(out + at, chunk, n);
	}
}

size_t kvload_request_write(
	const struct kvload_options *o, uint16_t id, uint32_t key, bool set, uint8_t *out)
{
	const uint8_t frame[8] = {id >> 8, id, 0, 0, 0, 1, 0, 0};
	char *text = (char *)out + sizeof(frame);
	size_t n;

	memcpy(out, frame, sizeof(frame));
	if (!set)
		return sizeof(frame)
		       + (size_t)sprintf(
			       text, o->meta ? "mg key:%08u v\r\n" : "get key:%08u\r\n", key);
	if (o->meta)
		n = (size_t)sprintf(
			text, "ms key:%08u %u%s\r\n", key, o->value_size, o->noreply ? " q" : "");
	else
		n = (size_t)sprintf(text, "set key:%08u 0 0 %u%s\r\n", key, o->value_size,
			o->noreply ? " noreply" : "");
	value_write(o, key, (uint8_t *)text + n);
	memcpy(text + n + o->value_size, "\r\n", 2);
	return sizeof(frame) + n + o->value_size + 2;
}

static bool reply_is(const uint8_t *reply, size_t length, const char *text)
{
	return length == strlen(text) && memcmp(reply, text, length) == 0;
}

static bool starts(const uint8_t *reply, size_t length, const char *text)
{
	return length >= strlen(text) && memcmp(reply, text, strlen(text)) == 0;
}

static bool value_is_right(
	const struct kvload_options *o, uint32_t key, const uint8_t *reply, size_t length)
{
	static uint8_t expected[KVLOAD_VALUE + 128];
	int head =
		o->meta ? sprintf((char *)expected, "VA %u\r\n", o->value_size)
			: sprintf((char *)expected, "VALUE key:%08u 0 %u\r\n", key, o->value_size);
	const char *tail = o->meta ? "\r\n" : "\r\nEND\r\n";

	value_write(o, key, expected + head);
	memcpy(expected + head + o->value_size, tail, strlen(tail));
	return length == (size_t)head + o->value_size + strlen(tail)
	       && memcmp(reply, expected, length) == 0;
}

enum kvload_verdict kvload_reply_judge(
	const struct kvload_options *o, uint32_t key, bool set, const uint8_t *reply, size_t length)
{
	if (starts(reply, length, "ERROR") || starts(reply, length, "CLIENT_ERROR ")
		|| starts(reply, length, "SERVER_ERROR "))
		return KVLOAD_ERROR;
	if (set)
		return reply_is(reply, length, o->meta ? "HD\r\n" : "STORED\r\n") ? KVLOAD_STORED
										  : KVLOAD_WRONG;
	if (reply_is(reply, length, o->meta ? "EN\r\n" : "END\r\n"))
		return KVLOAD_MISS;
	return value_is_right(o, key, reply, length) ? KVLOAD_HIT : KVLOAD_WRONG;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/proto/stat_lines.h"
#include "lib/proto/binary.h"

#define DIGITS_MAX 20

/* A stat's value as text: its own, or its number in `digits`. */
static const char *value_text(const struct kvl_local_stat *s, char digits[DIGITS_MAX + 1])
{
	char *p = digits + DIGITS_MAX;
	uint64_t n = s->number;

	if (s->text != NULL)
		return s->text;
	*p = '\0';
	do {
		*--p = '0' + n % 10;
		n /= 10;
	} while (n != 0);
	return p;
}

static uint8_t *put(uint8_t *at, const char *text)
{
	size_t len = strlen(text);

	memcpy(at, text, len);
	return at + len;
}

size_t stat_lines_text(const struct kvl_local_stat *stats, size_t count, uint8_t *out)
{
	uint8_t *p = out;

	for (size_t i = 0; i < count; i++) {
		char digits[DIGITS_MAX + 1];
		const char *value = value_text(&stats[i], digits);
		size_t len = strlen(stats[i].name) + strlen(value) + sizeof("STAT  \r\nEND\r\n");

		if ((size_t)(p - out) + len > KVL_LOCAL_MAX)
			break;
		p = put(put(put(put(put(p, "STAT "), stats[i].name), " "), value), "\r\n");
	}
	return put(p, "END\r\n") - out;
}

size_t stat_lines_binary(
	const struct kvl_local_stat *stats, size_t count, const uint8_t *request, uint8_t *out)
{
	uint8_t header[BINARY_HEADER_LEN], *p = out;

	memcpy(header, request,
		sizeof(header)); /* each reply echoes it, and `out` may lie over it */
	for (size_t i = 0; i < count; i++) {
		char digits[DIGITS_MAX + 1];
		const char *value = value_text(&stats[i], digits);
		size_t key = strlen(stats[i].name), body = key + strlen(value);

		if ((size_t)(p - out) + body + 2 * BINARY_HEADER_LEN > KVL_LOCAL_MAX)
			break;
		binary_reply_header(header, BINARY_STATUS_OK, key, body, p);
		p = put(put(p + BINARY_HEADER_LEN, stats[i].name), value);
	}
	binary_reply_header(header, BINARY_STATUS_OK, 0, 0, p);
	return p + BINARY_HEADER_LEN - out;
}

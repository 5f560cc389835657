/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/proto/base64.h"

#define BASE64_BAD 0xff

static uint8_t sextet(uint8_t c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c == '+')
		return 62;
	return c == '/' ? 63 : BASE64_BAD;
}

static size_t padding(const uint8_t *text, size_t len)
{
	if (text[len - 1] != '=')
		return 0;
	return text[len - 2] == '=' ? 2 : 1;
}

bool base64_key_valid(const uint8_t *text, size_t len)
{
	if (len == 0 || len % 4 != 0)
		return false;

	size_t digits = len - padding(text, len);

	for (size_t i = 0; i < digits; i++) {
		if (sextet(text[i]) == BASE64_BAD)
			return false;
	}
	return true;
}

size_t base64_key_decode(const uint8_t *text, size_t len, uint8_t *out)
{
	size_t digits = len - padding(text, len);
	uint32_t bits = 0;
	size_t n = 0;

	for (size_t i = 0; i < digits; i++) {
		bits = bits << 6 | sextet(text[i]);
		if (i % 4 != 0)
			out[n++] = bits >> (6 - i % 4 * 2);
	}
	return n;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/proto/hint.h"

#include <string.h>

static bool word_is(const uint8_t *token, size_t len, const char *word)
{
	return len == strlen(word) && memcmp(token, word, len) == 0;
}

/* Decimal digits, below 2^32. */
static bool count_read(const uint8_t *digits, size_t len, uint32_t *out)
{
	uint64_t n = 0;

	if (len == 0 || len > 10)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (digits[i] < '0' || digits[i] > '9')
			return false;
		n = 10 * n + (digits[i] - '0');
	}
	*out = (uint32_t)n;
	return n <= UINT32_MAX;
}

bool kvl_hint_take(struct kvl_request *req, const uint8_t *token, size_t len)
{
	uint32_t lag;

	if (req->kind != KVL_KIND_READ)
		return false;
	if (word_is(token, len, "Pstrong")) {
		req->flags |= KVL_REQ_STRONG;
		return true;
	}
	if (word_is(token, len, "Peventual")) {
		req->flags |= KVL_REQ_EVENTUAL;
		return true;
	}
	if (len == 0 || *token != 'L' || !count_read(token + 1, len - 1, &lag))
		return false;
	req->flags |= KVL_REQ_LAG;
	req->lag_allowed = lag;
	return true;
}

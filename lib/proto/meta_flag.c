/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/proto/meta_flag.h"
#include "lib/proto/number.h"

/* Exactly one of `modes`; 1.6.45 would take any tail behind it. */
static bool mode_letter(struct line *l, const char *modes, uint8_t *mode)
{
	if (l->p == l->end || *l->p == '\0' || strchr(modes, *l->p) == NULL)
		return false;
	*mode = *l->p++;
	return line_at_gap(l);
}

enum kvl_verdict meta_argument(struct line *l, uint8_t c, const char *modes, uint8_t *mode)
{
	uint64_t value;
	bool good = false;

	switch (c) {
	case 'N':
	case 'R':
	case 'T':
		good = number_exptime(l);
		break;
	case 'F':
		good = number_unsigned(l, NUMBER_DIGITS_32, UINT32_MAX, &value);
		break;
	case 'C':
	case 'E':
	case 'D':
	case 'J':
		good = number_unsigned(l, NUMBER_DIGITS_64, UINT64_MAX, &value);
		break;
	case 'M':
		good = mode_letter(l, modes, mode);
		break;
	case 'O':
		if (line_token(l) > META_OPAQUE_MAX)
			return KVL_REQUEST_META_OPAQUE;
		good = line_at_gap(l);
		break;
	case 'P':
	case 'L':
		line_token(l);
		good = line_at_gap(l);
		break;
	}
	return good ? KVL_REQUEST_OK : KVL_REQUEST_META_TOKEN;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/model/prefix.h"

#include <errno.h>
#include <stdio.h>

/* Decimal digits, at most `most`; -1 when it is none. */
static int length_parse(const char *text, int most)
{
	int n = 0;

	if (*text == '\0' || (*text == '0' && text[1] != '\0'))
		return -1;
	for (; *text != '\0'; text++) {
		if (*text < '0' || *text > '9')
			return -1;
		n = 10 * n + (*text - '0');
		if (n > most)
			return -1;
	}
	return n;
}

/* Clears what is behind the prefix; returns whether anything was set there. */
static bool rest_clear(struct kvl_prefix *p)
{
	bool was_set = false;

	for (unsigned int bit = p->len; bit < 128; bit++) {
		uint8_t mask = 0x80 >> bit % 8;

		was_set |= p->address.bytes[bit / 8] & mask;
		p->address.bytes[bit / 8] &= ~mask;
	}
	return was_set;
}

int kvl_prefix_parse(const char *text, struct kvl_prefix *out)
{
	const char *slash = strchr(text, '/');
	size_t n = slash == NULL ? strlen(text) : (size_t)(slash - text);
	struct kvl_prefix p = {.len = 128};
	char address[KVL_ADDR_STRLEN];
	bool v4;
	int len;

	if (n >= sizeof(address))
		return -EINVAL;
	memcpy(address, text, n);
	address[n] = '\0';
	if (kvl_addr_parse(address, &p.address) < 0)
		return -EINVAL;
	v4 = kvl_addr_is_v4(&p.address);
	if (slash != NULL) {
		len = length_parse(slash + 1, v4 ? 32 : 128);
		if (len < 0)
			return -EINVAL;
		p.len = (uint8_t)(v4 ? KVL_PREFIX_V4 + len : len);
	}
	*out = p;
	return rest_clear(out) ? -ERANGE : 0;
}

const char *kvl_prefix_format(const struct kvl_prefix *p, char buf[KVL_PREFIX_STRLEN])
{
	char text[KVL_ADDR_STRLEN];

	snprintf(buf, KVL_PREFIX_STRLEN, "%s/%u", kvl_addr_format(&p->address, text),
		kvl_prefix_is_v4(p) ? p->len - (unsigned int)KVL_PREFIX_V4 : p->len);
	return buf;
}

bool kvl_prefix_covers(const struct kvl_prefix *outer, const struct kvl_prefix *inner)
{
	unsigned int whole = outer->len / 8, rest = outer->len % 8;

	if (outer->len > inner->len || kvl_prefix_is_v4(outer) != kvl_prefix_is_v4(inner)
		|| memcmp(outer->address.bytes, inner->address.bytes, whole) != 0)
		return false;
	return rest == 0
	       || (outer->address.bytes[whole] ^ inner->address.bytes[whole]) >> (8 - rest) == 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/model/addr.h"

#include <arpa/inet.h>
#include <errno.h>

int kvl_addr_parse(const char *text, struct kvl_addr *out)
{
	struct kvl_addr v6;
	struct in_addr v4;

	if (inet_pton(AF_INET, text, &v4) == 1) {
		*out = kvl_addr_from_v4(v4.s_addr);
		return 0;
	}
	if (inet_pton(AF_INET6, text, v6.bytes) == 1) {
		*out = v6;
		return 0;
	}
	return -EINVAL;
}

const char *kvl_addr_format(const struct kvl_addr *a, char buf[KVL_ADDR_STRLEN])
{
	/* Neither call can fail: the families are known and the buffer holds the longest text. */
	if (kvl_addr_is_v4(a))
		inet_ntop(AF_INET, a->bytes + 12, buf, KVL_ADDR_STRLEN);
	else
		inet_ntop(AF_INET6, a->bytes, buf, KVL_ADDR_STRLEN);
	return buf;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20; /* letters to lower case */
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int kvl_mac_parse(const char *text, uint8_t mac[6])
{
	uint8_t out[6];

	for (int i = 0; i < 6; i++, text += 3) {
		int high = hex_digit(text[0]);
		int low = high < 0 ? -1 : hex_digit(text[1]);

		if (low < 0 || text[2] != (i < 5 ? ':' : '\0'))
			return -EINVAL;
		out[i] = (uint8_t)(high << 4 | low);
	}
	memcpy(mac, out, sizeof(out));
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "ctrl/api/format.h"

json_t *kvl_json_hex(uint64_t value)
{
	return json_sprintf("0x%016llx", (unsigned long long)value);
}

json_t *kvl_json_mac(const uint8_t mac[6])
{
	return json_sprintf(
		"%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
}

json_t *kvl_json_endpoint(const struct kvl_addr *addr, uint16_t port)
{
	char text[KVL_ADDR_STRLEN];

	kvl_addr_format(addr, text);
	return json_sprintf(kvl_addr_is_v4(addr) ? "%s:%u" : "[%s]:%u", text, port);
}

json_t *kvl_json_text(const char *text)
{
	return text == NULL ? json_null() : json_string(text);
}

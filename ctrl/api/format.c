/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
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

json_t *kvl_json_number(double value)
{
	return isnan(value) ? json_null() : json_real(value);
}

json_t *kvl_json_terms(const struct kvl_breakdown *b)
{
	json_t *object = json_object();

	for (unsigned int t = 0; t < KVL_TERM_COUNT; t++)
		if (b->known & 1u << t)
			json_object_set_new(object, kvl_term_name(t), json_real(b->points[t]));
	return object;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/model/draft.h"

#include <errno.h>
#include <string.h>

/* `http:`: where metrics, health and questions are served, and reports taken as JSON. */

/* Unlike a service's, the address may be this host's own to itself, or any of its own. */
static int set_listen(const struct field *f, const char *text, void *to, char *why, size_t size)
{
	struct kvl_addr addr;
	const bool good = kvl_addr_parse(text, &addr) == 0;

	if (good && (kvl_addr_is_v4(&addr) ? addr.bytes[12] >> 4 < 0xe : addr.bytes[0] != 0xff)) {
		memcpy(to, &addr, sizeof(addr));
		return 0;
	}
	snprintf(why, size, "must be a numeric IP address of this host, or 0.0.0.0 for all");
	return -EINVAL;
}

static const struct field http_fields[] = {
	{"address", set_listen, AT(struct kvl_http_config, address)},
	{"port", set_uint, AT(struct kvl_http_config, port), .min = 1, .max = UINT16_MAX,
		.required = true},
};

void http_walk(struct walk *w, yaml_node_t *value, const char *path, void *object)
{
	struct kvl_http_config *http = &((struct draft *)object)->config->http;

	walk_map(w, value, path, http_fields, sizeof(http_fields) / sizeof(*http_fields), http,
		NULL);
	http->on = true;
}

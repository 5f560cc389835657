/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/model/draft.h"

/* `http:`: where metrics, health and questions are served, and reports taken as JSON. */

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

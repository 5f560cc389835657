/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/model/draft.h"

#include <errno.h>
#include <string.h>

#include "lib/wire/report.h"

/* `reports:`: where nodes' reports are taken, and the secrets that they are signed with. */

/* A secret is never repeated in a message. */
static int set_secret(const struct field *f, const char *text, void *to, char *why, size_t size)
{
	size_t len = strlen(text);

	if (len >= KVL_REPORT_SECRET_MIN && len <= KVL_REPORT_SECRET_MAX) {
		memcpy(to, text, len + 1);
		return 0;
	}
	snprintf(why, size, "must have %d..%d characters", KVL_REPORT_SECRET_MIN,
		KVL_REPORT_SECRET_MAX);
	return -EINVAL;
}

static const struct field key_fields[] = {
	{"id", set_uint, AT(struct kvl_report_secret, id), .min = 1, .max = UINT32_MAX,
		.required = true},
	{"secret", set_secret, AT(struct kvl_report_secret, secret), .required = true,
		.secret = true},
};

static void key_walk(struct walk *w, yaml_node_t *element, const char *path, void *object)
{
	struct kvl_reports_config *r = object;

	walk_map(w, element, path, key_fields, 2, &r->keys[r->key_count], NULL);
	for (size_t i = 0; i < r->key_count; i++)
		if (r->keys[i].id == r->keys[r->key_count].id)
			walk_fault(w, walk_pos(element), path, NULL, "id of keys[%zu] as well", i);
	r->key_count++;
}

static void keys_walk(struct walk *w, yaml_node_t *value, const char *path, void *object)
{
	walk_list(w, value, path, KVL_REPORT_KEYS_MAX, key_walk, object);
}

static const struct field reports_fields[] = {
	{"address", set_listen, AT(struct kvl_reports_config, address)},
	{"port", set_uint, AT(struct kvl_reports_config, port), .min = 1, .max = UINT16_MAX},
	{"interval_ms", set_uint, AT(struct kvl_reports_config, interval_ms), .min = 100,
		.max = 60000},
	{"keys", .nested = keys_walk, .required = true},
};

void reports_walk(struct walk *w, yaml_node_t *value, const char *path, void *object)
{
	struct draft *d = object;
	struct kvl_reports_config *r = &d->config->reports;

	walk_map(w, value, path, reports_fields, sizeof(reports_fields) / sizeof(*reports_fields),
		r, NULL);
	if (!w->faulty && r->key_count == 0)
		walk_fault(w, walk_pos(value), path, NULL,
			"keys: at least one is needed: reports that nobody signed are not taken");
	r->on = true;
}

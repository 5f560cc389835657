/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "ctrl/api/commands.h"
#include "ctrl/core/tune.h"
#include "lib/model/scoring_fields.h"

/*
 * `set`, `unset`, `get`: fields of a service's scoring, and a node's weight, while it runs. Values
 * are text, as in the configuration file and by the same rules. Several in one request are taken
 * all, or none.
 */
#define PREFIX "scoring."

static struct kvl_service_config *service_find(
	struct kvl_router *r, const char *name, struct kvl_message_error *error)
{
	struct kvl_service_config *c = kvl_config_service(r->config, name);

	if (c != NULL)
		return c;
	return kvl_message_fail(error, KVL_CODE_NOT_FOUND,
		"there is no such service: `kvlanectl services` lists them");
}

static struct kvl_node_config *node_find(
	struct kvl_router *r, const char *id, struct kvl_message_error *error)
{
	struct kvl_node_config *c = kvl_config_node(r->config, id);

	if (c != NULL)
		return c;
	return kvl_message_fail(
		error, KVL_CODE_NOT_FOUND, "there is no such node: `kvlanectl nodes` lists them");
}

/* The number of "scoring.NAME"; negative with *error filled. */
static int field_find(const char *name, struct kvl_message_error *error)
{
	char why[160] = "names start with " PREFIX;
	int i = -ENOENT;

	if (strncmp(name, PREFIX, strlen(PREFIX)) == 0)
		i = kvl_scoring_find(name + strlen(PREFIX), why, sizeof(why));
	if (i < 0)
		kvl_message_fail(error, KVL_CODE_PARAMS, "%s", why);
	return i;
}

/* ---- what is ---- */

static json_t *field_object(
	const struct kvl_router *r, const struct kvl_service_config *c, size_t i)
{
	const struct kvl_scoring_config *file = &c->scoring;
	bool set = kvl_overrides_field(&r->overrides, c->name, i, &file);
	char now[KVL_SCORING_TEXT], of_file[KVL_SCORING_TEXT];

	return json_pack("{s:o, s:s, s:s, s:b}", "name",
		json_sprintf(PREFIX "%s", kvl_scoring_name(i)), "value",
		kvl_scoring_get(&c->scoring, i, now), "file", kvl_scoring_get(file, i, of_file),
		"set", set);
}

/* The fields of the mask. */
static json_t *fields_list(
	const struct kvl_router *r, const struct kvl_service_config *c, uint32_t fields)
{
	json_t *list = json_array();

	for (size_t i = 0; kvl_scoring_name(i) != NULL; i++)
		if (fields & 1u << i)
			json_array_append_new(list, field_object(r, c, i));
	return list;
}

static json_t *weight_list(const struct kvl_router *r, const struct kvl_node_config *c)
{
	const struct kvl_override_node *n = kvl_overrides_node(&r->overrides, c->id);

	return json_pack("[{s:s, s:o, s:o, s:b}]", "name", "weight", "value",
		json_sprintf("%u", c->weight), "file",
		json_sprintf("%u", n != NULL ? n->file : c->weight), "set", n != NULL);
}

/* Of services that share a pool the first one's scoring counts. */
static const char *pool_scored_by(const struct kvl_router *r, const char *pool)
{
	size_t i = 0;

	while (strcmp(r->config->services[i].pool, pool) != 0)
		i++; /* the caller's own service has it */
	return r->config->services[i].name;
}

static json_t *service_answer(
	const struct kvl_router *r, const struct kvl_service_config *c, uint32_t fields)
{
	return json_pack("{s:s, s:s, s:s, s:I, s:o}", "service", c->name, "pool", c->pool,
		"scored_by", pool_scored_by(r, c->pool), "revision",
		(json_int_t)r->topology->revision, "fields", fields_list(r, c, fields));
}

json_t *kvl_overrides_list(const struct kvl_router *r)
{
	json_t *list = json_array();

	for (size_t s = 0; s < KVL_SERVICES_MAX; s++) {
		const struct kvl_override_service *o = &r->overrides.services[s];
		char now[KVL_SCORING_TEXT], file[KVL_SCORING_TEXT];

		for (size_t i = 0; o->fields >> i != 0; i++)
			if (o->fields & 1u << i)
				json_array_append_new(list,
					json_pack("{s:s, s:o, s:s, s:s}", "service", o->name,
						"name",
						json_sprintf(PREFIX "%s", kvl_scoring_name(i)),
						"value", kvl_scoring_get(&o->now, i, now), "file",
						kvl_scoring_get(&o->file, i, file)));
	}
	for (size_t i = 0; i < r->overrides.node_count; i++) {
		const struct kvl_override_node *n = &r->overrides.nodes[i];

		json_array_append_new(list,
			json_pack("{s:s, s:s, s:o, s:o}", "node", n->id, "name", "weight", "value",
				json_sprintf("%u", n->now), "file", json_sprintf("%u", n->file)));
	}
	return list;
}

json_t *kvl_command_get(void *ctx, const json_t *params, struct kvl_message_error *error)
{
	const char *service = NULL, *node = NULL;
	struct kvl_service_config *s;
	struct kvl_node_config *n;

	if (json_unpack((json_t *)params, "{s?s, s?s}", "service", &service, "node", &node) < 0
		|| (service == NULL) == (node == NULL))
		return kvl_message_fail(
			error, KVL_CODE_PARAMS, "get takes \"service\" or \"node\"");
	if (service != NULL) {
		s = service_find(ctx, service, error);
		return s == NULL ? NULL : service_answer(ctx, s, UINT32_MAX);
	}
	n = node_find(ctx, node, error);
	return n == NULL ? NULL
			 : json_pack("{s:s, s:o}", "node", n->id, "fields", weight_list(ctx, n));
}

/* Those that differ from the file. */
static uint32_t fields_set(const struct kvl_router *r, const struct kvl_service_config *c)
{
	const struct kvl_scoring_config *file;
	uint32_t fields = 0;

	for (size_t i = 0; kvl_scoring_name(i) != NULL; i++)
		if (kvl_overrides_field(&r->overrides, c->name, i, &file))
			fields |= 1u << i;
	return fields;
}

/* ---- changes ---- */

/* Takes all values into *now, and their fields into the mask. */
static int values_take(const json_t *values, struct kvl_scoring_config *now, uint32_t *fields,
	struct kvl_message_error *error)
{
	const char *name;
	json_t *value;
	char why[160];

	json_object_foreach((json_t *)values, name, value)
	{
		int i = field_find(name, error);

		if (i < 0)
			return i;
		if (!json_is_string(value)) {
			kvl_message_fail(error, KVL_CODE_PARAMS, "values are text");
			return -EINVAL;
		}
		if (kvl_scoring_set(now, (size_t)i, json_string_value(value), why, sizeof(why))
			< 0) {
			kvl_message_fail(error, KVL_CODE_PARAMS, PREFIX "%s: %s",
				kvl_scoring_name((size_t)i), why);
			return -EINVAL;
		}
		*fields |= 1u << i;
	}
	if (kvl_scoring_check(now, why, sizeof(why)) == 0)
		return 0;
	kvl_message_fail(error, KVL_CODE_PARAMS, "scoring: %s", why);
	return -EINVAL;
}

static json_t *service_set(struct kvl_router *r, const char *name, const json_t *values,
	struct kvl_message_error *error)
{
	struct kvl_service_config *c = service_find(r, name, error);
	struct kvl_scoring_config now;
	uint32_t fields = 0;

	if (c == NULL)
		return NULL;
	now = c->scoring;
	if (values_take(values, &now, &fields, error) < 0)
		return NULL;
	kvl_tune_service(r, c, fields, &now);
	return service_answer(r, c, fields);
}

static json_t *moved_list(const struct kvl_router *r, const char *pool)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < r->topology->service_count; i++) {
		const struct kvl_topology_service *s = &r->topology->services[i];

		if (strcmp(s->config.pool, pool) == 0)
			json_array_append_new(list, json_pack("{s:s, s:f}", "service",
							    s->config.name, "moved", s->moved));
	}
	return list;
}

static json_t *texts_list(const struct kvl_diags *diags)
{
	json_t *list = json_array();

	for (size_t i = 0; i < diags->count; i++)
		json_array_append_new(list, json_string(diags->list[i].text));
	return list;
}

static json_t *node_change(struct kvl_router *r, struct kvl_node_config *c, uint32_t weight,
	bool unset, struct kvl_message_error *error)
{
	static struct kvl_diags diags; /* large */
	uint64_t before = r->topology->revision;
	int rc;

	diags = (struct kvl_diags){0};
	rc = kvl_tune_node(r, c, weight, unset, &diags);
	if (rc == -ENOSPC)
		return kvl_message_fail(error, KVL_CODE_BUSY,
			"%d nodes' weights are set already: unset one, or write it to the file",
			KVL_OVERRIDES_NODES);
	if (rc < 0) {
		error->details = texts_list(&diags);
		return kvl_message_fail(error, KVL_CODE_CONFIG,
			"no placement can be built with this weight; the one before stays");
	}
	return json_pack("{s:s, s:I, s:o, s:o}", "node", c->id, "revision",
		(json_int_t)r->topology->revision, "fields", weight_list(r, c), "moved",
		r->topology->revision == before ? json_array() : moved_list(r, c->pool));
}

static json_t *node_set(
	struct kvl_router *r, const char *id, const json_t *values, struct kvl_message_error *error)
{
	const char *text = json_string_value(json_object_get(values, "weight"));
	struct kvl_node_config *c = node_find(r, id, error);
	char why[160];
	uint32_t weight;

	if (c == NULL)
		return NULL;
	if (text == NULL || json_object_size(values) != 1)
		return kvl_message_fail(
			error, KVL_CODE_PARAMS, "of a node only \"weight\" can be set, as text");
	if (kvl_node_weight_parse(text, &weight, why, sizeof(why)) < 0)
		return kvl_message_fail(error, KVL_CODE_PARAMS, "weight: %s", why);
	return node_change(r, c, weight, false, error);
}

json_t *kvl_command_set(void *ctx, const json_t *params, struct kvl_message_error *error)
{
	const char *service = NULL, *node = NULL;
	json_t *values;

	if (json_unpack((json_t *)params, "{s?s, s?s, s:o}", "service", &service, "node", &node,
		    "values", &values)
			< 0
		|| (service == NULL) == (node == NULL) || json_object_size(values) == 0)
		return kvl_message_fail(error, KVL_CODE_PARAMS,
			"set takes \"service\" or \"node\", and \"values\": {name: text}");
	return service != NULL ? service_set(ctx, service, values, error)
			       : node_set(ctx, node, values, error);
}

/* Names to fields; none are all. */
static int names_take(const json_t *names, uint32_t *fields, struct kvl_message_error *error)
{
	json_t *name;
	size_t at;

	*fields = names == NULL ? UINT32_MAX : 0;
	json_array_foreach(names, at, name)
	{
		int i = json_is_string(name) ? field_find(json_string_value(name), error) : -EINVAL;

		if (i < 0)
			return i;
		*fields |= 1u << i;
	}
	return 0;
}

static json_t *service_unset(struct kvl_router *r, const char *name, const json_t *names,
	struct kvl_message_error *error)
{
	struct kvl_service_config *c = service_find(r, name, error);
	uint32_t fields;
	char why[160];

	if (c == NULL || names_take(names, &fields, error) < 0)
		return NULL;
	if (names == NULL)
		fields = fields_set(r, c);
	if (kvl_tune_service_unset(r, c, fields, why, sizeof(why)) < 0)
		return kvl_message_fail(error, KVL_CODE_PARAMS, "scoring: %s", why);
	return service_answer(r, c, fields);
}

json_t *kvl_command_unset(void *ctx, const json_t *params, struct kvl_message_error *error)
{
	const char *service = NULL, *node = NULL;
	json_t *names = NULL;
	struct kvl_node_config *c;

	if (json_unpack((json_t *)params, "{s?s, s?s, s?o}", "service", &service, "node", &node,
		    "names", &names)
			< 0
		|| (service == NULL) == (node == NULL) || (names != NULL && !json_is_array(names)))
		return kvl_message_fail(error, KVL_CODE_PARAMS,
			"unset takes \"service\" or \"node\", and may take \"names\" (a list)");
	if (service != NULL)
		return service_unset(ctx, service, names, error);
	c = node_find(ctx, node, error);
	return c == NULL ? NULL : node_change(ctx, c, 0, true, error);
}

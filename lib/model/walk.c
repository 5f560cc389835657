/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/model/walk.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#define VALUE_SHOWN 48

struct pos walk_pos(const yaml_node_t *node)
{
	return (struct pos){
		.line = (unsigned int)node->start_mark.line + 1,
		.column = (unsigned int)node->start_mark.column + 1,
	};
}

const char *walk_text(const yaml_node_t *node)
{
	return node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

/* A value as it can be shown on a terminal: bounded, and without what could command one. */
static const char *value_show(const char *value, char out[VALUE_SHOWN + 4])
{
	size_t n = 0;

	for (; n < VALUE_SHOWN && value[n] != '\0'; n++)
		out[n] = isprint((unsigned char)value[n]) ? value[n] : '?';
	strcpy(out + n, value[n] != '\0' ? "..." : "");
	return out;
}

/* The end of a long file name tells more than its start. */
static const char *name_show(const char *name)
{
	const size_t n = strlen(name), max = 100;

	return n > max ? name + n - max : name;
}

void walk_fault(
	struct walk *w, struct pos at, const char *path, const char *value, const char *format, ...)
{
	char shown[VALUE_SHOWN + 4] = "", message[200];
	va_list ap;

	va_start(ap, format);
	vsnprintf(message, sizeof(message), format, ap);
	va_end(ap);
	if (value != NULL)
		value_show(value, shown);
	kvl_diag_add(w->diags, w->severity, "%s:%u:%u: %s%s%s%s%s%s%s", name_show(w->name), at.line,
		at.column, path, *path != '\0' ? ": " : "", *shown != '\0' ? shown : "",
		*shown != '\0' ? ": " : "", message, w->consequence != NULL ? "; " : "",
		w->consequence != NULL ? w->consequence : "");
	w->faulty = true;
}

void walk_warn(struct walk *w, struct pos at, const char *path, const char *format, ...)
{
	char message[200];
	va_list ap;

	va_start(ap, format);
	vsnprintf(message, sizeof(message), format, ap);
	va_end(ap);
	kvl_diag_add(w->diags, KVL_DIAG_WARNING, "%s:%u:%u: %s%s%s", name_show(w->name), at.line,
		at.column, path, *path != '\0' ? ": " : "", message);
}

/* "path.key", or the key alone at the top. */
static void path_join(char out[WALK_PATH_MAX], const char *path, const char *key)
{
	char shown[VALUE_SHOWN + 4];

	snprintf(out, WALK_PATH_MAX, "%s%s%s", path, *path != '\0' ? "." : "",
		value_show(key, shown));
}

static const char *kind_name(const yaml_node_t *node)
{
	return node->type == YAML_SEQUENCE_NODE  ? "a list"
	       : node->type == YAML_MAPPING_NODE ? "a mapping"
						 : "one value";
}

static void scalar_walk(struct walk *w, const yaml_node_t *value, const char *path,
	const struct field *f, void *object)
{
	const char *text = walk_text(value);
	char why[160] = "";

	if (text == NULL) {
		walk_fault(w, walk_pos(value), path, NULL, "must be one value, not %s",
			kind_name(value));
		return;
	}
	if (strlen(text) != value->data.scalar.length) {
		walk_fault(w, walk_pos(value), path, f->secret ? NULL : text,
			"must not contain a zero byte");
		return;
	}
	if (f->set(f, text, (char *)object + f->offset, why, sizeof(why)) < 0) {
		walk_fault(w, walk_pos(value), path,
			f->secret       ? NULL
			: *text != '\0' ? text
					: "\"\"",
			"%s", why);
		return;
	}
	if (f->flag != 0)
		*(bool *)((char *)object + f->flag) = true;
}

static void key_unknown(struct walk *w, const yaml_node_t *key, const char *path,
	const struct field *fields, size_t count)
{
	const char *near = field_nearest(fields, count, walk_text(key));

	if (near != NULL)
		walk_fault(w, walk_pos(key), path, NULL, "unknown key; did you mean %s?", near);
	else
		walk_fault(w, walk_pos(key), path, NULL, "unknown key");
}

/* One key and its value; seen[] is where each field was given before. */
static void pair_walk(struct walk *w, const yaml_node_t *key, yaml_node_t *value, const char *path,
	const struct field *fields, size_t count, void *object, struct pos seen[])
{
	const char *text = walk_text(key);
	char at[WALK_PATH_MAX];
	size_t i = 0;

	if (text == NULL) {
		walk_fault(w, walk_pos(key), path, NULL, "a key must be one word, not %s",
			kind_name(key));
		return;
	}
	path_join(at, path, text);
	while (i < count && strcmp(text, fields[i].name) != 0)
		i++;
	if (i == count) {
		key_unknown(w, key, at, fields, count);
		return;
	}
	if (seen[i].line != 0) {
		walk_fault(
			w, walk_pos(key), at, NULL, "given twice, first in line %u", seen[i].line);
		return;
	}
	seen[i] = walk_pos(value);
	if (fields[i].nested != NULL)
		fields[i].nested(w, value, at, object);
	else
		scalar_walk(w, value, at, &fields[i], object);
}

void walk_map(struct walk *w, yaml_node_t *map, const char *path, const struct field *fields,
	size_t count, void *object, struct pos *where)
{
	struct pos seen[WALK_KEYS_MAX] = {0};

	if (map->type != YAML_MAPPING_NODE) {
		walk_fault(w, walk_pos(map), path, walk_text(map), "must be a mapping");
	} else if (map->data.mapping.pairs.top - map->data.mapping.pairs.start > WALK_KEYS_MAX) {
		walk_fault(w, walk_pos(map), path, NULL, "more than %d keys", WALK_KEYS_MAX);
	} else {
		yaml_node_pair_t *p = map->data.mapping.pairs.start;

		for (; p < map->data.mapping.pairs.top; p++)
			pair_walk(w, yaml_document_get_node(&w->doc, p->key),
				yaml_document_get_node(&w->doc, p->value), path, fields, count,
				object, seen);
		for (size_t i = 0; i < count; i++)
			if (fields[i].required && seen[i].line == 0)
				walk_fault(w, walk_pos(map), path, NULL, "%s is missing",
					fields[i].name);
	}
	for (size_t i = 0; where != NULL && i < count; i++)
		where[i] = seen[i].line != 0 ? seen[i] : walk_pos(map);
}

void walk_list(struct walk *w, yaml_node_t *list, const char *path, size_t max,
	void (*each)(struct walk *w, yaml_node_t *element, const char *path, void *object),
	void *object)
{
	yaml_node_item_t *item;
	char at[WALK_PATH_MAX];
	size_t n;

	if (list->type != YAML_SEQUENCE_NODE) {
		walk_fault(w, walk_pos(list), path, walk_text(list), "must be a list");
		return;
	}
	n = (size_t)(list->data.sequence.items.top - list->data.sequence.items.start);
	if (n > max) {
		walk_fault(
			w, walk_pos(list), path, NULL, "%zu elements: must be at most %zu", n, max);
		n = max;
	}
	item = list->data.sequence.items.start;
	for (size_t i = 0; i < n; i++) {
		snprintf(at, sizeof(at), "%s[%zu]", path, i);
		each(w, yaml_document_get_node(&w->doc, item[i]), at, object);
	}
}

yaml_node_t *walk_find(struct walk *w, const yaml_node_t *map, const char *key)
{
	if (map->type != YAML_MAPPING_NODE)
		return NULL;
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top;
		p++) {
		const char *text = walk_text(yaml_document_get_node(&w->doc, p->key));

		if (text != NULL && strcmp(text, key) == 0)
			return yaml_document_get_node(&w->doc, p->value);
	}
	return NULL;
}

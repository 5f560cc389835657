/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/model/walk.h"

#include <errno.h>
#include <string.h>

/* From text to a document, and libyaml's errors to messages of our form. */

static struct pos offset_pos(const char *text, size_t len, size_t offset)
{
	struct pos at = {.line = 1, .column = 1};

	for (size_t i = 0; i < offset && i < len; i++) {
		at.column++;
		if (text[i] == '\n')
			at = (struct pos){.line = at.line + 1, .column = 1};
	}
	return at;
}

/* Is the character that libyaml stumbled on a tab? It says no more than "cannot start a token". */
static bool is_tab(const char *text, size_t len, const yaml_mark_t *mark)
{
	return mark->index < len && text[mark->index] == '\t';
}

static struct pos mark_pos(const yaml_mark_t *mark)
{
	return (struct pos){
		.line = (unsigned int)mark->line + 1,
		.column = (unsigned int)mark->column + 1,
	};
}

static int load_failed(struct walk *w, const yaml_parser_t *parser, const char *text, size_t len)
{
	const char *problem = parser->problem != NULL ? parser->problem : "not YAML";
	const struct pos at = mark_pos(&parser->problem_mark);

	if (parser->error == YAML_MEMORY_ERROR)
		return -ENOMEM;
	if (parser->error == YAML_READER_ERROR)
		walk_fault(w, offset_pos(text, len, parser->problem_offset), "", NULL,
			"must be UTF-8 text: %s", problem);
	else if (is_tab(text, len, &parser->problem_mark))
		walk_fault(w, at, "", NULL, "YAML does not take a tab here: use spaces");
	else
		walk_fault(w, at, "", NULL, "not YAML: %s%s%s", problem,
			parser->context != NULL ? ", " : "",
			parser->context != NULL ? parser->context : "");
	return -EINVAL;
}

/* One document is all there may be: a second one would be ignored in silence. */
static int second_document(struct walk *w, yaml_parser_t *parser, const char *text, size_t len)
{
	yaml_document_t next;
	int ret = 0;

	if (!yaml_parser_load(parser, &next))
		return load_failed(w, parser, text, len);
	if (yaml_document_get_root_node(&next) != NULL) {
		walk_fault(w, walk_pos(yaml_document_get_root_node(&next)), "", NULL,
			"a second document: only one is read");
		ret = -EINVAL;
	}
	yaml_document_delete(&next);
	return ret;
}

/*
 * libyaml's scanner takes time in proportion to the depth for every token, and its loader searches
 * all anchors for each one more: a file of a few MB could take hours. So its events are read once
 * before, and a file beyond what any configuration needs is refused as soon as it shows.
 */
#define DEPTH_MAX   16
#define ANCHORS_MAX 64
#define VALUES_MAX  200000

struct extent {
	unsigned int depth, anchors, values;
};

static bool event_anchored(const yaml_event_t *e)
{
	return (e->type == YAML_SCALAR_EVENT && e->data.scalar.anchor != NULL)
	       || (e->type == YAML_SEQUENCE_START_EVENT && e->data.sequence_start.anchor != NULL)
	       || (e->type == YAML_MAPPING_START_EVENT && e->data.mapping_start.anchor != NULL);
}

/* Counts one event. Returns what there is too much of, or NULL. */
static const char *extent_add(struct extent *x, const yaml_event_t *e)
{
	x->anchors += event_anchored(e);
	switch (e->type) {
	case YAML_SEQUENCE_START_EVENT:
	case YAML_MAPPING_START_EVENT:
		x->depth++;
		/* fallthrough */
	case YAML_SCALAR_EVENT:
	case YAML_ALIAS_EVENT:
		x->values++;
		break;
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		x->depth--;
		break;
	default:
		break;
	}
	return x->depth > DEPTH_MAX       ? "nested too deeply"
	       : x->anchors > ANCHORS_MAX ? "too many anchors"
	       : x->values > VALUES_MAX   ? "too many values"
					  : NULL;
}

static int events_check(struct walk *w, yaml_parser_t *parser, const char *text, size_t len)
{
	struct extent extent = {0};
	bool end = false;

	while (!end) {
		const char *excess;
		yaml_event_t event;
		struct pos at;

		if (!yaml_parser_parse(parser, &event))
			return load_failed(w, parser, text, len);
		at = mark_pos(&event.start_mark);
		end = event.type == YAML_STREAM_END_EVENT;
		excess = extent_add(&extent, &event);
		yaml_event_delete(&event);
		if (excess != NULL) {
			walk_fault(w, at, "", NULL, "%s", excess);
			return -EINVAL;
		}
	}
	return 0;
}

static int document_check(struct walk *w, yaml_parser_t *parser, const char *text, size_t len)
{
	const yaml_node_t *root = walk_root(w);

	if (root == NULL) {
		walk_fault(w, (struct pos){1, 1}, "", NULL, "the document is empty");
		return -EINVAL;
	}
	if (root->type != YAML_MAPPING_NODE) {
		walk_fault(w, walk_pos(root), "", walk_text(root), "must be a mapping");
		return -EINVAL;
	}
	return second_document(w, parser, text, len);
}

static int document_load(struct walk *w, yaml_parser_t *parser, const char *text, size_t len)
{
	int ret;

	if (!yaml_parser_load(parser, &w->doc))
		return load_failed(w, parser, text, len);
	ret = document_check(w, parser, text, len);
	if (ret < 0)
		walk_unload(w);
	return ret;
}

static int with_parser(struct walk *w, const char *text, size_t len,
	int (*run)(struct walk *w, yaml_parser_t *parser, const char *text, size_t len))
{
	yaml_parser_t parser;
	int ret;

	if (!yaml_parser_initialize(&parser))
		return -ENOMEM;
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	ret = run(w, &parser, text, len);
	yaml_parser_delete(&parser);
	return ret;
}

int walk_load(struct walk *w, const char *text, size_t len)
{
	int ret = with_parser(w, text, len, events_check);

	return ret < 0 ? ret : with_parser(w, text, len, document_load);
}

void walk_unload(struct walk *w)
{
	yaml_document_delete(&w->doc);
}

yaml_node_t *walk_root(struct walk *w)
{
	return yaml_document_get_root_node(&w->doc);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <yaml.h>

#include "lib/model/config.h"

/*
 * A typed walk over a YAML document. What may stand in a mapping is a table of fields; the walk
 * stores what is good and says of what is not: where it stands, its path, its value and what it
 * must be. It goes on after a fault, so that one reading tells all of them.
 *
 * Aliases (*x) are followed: they are the same node once more. Their number and the depth are
 * bounded by the tables, not by the file, so a file cannot make the walk long or recursive.
 */

/* A place in the file, counted from 1. */
struct pos {
	unsigned int line, column;
};

struct walk {
	yaml_document_t doc;
	const char *name; /* of the file, for messages */
	struct kvl_diags *diags;
	enum kvl_severity severity; /* of the faults found now */
	const char *consequence;    /* said behind each fault; NULL = nothing */
	bool faulty;                /* a fault was found; cleared by who cares */
};

/* A mapping of more keys is refused unread: it bounds the time a hostile file takes. */
#define WALK_KEYS_MAX 64
#define WALK_PATH_MAX 128

struct choice {
	const char *name;
	int value;
};

struct field {
	const char *name;

	/* Stores a scalar. Returns 0, or -EINVAL with what it must be in why. NULL: see nested. */
	int (*set)(const struct field *field, const char *text, void *to, char *why, size_t size);
	/* For what is not a scalar: walks the value by itself. */
	void (*nested)(struct walk *w, yaml_node_t *value, const char *path, void *object);

	size_t offset, size; /* where it goes in the object */
	size_t flag;         /* offset of a bool set true as well; 0 = none */
	uint64_t min, max;
	const struct choice *choices; /* ends with a name of NULL */
	bool required;
	bool secret; /* its value is not repeated in messages */
};

/*
 * Loads a document into w->doc; walk_unload() releases it. Returns 0, -EINVAL (said), -ENOMEM.
 * The root node is a mapping when it succeeds.
 */
int walk_load(struct walk *w, const char *text, size_t len);
void walk_unload(struct walk *w);
yaml_node_t *walk_root(struct walk *w);

/* Where a node stands; and its text when it is a scalar, else NULL. */
struct pos walk_pos(const yaml_node_t *node);
const char *walk_text(const yaml_node_t *node);

/* The value of a key, NULL when there is none: for what must be known before the walk. */
yaml_node_t *walk_find(struct walk *w, const yaml_node_t *map, const char *key);

/*
 * Walks one mapping into object. where[i] (unless where is NULL) becomes the position of field
 * i's value, of the mapping itself when the field is not given.
 */
void walk_map(struct walk *w, yaml_node_t *map, const char *path, const struct field *fields,
	size_t count, void *object, struct pos *where);

/* Calls each for every element; more than max are a fault, and those are not visited. */
void walk_list(struct walk *w, yaml_node_t *list, const char *path, size_t max,
	void (*each)(struct walk *w, yaml_node_t *element, const char *path, void *object),
	void *object);

/* `name:line:column: path: value: message` in w->severity; value NULL is left out. */
__attribute__((format(printf, 5, 6))) void walk_fault(struct walk *w, struct pos at,
	const char *path, const char *value, const char *format, ...);
__attribute__((format(printf, 4, 5))) void walk_warn(
	struct walk *w, struct pos at, const char *path, const char *format, ...);

/* Setters (fields.c). Ranges are of the value, or of the length of names and texts. */
int set_uint(const struct field *f, const char *text, void *to, char *why, size_t size);
int set_power(const struct field *f, const char *text, void *to, char *why, size_t size);
int set_name(const struct field *f, const char *text, void *to, char *why, size_t size);
int set_text(const struct field *f, const char *text, void *to, char *why, size_t size);
int set_choice(const struct field *f, const char *text, void *to, char *why, size_t size);
int set_address(const struct field *f, const char *text, void *to, char *why, size_t size);
/* Where this host listens: unlike a service's address it may be loopback, or any. */
int set_listen(const struct field *f, const char *text, void *to, char *why, size_t size);
int set_mac(const struct field *f, const char *text, void *to, char *why, size_t size);

#define AT(type, member) .offset = offsetof(type, member), .size = sizeof(((type *)0)->member)

/* The name nearest to a misspelled one, NULL when none is near (suggest.c). */
const char *field_nearest(const struct field *fields, size_t count, const char *name);

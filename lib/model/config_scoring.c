/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/model/draft.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/model/scoring_fields.h"
#include "lib/score/scorer.h"

/* A service's `scoring:` (SPEC 4, 5). Ranges are in thousandths, so that the table holds them. */

int set_decimal(const struct field *f, const char *text, void *to, char *why, size_t size)
{
	char *end = NULL;
	double value = *text >= '0' && *text <= '9' ? strtod(text, &end) : NAN;

	if (end != NULL && *end == '\0' && value >= (double)f->min / 1000
		&& value <= (double)f->max / 1000) {
		*(double *)to = value;
		return 0;
	}
	snprintf(why, size, "must be %g..%g", (double)f->min / 1000, (double)f->max / 1000);
	return -EINVAL;
}

/* A weight that is not given is the profile's: NAN. */
static int set_weight(const struct field *f, const char *text, void *to, char *why, size_t size)
{
	if (strcmp(text, "profile") == 0) {
		*(double *)to = NAN;
		return 0;
	}
	if (set_decimal(f, text, to, why, size) == 0)
		return 0;
	snprintf(why, size, "must be %g..%g, or profile", (double)f->min / 1000,
		(double)f->max / 1000);
	return -EINVAL;
}

int set_choice_rule(const struct field *f, const char *text, void *to, char *why, size_t size)
{
	enum kvl_choice choice;

	if (kvl_choice_parse(text, &choice) == 0) {
		*(uint8_t *)to = (uint8_t)choice;
		return 0;
	}
	snprintf(why, size, "must be least, softmax, p2c or best");
	return -EINVAL;
}

static int set_model(const struct field *f, const char *text, void *to, char *why, size_t size)
{
	for (uint8_t model = KVL_SCORE_PENALTY; model <= KVL_SCORE_WEIGHTED; model++)
		if (strcmp(text, kvl_score_model_name(model)) == 0) {
			*(uint8_t *)to = model;
			return 0;
		}
	snprintf(why, size, "must be penalty or weighted");
	return -EINVAL;
}

static int set_switch(const struct field *f, const char *text, void *to, char *why, size_t size)
{
	*(bool *)to = strcmp(text, "on") == 0;
	if (*(bool *)to || strcmp(text, "off") == 0)
		return 0;
	snprintf(why, size, "must be on or off");
	return -EINVAL;
}

static int set_profile(const struct field *f, const char *text, void *to, char *why, size_t size)
{
	if (kvl_profile_parse(text, to) == 0)
		return 0;
	snprintf(why, size,
		"must be read-heavy, write-heavy, auto, or a schedule with rising times: "
		"08:00=read-heavy,20:00=write-heavy");
	return -EINVAL;
}

static void profile_walk(struct walk *w, yaml_node_t *value, const char *path, void *object);

#define HERE(member) AT(struct kvl_scoring_config, member)

static const struct field scoring_fields[] = {
	{"model", set_model, HERE(model)},
	{"profile", set_profile, HERE(profile), .nested = profile_walk},
	{"choice", set_choice_rule, HERE(choice)},
	{"temperature", set_decimal, HERE(temperature), .min = 1, .max = 10000},
	{"min_share", set_decimal, HERE(min_share), .max = 200},
	{"ceiling_ms", set_decimal, HERE(ceiling_ms), .max = 60000000},
	{"baseline_ms", set_decimal, HERE(baseline_ms), .max = 60000000},
	{"cpu_threshold", set_decimal, HERE(cpu_threshold), .max = 1000},
	{"io_threshold", set_decimal, HERE(io_threshold), .max = 1000},
	{"queue_high", set_decimal, HERE(queue_high), .max = 1000000000},
	{"reject_threshold", set_decimal, HERE(reject_threshold), .max = 1000},
	{"low_score", set_decimal, HERE(low_score), .max = 1000},
	{"capability", set_switch, HERE(capability)},
	/* In the file below `weights:`, so behind all that stand in scoring itself. */
	{"weights.capacity_free", set_weight, HERE(weights.capacity_free), .max = 10000},
	{"weights.load", set_weight, HERE(weights.load), .max = 10000},
	{"weights.latency", set_weight, HERE(weights.latency), .max = 10000},
	{"weights.hit", set_weight, HERE(weights.hit), .max = 10000},
	{"weights.network", set_weight, HERE(weights.network), .max = 10000},
};

#define FIELDS  (sizeof(scoring_fields) / sizeof(*scoring_fields))
#define WEIGHTS 5
#define DIRECT  (FIELDS - WEIGHTS)

/* ---- the file ---- */

struct from {
	uint16_t minute;
	uint8_t profile;
};

static int set_minute(const struct field *f, const char *text, void *to, char *why, size_t size)
{
	if (kvl_profile_minute(text, to) == 0)
		return 0;
	snprintf(why, size, "must be a time of day, 00:00..23:59");
	return -EINVAL;
}

static int set_fixed(const struct field *f, const char *text, void *to, char *why, size_t size)
{
	if (kvl_profile_fixed_parse(text, to) == 0)
		return 0;
	snprintf(why, size, "must be read-heavy or write-heavy");
	return -EINVAL;
}

static const struct field entry_fields[] = {
	{"from", set_minute, AT(struct from, minute), .required = true},
	{"profile", set_fixed, AT(struct from, profile), .required = true},
};

static void entry_walk(struct walk *w, yaml_node_t *element, const char *path, void *object)
{
	struct kvl_schedule *s = object;
	struct from from = {0};
	bool before = w->faulty;

	w->faulty = false;
	walk_map(w, element, path, entry_fields, 2, &from, NULL);
	if (!w->faulty && s->count > 0 && from.minute <= s->entries[s->count - 1].from_minute)
		walk_fault(w, walk_pos(element), path, NULL,
			"from: must be later than that of the entry before");
	s->entries[s->count++] = (struct kvl_schedule_entry){from.minute, from.profile};
	w->faulty |= before;
}

static void schedule_walk(struct walk *w, yaml_node_t *value, const char *path, void *object)
{
	struct kvl_profile_rule *rule = object;

	rule->by = KVL_PROFILE_SCHEDULE;
	walk_list(w, value, path, KVL_SCHEDULE_MAX, entry_walk, &rule->schedule);
	if (!w->faulty && rule->schedule.count == 0)
		walk_fault(w, walk_pos(value), path, NULL, "must have at least one entry");
}

static const struct field schedule_fields[] = {
	{"schedule", .nested = schedule_walk, .required = true},
};

/* A name, or {schedule: [{from: "08:00", profile: read-heavy}, ...]}. */
static void profile_walk(struct walk *w, yaml_node_t *value, const char *path, void *object)
{
	struct kvl_scoring_config *c = object;
	const char *text = walk_text(value);
	char why[160];

	if (text == NULL)
		walk_map(w, value, path, schedule_fields, 1, &c->profile, NULL);
	else if (set_profile(NULL, text, &c->profile, why, sizeof(why)) < 0)
		walk_fault(w, walk_pos(value), path, text, "%s", why);
}

static void weights_walk(struct walk *w, yaml_node_t *value, const char *path, void *object)
{
	struct field fields[WEIGHTS];

	memcpy(fields, scoring_fields + DIRECT, sizeof(fields));
	for (size_t i = 0; i < WEIGHTS; i++)
		fields[i].name = strchr(fields[i].name, '.') + 1;
	walk_map(w, value, path, fields, WEIGHTS, object, NULL);
}

void scoring_walk(struct walk *w, yaml_node_t *value, const char *path, void *object)
{
	struct kvl_scoring_config *c = &((struct kvl_service_config *)object)->scoring;
	struct field fields[DIRECT + 1];
	char why[160];

	memcpy(fields, scoring_fields, DIRECT * sizeof(*fields));
	fields[DIRECT] = (struct field){"weights", .nested = weights_walk};
	walk_map(w, value, path, fields, DIRECT + 1, c, NULL);
	if (!w->faulty && kvl_scoring_check(c, why, sizeof(why)) < 0)
		walk_fault(w, walk_pos(value), path, NULL, "%s", why);
}

struct kvl_scoring_config scoring_default(void)
{
	const struct kvl_scorer_params p = kvl_scorer_defaults(1);

	return (struct kvl_scoring_config){
		.model = (uint8_t)p.score.model,
		.choice = KVL_CHOOSE_LEAST,
		.temperature = p.weights.temperature,
		.min_share = p.weights.min_share,
		.ceiling_ms = p.score.ceiling_us / 1000,
		.baseline_ms = p.score.baseline_us / 1000,
		.cpu_threshold = p.score.cpu_threshold,
		.io_threshold = p.score.io_threshold,
		.queue_high = p.score.queue_high,
		.reject_threshold = p.score.reject_threshold,
		.low_score = p.low_score,
		.weights = {NAN, NAN, NAN, NAN, NAN},
	};
}

/* ---- by name ---- */

const char *kvl_scoring_name(size_t i)
{
	return i < FIELDS ? scoring_fields[i].name : NULL;
}

int kvl_scoring_find(const char *name, char *why, size_t size)
{
	const char *near;

	for (size_t i = 0; i < FIELDS; i++)
		if (strcmp(name, scoring_fields[i].name) == 0)
			return (int)i;
	near = field_nearest(scoring_fields, FIELDS, name);
	if (near != NULL)
		snprintf(why, size, "unknown key; did you mean %s?", near);
	else
		snprintf(why, size, "unknown key");
	return -ENOENT;
}

int kvl_scoring_set(
	struct kvl_scoring_config *c, size_t i, const char *text, char *why, size_t size)
{
	const struct field *f = &scoring_fields[i];
	struct kvl_scoring_config changed = *c;

	if (f->set(f, text, (char *)&changed + f->offset, why, size) < 0)
		return -EINVAL;
	*c = changed;
	return 0;
}

void kvl_scoring_copy(
	struct kvl_scoring_config *to, const struct kvl_scoring_config *from, size_t i)
{
	const struct field *f = &scoring_fields[i];

	memcpy((char *)to + f->offset, (const char *)from + f->offset, f->size);
}

const char *kvl_scoring_get(
	const struct kvl_scoring_config *c, size_t i, char text[KVL_SCORING_TEXT])
{
	const struct field *f = &scoring_fields[i];
	const void *at = (const char *)c + f->offset;

	_Static_assert(KVL_SCORING_TEXT >= KVL_PROFILE_TEXT, "a schedule fits");
	if (f->set == set_model)
		return kvl_score_model_name(*(const uint8_t *)at);
	if (f->set == set_choice_rule)
		return kvl_choice_name(*(const uint8_t *)at);
	if (f->set == set_switch)
		return *(const bool *)at ? "on" : "off";
	if (f->set == set_profile)
		return kvl_profile_format(at, text);
	if (isnan(*(const double *)at))
		return "profile";
	snprintf(text, KVL_SCORING_TEXT, "%.15g", *(const double *)at);
	return text;
}

bool kvl_scoring_same(const struct kvl_scoring_config *a, const struct kvl_scoring_config *b)
{
	char x[KVL_SCORING_TEXT], y[KVL_SCORING_TEXT];

	for (size_t i = 0; i < FIELDS; i++)
		if (strcmp(kvl_scoring_get(a, i, x), kvl_scoring_get(b, i, y)) != 0)
			return false;
	return true;
}

int kvl_scoring_check(const struct kvl_scoring_config *c, char *why, size_t size)
{
	/* What a profile sets is never 0; a NAN makes the sum one, which is not. */
	if (c->weights.capacity_free + c->weights.load + c->weights.latency + c->weights.hit == 0) {
		snprintf(why, size,
			"weights: capacity_free, load, latency and hit: one must be above 0");
		return -EINVAL;
	}
	return 0;
}

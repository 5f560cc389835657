/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/model/draft.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

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

static int set_profile(const struct field *f, const char *text, void *to, char *why, size_t size)
{
	*(bool *)to = strcmp(text, "write-heavy") == 0;
	if (*(bool *)to || strcmp(text, "read-heavy") == 0)
		return 0;
	snprintf(why, size, "must be read-heavy or write-heavy");
	return -EINVAL;
}

static const struct field scoring_fields[] = {
	{"model", set_model, AT(struct kvl_scoring_config, model)},
	{"profile", set_profile, AT(struct kvl_scoring_config, write_heavy)},
	{"choice", set_choice_rule, AT(struct kvl_scoring_config, choice)},
	{"temperature", set_decimal, AT(struct kvl_scoring_config, temperature), .min = 1,
		.max = 10000},
	{"min_share", set_decimal, AT(struct kvl_scoring_config, min_share), .max = 200},
	{"ceiling_ms", set_decimal, AT(struct kvl_scoring_config, ceiling_ms), .max = 60000000},
	{"baseline_ms", set_decimal, AT(struct kvl_scoring_config, baseline_ms), .max = 60000000},
	{"cpu_threshold", set_decimal, AT(struct kvl_scoring_config, cpu_threshold), .max = 1000},
	{"io_threshold", set_decimal, AT(struct kvl_scoring_config, io_threshold), .max = 1000},
	{"queue_high", set_decimal, AT(struct kvl_scoring_config, queue_high), .max = 1000000000},
	{"reject_threshold", set_decimal, AT(struct kvl_scoring_config, reject_threshold),
		.max = 1000},
	{"low_score", set_decimal, AT(struct kvl_scoring_config, low_score), .max = 1000},
};

void scoring_walk(struct walk *w, yaml_node_t *value, const char *path, void *object)
{
	walk_map(w, value, path, scoring_fields, sizeof(scoring_fields) / sizeof(*scoring_fields),
		&((struct kvl_service_config *)object)->scoring, NULL);
}

struct kvl_scoring_config scoring_default(void)
{
	const struct kvl_scorer_params p = kvl_scorer_defaults(1);

	return (struct kvl_scoring_config){
		.model = (uint8_t)p.score.model,
		.choice = (uint8_t)p.weights.choice,
		.temperature = p.weights.temperature,
		.min_share = p.weights.min_share,
		.ceiling_ms = p.score.ceiling_us / 1000,
		.baseline_ms = p.score.baseline_us / 1000,
		.cpu_threshold = p.score.cpu_threshold,
		.io_threshold = p.score.io_threshold,
		.queue_high = p.score.queue_high,
		.reject_threshold = p.score.reject_threshold,
		.low_score = p.low_score,
	};
}

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lib/model/config.h"

/*
 * The fields of a service's `scoring:` by name, for who changes them at run time: by the same code,
 * ranges and messages as the configuration file. Names are as there, "cpu_threshold",
 * "weights.load".
 */
#define KVL_SCORING_TEXT 512 /* the longest value, with its NUL: a schedule */

/* The i-th field's name; NULL behind the last. */
const char *kvl_scoring_name(size_t i);

/* Its number, or -ENOENT with what is wrong (and which name is near) in why. */
int kvl_scoring_find(const char *name, char *why, size_t size);

/* Takes a value as text. Returns 0, or -EINVAL with what it must be in why and *c as it was. Of
 * several the whole is checked when all are taken: their order does not matter. */
int kvl_scoring_set(
	struct kvl_scoring_config *c, size_t i, const char *text, char *why, size_t size);

/* Copies one field. */
void kvl_scoring_copy(
	struct kvl_scoring_config *to, const struct kvl_scoring_config *from, size_t i);

/* The value as kvl_scoring_set() takes it; returns text. */
const char *kvl_scoring_get(
	const struct kvl_scoring_config *c, size_t i, char text[KVL_SCORING_TEXT]);

bool kvl_scoring_same(const struct kvl_scoring_config *a, const struct kvl_scoring_config *b);

/* What only the whole can tell: 0, or -EINVAL with words in why. */
int kvl_scoring_check(const struct kvl_scoring_config *c, char *why, size_t size);

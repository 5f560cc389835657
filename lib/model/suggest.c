/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/model/walk.h"

#include <string.h>

#define LONGEST 32

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t m = a < b ? a : b;

	return m < c ? m : c;
}

/* Levenshtein's distance, one row of the table at a time. */
static size_t distance(const char *a, const char *b)
{
	const size_t na = strlen(a), nb = strlen(b);
	size_t row[LONGEST + 1];

	if (na > LONGEST || nb > LONGEST)
		return SIZE_MAX;
	for (size_t j = 0; j <= nb; j++)
		row[j] = j;
	for (size_t i = 1; i <= na; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			size_t above = row[j];

			row[j] = min3(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
			diagonal = above;
		}
	}
	return row[nb];
}

const char *field_nearest(const struct field *fields, size_t count, const char *name)
{
	const char *nearest = NULL;
	size_t best = strlen(name) / 3 + 1; /* more than a third wrong is another word */

	for (size_t i = 0; i < count; i++) {
		size_t d = distance(name, fields[i].name);

		if (d <= best && (nearest == NULL || d < best)) {
			best = d;
			nearest = fields[i].name;
		}
	}
	return nearest;
}

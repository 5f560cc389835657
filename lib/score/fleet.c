/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "lib/score/fleet.h"

void kvl_fleet_init(struct kvl_fleet_state *f)
{
	*f = (struct kvl_fleet_state){.fleet = {KVL_UNKNOWN, KVL_UNKNOWN}};
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Moves what is known to the front, sorted; returns how many that are. */
static size_t sort_known(double *list, size_t count)
{
	size_t known = 0;

	for (size_t i = 0; i < count; i++)
		if (!isnan(list[i]))
			list[known++] = list[i];
	qsort(list, known, sizeof(*list), compare);
	return known;
}

static double median(const double *sorted, size_t count)
{
	return count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

void kvl_fleet_measure(
	struct kvl_fleet_state *f, double *p95_us, double *p99_us, size_t count, uint64_t now_ms)
{
	size_t known = sort_known(p95_us, count);
	double *baseline = &f->fleet.baseline_p99_us, part, middle;

	f->fleet.worst_p95_us = known > 0 ? p95_us[known - 1] : KVL_UNKNOWN;
	known = sort_known(p99_us, count);
	if (known == 0)
		return;
	middle = median(p99_us, known);
	/* At first the mean of what there is, so that an odd start does not last 5 minutes. */
	part = fmax((double)(now_ms - f->last_ms) / KVL_FLEET_LONG_MS, 1.0 / ++f->measured);
	f->last_ms = now_ms;
	if (isnan(*baseline) || part >= 1)
		*baseline = middle;
	else
		*baseline += part * (middle - *baseline);
}

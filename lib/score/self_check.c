/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "lib/score/self_check.h"

#define KEEPS       (1 - 1.0 / KVL_SELF_CHECK_LIVES)
#define FLAT_SPREAD 1e-4 /* deviation of scores below which they are all the same */

void kvl_self_check_clear(struct kvl_self_check *c)
{
	*c = (struct kvl_self_check){0};
}

static void decay(struct kvl_self_check *c)
{
	c->weight *= KEEPS;
	c->sum_x *= KEEPS;
	c->sum_y *= KEEPS;
	c->sum_xx *= KEEPS;
	c->sum_yy *= KEEPS;
	c->sum_xy *= KEEPS;
}

static void add(struct kvl_self_check *c, double x, double y)
{
	if (isnan(x) || isnan(y))
		return;
	c->weight += 1;
	c->sum_x += x;
	c->sum_y += y;
	c->sum_xx += x * x;
	c->sum_yy += y * y;
	c->sum_xy += x * y;
}

static double deviation(const struct kvl_self_check *c, double sum, double squares)
{
	double variance = squares / c->weight - sum / c->weight * (sum / c->weight);

	return variance > 0 ? sqrt(variance) : 0;
}

double kvl_self_check_correlation(const struct kvl_self_check *c)
{
	double dx, dy;

	if (!(c->weight > 1))
		return NAN;
	dx = deviation(c, c->sum_x, c->sum_xx);
	dy = deviation(c, c->sum_y, c->sum_yy);
	if (dx < FLAT_SPREAD || dy < FLAT_SPREAD)
		return NAN;
	return (c->sum_xy / c->weight - c->sum_x / c->weight * (c->sum_y / c->weight)) / (dx * dy);
}

/* Success differs, and the scores are flat or tell another story. */
static bool is_parted(const struct kvl_self_check *c)
{
	if (!(c->weight > 1) || deviation(c, c->sum_y, c->sum_yy) < KVL_SELF_CHECK_SPREAD)
		return false;
	return !(kvl_self_check_correlation(c) >= KVL_SELF_CHECK_LEAST);
}

bool kvl_self_check_round(
	struct kvl_self_check *c, const double *scores, const double *success, size_t count)
{
	bool before = c->alarm;

	decay(c);
	for (size_t i = 0; i < count; i++)
		add(c, scores[i], success[i]);
	if (is_parted(c)) {
		c->parted++;
		c->met = 0;
	} else {
		c->met++;
		c->parted = 0;
	}
	if (c->parted >= KVL_SELF_CHECK_ROUNDS)
		c->alarm = true;
	else if (c->met >= KVL_SELF_CHECK_ROUNDS)
		c->alarm = false;
	return c->alarm != before;
}

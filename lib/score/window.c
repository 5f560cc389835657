/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "lib/score/window.h"

#define TRIM_FROM 3 /* samples from which on the farthest is left out */

void kvl_window_clear(struct kvl_window *w)
{
	memset(w, 0, sizeof(*w));
}

static enum kvl_metric_fault sample_check(
	const struct kvl_window *w, enum kvl_metric metric, double value, uint64_t time_ms)
{
	if (time_ms <= w->last_ms)
		return KVL_METRIC_NOT_LATER;
	return kvl_metric_check(metric, value);
}

enum kvl_metric_fault kvl_window_add(
	struct kvl_window *w, enum kvl_metric metric, double value, uint64_t time_ms)
{
	enum kvl_metric_fault fault = sample_check(w, metric, value, time_ms);

	if (fault != KVL_METRIC_OK) {
		w->rejected[fault]++;
		return fault;
	}
	w->samples[w->next] = (float)value;
	w->next = (w->next + 1) % KVL_WINDOW_SAMPLES;
	if (w->count < KVL_WINDOW_SAMPLES)
		w->count++;
	w->last_ms = time_ms;
	return KVL_METRIC_OK;
}

/* age 0 = the newest */
static double sample_at(const struct kvl_window *w, unsigned int age)
{
	return w->samples[(w->next + KVL_WINDOW_SAMPLES - 1 - age) % KVL_WINDOW_SAMPLES];
}

/* Without the sample of that age; KVL_WINDOW_SAMPLES = with all. */
static double decayed_mean(const struct kvl_window *w, unsigned int without)
{
	double sum = 0, weights = 0, weight = 1;

	for (unsigned int age = 0; age < w->count; age++, weight *= KVL_WINDOW_DECAY) {
		if (age == without)
			continue;
		sum += weight * sample_at(w, age);
		weights += weight;
	}
	return sum / weights;
}

static unsigned int farthest(const struct kvl_window *w, double mean)
{
	unsigned int worst = 0;
	double distance = -1;

	for (unsigned int age = 0; age < w->count; age++) {
		double d = fabs(sample_at(w, age) - mean);

		if (d > distance) {
			distance = d;
			worst = age;
		}
	}
	return worst;
}

/* Distances are from the plain mean: from the decayed one, the newest sample, which pulls it
 * toward itself, would make an old ordinary sample look like the odd one. */
static double plain_mean(const struct kvl_window *w)
{
	double sum = 0;

	for (unsigned int age = 0; age < w->count; age++)
		sum += sample_at(w, age);
	return sum / w->count;
}

double kvl_window_value(const struct kvl_window *w)
{
	if (w->count == 0)
		return NAN;
	if (w->count < TRIM_FROM)
		return decayed_mean(w, KVL_WINDOW_SAMPLES);
	return decayed_mean(w, farthest(w, plain_mean(w)));
}

double kvl_window_newest(const struct kvl_window *w)
{
	return w->count == 0 ? NAN : sample_at(w, 0);
}

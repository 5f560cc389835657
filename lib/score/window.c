/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "lib/score/window.h"

#define TRIM_FROM 3 /* samples from which on the farthest is left out */

void kvl_window_clear(struct kvl_window *w)
{
	memset(w, 0, sizeof(*w));
}

void kvl_window_forget(struct kvl_window *w)
{
	w->count = w->live = w->next = 0;
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
	w->times_ms[w->next] = (uint32_t)time_ms;
	w->next = (w->next + 1) % KVL_WINDOW_SAMPLES;
	if (w->count < KVL_WINDOW_SAMPLES)
		w->count++;
	if (w->live < KVL_WINDOW_SAMPLES)
		w->live++;
	w->last_ms = time_ms;
	return KVL_METRIC_OK;
}

/* age 0 = the newest */
static unsigned int place_of(const struct kvl_window *w, unsigned int age)
{
	return (w->next + KVL_WINDOW_SAMPLES - 1 - age) % KVL_WINDOW_SAMPLES;
}

static double sample_at(const struct kvl_window *w, unsigned int age)
{
	return w->samples[place_of(w, age)];
}

void kvl_window_expire(struct kvl_window *w, uint32_t trust_ms, uint64_t now_ms)
{
	while (w->live > 0 && (uint32_t)now_ms - w->times_ms[place_of(w, w->live - 1)] > trust_ms)
		w->live--;
}

/* What the sample of that age weighs, of the next newer one's weight. */
static double decay_at(const struct kvl_window *w, enum kvl_metric metric, unsigned int age)
{
	double decay = KVL_WINDOW_DECAY;
	uint32_t steps;

	if (!kvl_metric_passive(metric))
		return decay;
	steps = (w->times_ms[place_of(w, age - 1)] - w->times_ms[place_of(w, age)])
		/ KVL_WINDOW_STEP_MS;
	for (uint32_t step = 1; step < steps && step < KVL_WINDOW_STEPS_MOST; step++)
		decay *= KVL_WINDOW_DECAY;
	return decay;
}

/* Without the sample of that age; KVL_WINDOW_SAMPLES = with all. */
static double decayed_mean(const struct kvl_window *w, enum kvl_metric metric, unsigned int without)
{
	double sum = 0, weights = 0, weight = 1;

	for (unsigned int age = 0; age < w->live; age++) {
		if (age > 0)
			weight *= decay_at(w, metric, age);
		if (age == without)
			continue;
		sum += weight * sample_at(w, age);
		weights += weight;
	}
	return weights > 0 ? sum / weights : NAN;
}

/* Samples that differ by less than their own precision are equal, and none of them is odd. */
#define ALIKE 1e-6

/* KVL_WINDOW_SAMPLES: none. */
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
	return distance > ALIKE * fabs(mean) ? worst : KVL_WINDOW_SAMPLES;
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

double kvl_window_value(const struct kvl_window *w, enum kvl_metric metric)
{
	return decayed_mean(
		w, metric, w->count < TRIM_FROM ? KVL_WINDOW_SAMPLES : farthest(w, plain_mean(w)));
}

double kvl_window_newest(const struct kvl_window *w)
{
	return w->live == 0 ? NAN : sample_at(w, 0);
}

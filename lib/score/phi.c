/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "lib/score/phi.h"

void kvl_phi_init(struct kvl_phi *p, uint32_t expected_ms)
{
	*p = (struct kvl_phi){.expected_ms = expected_ms > 0 ? expected_ms : 1};
}

static void mean_deviation(const struct kvl_phi *p, double *mean, double *deviation)
{
	double sum = 0, squares = 0;

	if (p->count < KVL_PHI_LEAST) {
		*mean = p->expected_ms;
		*deviation = KVL_PHI_DEVIATION * *mean;
		return;
	}
	for (unsigned int i = 0; i < p->count; i++)
		sum += p->intervals_ms[i];
	*mean = sum / p->count;
	for (unsigned int i = 0; i < p->count; i++)
		squares += (p->intervals_ms[i] - *mean) * (p->intervals_ms[i] - *mean);
	*deviation = fmax(sqrt(squares / p->count), KVL_PHI_DEVIATION * *mean);
}

void kvl_phi_beat(struct kvl_phi *p, uint64_t now_ms)
{
	double mean, deviation;
	uint64_t interval;

	if (p->last_ms != 0 && now_ms > p->last_ms) {
		interval = now_ms - p->last_ms;
		mean_deviation(p, &mean, &deviation);
		if ((double)interval <= KVL_PHI_LONGEST * mean) {
			p->intervals_ms[p->next] = (uint32_t)interval;
			p->next = (p->next + 1) % KVL_PHI_WINDOW;
			if (p->count < KVL_PHI_WINDOW)
				p->count++;
		}
	}
	if (now_ms > p->last_ms)
		p->last_ms = now_ms;
}

double kvl_phi(const struct kvl_phi *p, uint64_t now_ms)
{
	double mean, deviation, later;

	if (p->last_ms == 0 || now_ms <= p->last_ms)
		return 0;
	mean_deviation(p, &mean, &deviation);
	later = 0.5 * erfc(((double)(now_ms - p->last_ms) - mean) / (deviation * M_SQRT2));
	return later > 0 ? fmin(-log10(later), KVL_PHI_MOST) : KVL_PHI_MOST;
}

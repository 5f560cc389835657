/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "tests/sim/sim.h"

/* Poisson arrivals of keys by Zipf's law with exponent 0.99 (YCSB's), on a real ring. */
struct traffic {
	double rate;      /* requests a nanosecond */
	double hot_share; /* to one more key */
	uint64_t next;    /* when the next request comes */
};

/* The ring and the keys are made once, and shared by all runs. */
void traffic_start(struct traffic *t, double rate, double hot_share, struct rng *rng);

const struct kvl_row *traffic_row(const struct traffic *t, struct rng *rng);

void traffic_advance(struct traffic *t, struct rng *rng);

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "lib/ring/placement.h"

/* Made-up fleets for the tests. */
#define FLEET_MAX 1024

struct fleet {
	struct kvl_member members[FLEET_MAX];
	char id[FLEET_MAX][16], host[FLEET_MAX][16], zone[FLEET_MAX][16];
	size_t count;
};

/* splitmix64: repeatable, and not the hash under test. */
static inline uint64_t fleet_random(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static inline struct kvl_member *fleet_add(struct fleet *f, int host, int zone, uint32_t weight)
{
	const size_t i = f->count++;

	snprintf(f->id[i], sizeof(f->id[i]), "mc-%zu", i);
	if (host >= 0)
		snprintf(f->host[i], sizeof(f->host[i]), "h%d", host);
	snprintf(f->zone[i], sizeof(f->zone[i]), "z%d", zone);
	f->members[i] = (struct kvl_member){
		.id = f->id[i],
		.host = f->host[i],
		.zone = f->zone[i],
		.weight = weight,
		.number = (uint16_t)i,
		.server = f->id[i],
	};
	return &f->members[i];
}

static inline void fleet_shuffle(struct fleet *f, uint64_t *state)
{
	for (size_t i = f->count; i > 1; i--) {
		size_t j = fleet_random(state) % i;
		struct kvl_member m = f->members[i - 1];

		f->members[i - 1] = f->members[j];
		f->members[j] = m;
	}
}

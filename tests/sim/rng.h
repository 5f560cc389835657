/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <math.h>
#include <stdint.h>

/* splitmix64 (Steele, Lea, Flood 2014): any seed is good, and it is one word of state. */
struct rng {
	uint64_t state;
};

static inline uint64_t rng_next(struct rng *r)
{
	uint64_t z = (r->state += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* 0 <= x < 1 */
static inline double rng_unit(struct rng *r)
{
	return (double)(rng_next(r) >> 11) * 0x1p-53;
}

/* 0 <= x < n */
static inline uint32_t rng_below(struct rng *r, uint32_t n)
{
	return (uint32_t)(((rng_next(r) >> 32) * n) >> 32);
}

static inline double rng_exponential(struct rng *r, double mean)
{
	return -mean * log(1 - rng_unit(r));
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>

#include "lib/ring/hash.h"
#include "tests/sim/traffic.h"

/* Walker's alias method (Vose 1991): one draw, whatever the distribution. */
static struct {
	float keep[SIM_KEYS];
	uint32_t other[SIM_KEYS];
	const struct kvl_row *row[SIM_KEYS];
	const struct kvl_row *hot_row;
	struct kvl_placement *placement;
} keys;

static const struct kvl_row *row_of(uint32_t key)
{
	return kvl_placement_row(keys.placement,
		kvl_placement_find(keys.placement, kvl_key_hash(&key, sizeof(key), 0)));
}

static void ring_build(void)
{
	const struct kvl_placement_params params = {.kind = KVL_PLACE_RING,
		.replication = SIM_REPLICATION,
		.vnodes = KVL_VNODES_DEFAULT};
	struct kvl_member members[SIM_NODES];
	char names[SIM_NODES][8];

	for (unsigned int i = 0; i < SIM_NODES; i++) {
		snprintf(names[i], sizeof(names[i]), "n%u", i);
		members[i] = (struct kvl_member){names[i], "", "", 100, (uint16_t)i, ""};
	}
	keys.placement = kvl_placement_build(&params, members, SIM_NODES);
	if (keys.placement == NULL)
		abort();
}

static void alias_build(void)
{
	static double p[SIM_KEYS];
	static uint32_t small[SIM_KEYS], large[SIM_KEYS];
	uint32_t smalls = 0, larges = 0;
	double sum = 0;

	for (uint32_t k = 0; k < SIM_KEYS; k++)
		sum += p[k] = pow(k + 1, -0.99);
	for (uint32_t k = 0; k < SIM_KEYS; k++) {
		p[k] *= SIM_KEYS / sum;
		*(p[k] < 1 ? &small[smalls++] : &large[larges++]) = k;
	}
	while (smalls > 0 && larges > 0) {
		uint32_t s = small[--smalls], l = large[larges - 1];

		keys.keep[s] = (float)p[s];
		keys.other[s] = l;
		p[l] -= 1 - p[s];
		if (p[l] < 1)
			small[smalls++] = large[--larges];
	}
	while (larges > 0)
		keys.keep[large[--larges]] = 1;
	while (smalls > 0)
		keys.keep[small[--smalls]] = 1;
}

static void keys_make(void)
{
	if (keys.placement != NULL)
		return;
	ring_build();
	alias_build();
	for (uint32_t k = 0; k < SIM_KEYS; k++)
		keys.row[k] = row_of(k);
	keys.hot_row = row_of(SIM_KEYS);
}

void traffic_start(struct traffic *t, double rate, double hot_share, struct rng *rng)
{
	keys_make();
	*t = (struct traffic){.rate = rate, .hot_share = hot_share};
	traffic_advance(t, rng);
}

const struct kvl_row *traffic_row(const struct traffic *t, struct rng *rng)
{
	double toss = rng_unit(rng);
	uint32_t key = rng_below(rng, SIM_KEYS);
	double keep = rng_unit(rng);

	if (toss < t->hot_share)
		return keys.hot_row;
	return keys.row[keep < keys.keep[key] ? key : keys.other[key]];
}

void traffic_advance(struct traffic *t, struct rng *rng)
{
	t->next += (uint64_t)rng_exponential(rng, 1 / t->rate) + 1;
}

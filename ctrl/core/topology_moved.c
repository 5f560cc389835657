/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "ctrl/core/topology.h"
#include "lib/ring/lookup.h"

#define SAMPLE_KEYS 4096 /* a share of 10% comes out with a standard deviation of half a percent */

static uint16_t owner(const struct kvl_topology_service *s, const char *key)
{
	uint64_t hash = kvl_placement_key_hash(
		s->master, (const uint8_t *)key, strlen(key), s->config.placement.seed);

	return kvl_placement_row(s->master, kvl_placement_find(s->master, hash))->node[0];
}

/* Numbers are stable: the same one is the same node in both. */
double kvl_topology_moved(
	const struct kvl_topology *before, const struct kvl_topology_service *after)
{
	const struct kvl_topology_service *a = kvl_topology_service(before, after->config.name);
	unsigned int moved = 0;
	char key[256]; /* longer than XXH3 reads at once, or gcc suspects it */

	if (a == NULL || a->nodes == 0 || after->nodes == 0)
		return 0;
	for (unsigned int i = 0; i < SAMPLE_KEYS; i++) {
		snprintf(key, sizeof(key), "sample:%u", i);
		moved += owner(a, key) != owner(after, key);
	}
	return (double)moved / SAMPLE_KEYS;
}

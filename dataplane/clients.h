/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* 22.11's header has an array of variable length in a function that nobody here calls. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wvla"
#include <rte_lpm.h>
#pragma GCC diagnostic pop
#include <rte_lpm6.h>

#include "lib/model/client_sets.h"

/*
 * The sets of services by client address (lib/model/client_sets.h) as the workers look them up:
 * DPDK's longest-prefix match, whose next hop is the number of a set. One table of 64 MB for all
 * services with IPv4 lists, one for IPv6; none when no service has a list. Immutable once built;
 * roots share it, and the control core lets go of it when no root is left.
 */
struct kvl_clients {
	struct rte_lpm *v4; /* NULL: no list has an IPv4 prefix but 0.0.0.0/0 */
	struct rte_lpm6 *v6;
	uint64_t any_v4, any_v6; /* services of 0.0.0.0/0 and ::/0, which the tables cannot hold */
	const uint64_t *sets;
	struct kvl_client_sets *source; /* sets lie in it */
	unsigned int references;        /* control core's */
};

/* Takes `sets`, also when it fails. Memory of the NUMA node. NULL with errno. Control core. */
struct kvl_clients *kvl_clients_new(struct kvl_client_sets *sets, int socket);
struct kvl_clients *kvl_clients_get(struct kvl_clients *c);
void kvl_clients_put(struct kvl_clients *c);

/* Bit i: the service of index i has the address in its list. */
static inline uint64_t kvl_clients_services(
	const struct kvl_clients *c, const struct kvl_addr *address)
{
	uint32_t set;

	if (__builtin_expect(kvl_addr_is_v4(address), 1)) {
		if (c->v4 != NULL
			&& rte_lpm_lookup(c->v4, rte_be_to_cpu_32(kvl_addr_v4(address)), &set) == 0)
			return c->sets[set];
		return c->any_v4;
	}
	if (c->v6 != NULL && rte_lpm6_lookup(c->v6, address->bytes, &set) == 0)
		return c->sets[set];
	return c->any_v6;
}

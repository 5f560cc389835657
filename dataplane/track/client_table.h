/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/model/addr.h"
#include "lib/model/policy.h"

/*
 * What each client address may still ask and be sent: token buckets by (address, service) in a
 * table of fixed size, of one worker. Of an IPv6 address the first 64 bits count: the rest is its
 * owner's to choose.
 *
 * Set-associative by a seeded hash. A newcomer to a full set takes the place of the one unseen for
 * longest, which counts as evicted when that was within KVL_CLIENT_IDLE_MS; should it come back, it
 * begins with a full bucket again. So the table fails open: a flood of forged addresses locks
 * nobody out, and whoever is asked for most, the victim of a reflection above all, keeps its place.
 */
#define KVL_CLIENT_WAYS    4
#define KVL_CLIENTS        32768u /* 1 MB */
#define KVL_CLIENT_IDLE_MS 1000u  /* bytes are full again after it */

struct kvl_client {
	struct kvl_addr address;
	uint16_t service; /* stable number + 1; 0: the place is free */
	uint16_t pad;
	uint32_t seen;     /* ms */
	uint32_t requests; /* thousandths of one */
	uint32_t bytes;    /* of replies */
};
_Static_assert(sizeof(struct kvl_client) == 32, "a set is two cache lines");

struct kvl_client_terms {
	struct kvl_client_rate rate;
	struct kvl_amplification amplification;
};

struct kvl_client_table {
	struct kvl_client *clients;
	uint32_t set_mask;
	uint64_t seed;
};

/* Over `count` zeroed clients, a power of two of at least KVL_CLIENT_WAYS. */
void kvl_client_table_init(
	struct kvl_client_table *t, struct kvl_client *clients, uint32_t count, uint64_t seed);

/* The client, refilled up to now; a new one begins with full buckets. */
struct kvl_client *kvl_client_find(struct kvl_client_table *t, const struct kvl_addr *address,
	uint16_t service, const struct kvl_client_terms *terms, uint32_t now_ms, bool *evicted);

/* A request of `len` bytes; false: it is one too many. Earns its part of replies. */
static inline bool kvl_client_request(
	struct kvl_client *c, const struct kvl_client_terms *terms, uint32_t len)
{
	uint64_t bytes = c->bytes + (uint64_t)terms->amplification.factor * len;

	if (terms->rate.requests != 0) {
		if (c->requests < 1000)
			return false;
		c->requests -= 1000;
	}
	c->bytes = bytes > terms->amplification.burst_bytes ? terms->amplification.burst_bytes
							    : (uint32_t)bytes;
	return true;
}

/* So many bytes toward the client; false: it may not get them. */
static inline bool kvl_client_reply(struct kvl_client *c, uint64_t len)
{
	if (c->bytes < len)
		return false;
	c->bytes -= (uint32_t)len;
	return true;
}

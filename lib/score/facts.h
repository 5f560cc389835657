/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <math.h>
#include <stdint.h>

#include "lib/score/capability.h"

/*
 * What is known of a node at the moment it is scored. Everything optional is NAN when unknown, and
 * an unknown figure is neutral in every term (SPEC 4): a memcached that reports nothing is judged
 * by what the router measures alone.
 */
#define KVL_UNKNOWN NAN

enum kvl_fact_flag {
	KVL_FACT_DEAD = 1 << 0, /* the heartbeat stopped (phi, phi.h) */
	KVL_FACT_PROBE_FAILING = 1 << 1,
	KVL_FACT_COMPACTING = 1 << 2,
	KVL_FACT_REPAIRING = 1 << 3,
	KVL_FACT_READ_ONLY = 1 << 4,
	KVL_FACT_RECOVERING = 1 << 5, /* takes neither writes nor strong reads yet */
	KVL_FACT_OBSERVED = 1 << 6,   /* under observation (health.h) */
	KVL_FACT_COOLDOWN = 1 << 7,
	KVL_FACT_FAR = 1 << 8,   /* on another site than the router */
	KVL_FACT_STALE = 1 << 9, /* its report is older than SPEC 6.4 trusts: used, and marked */
	KVL_FACT_UNCONFIRMED = 1 << 10, /* the newest configuration does not confirm it */
};

struct kvl_facts {
	double capacity_free; /* share of the storage, 0..1 */
	double load;          /* 0..1; see kvl_load_combine() */
	double hit_rate;      /* of the keys asked here, 0..1 */
	double cpu, io_wait;  /* 0..1 */
	double p95_us, p99_us;
	double error_rate;   /* errors and timeouts of all requests, 0..1; rejects are apart */
	double reject_rate;  /* SERVER_ERROR, busy, drops: 0..1 */
	double queue;        /* requests waiting at the node */
	double network_cost; /* 0 near .. 1 far */
	uint32_t flags;      /* enum kvl_fact_flag */
	struct kvl_capability capability;
};

/* All unknown, no flags. */
static inline struct kvl_facts kvl_facts_none(void)
{
	return (struct kvl_facts){KVL_UNKNOWN, KVL_UNKNOWN, KVL_UNKNOWN, KVL_UNKNOWN, KVL_UNKNOWN,
		KVL_UNKNOWN, KVL_UNKNOWN, KVL_UNKNOWN, KVL_UNKNOWN, KVL_UNKNOWN, KVL_UNKNOWN, 0,
		KVL_CAPABILITY_UNKNOWN};
}

/*
 * SPEC 4.1's combined load: the largest of those known, since a node is as busy as its scarcest
 * resource; an average would call a node with a full disk queue two thirds idle. fmax() passes
 * over NAN.
 */
static inline double kvl_load_combine(double cpu, double io_wait, double network)
{
	return fmax(cpu, fmax(io_wait, network));
}

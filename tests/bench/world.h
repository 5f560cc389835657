/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "dataplane/burst.h"

/*
 * A worker without ports, its root, and the mbufs that the benchmarks send through it. Lane 0 is
 * the clients' side, lane 1 the nodes'. One world a process; whatever fails aborts.
 */
#define BENCH_MBUFS    4096
#define BENCH_NODES    1000 /* at most */
#define BENCH_TIMEOUT  1000 /* ms, of the nat service */
#define BENCH_NAT_VIP  "10.1.0.100:11211"
#define BENCH_DSR_VIP  "10.1.0.101:11211"
#define BENCH_LANE_MAC "02:00:00:00:00:c0"

extern struct kvl_worker *bench_worker;
extern const struct kvl_root *bench_root;
extern struct rte_mbuf *bench_mbufs[BENCH_MBUFS];

/* On the last CPU that the process may use; hugepages are taken when there are enough. */
void bench_begin(void);

/*
 * KVL_POLICY_* that both services have from the next bench_topology() on: a list of clients, rates
 * and the guard; 33 rules, one of them for every key; a tenant, and a bound on lag.
 */
extern unsigned int bench_policy;

/* Of both services, likewise: enum kvl_choice. */
extern uint8_t bench_choice;

/* A new root: both services on a ring of nodes x vnodes tokens; all nodes in, weights alike. */
void bench_topology(unsigned int nodes, unsigned int vnodes, unsigned int replication);

/* Empties the transmit buffers, so that nothing is sent. Returns how many mbufs were in them. */
static inline unsigned int bench_sent(void)
{
	unsigned int sent = bench_worker->tx[0].count + bench_worker->tx[1].count;

	bench_worker->tx[0].count = bench_worker->tx[1].count = 0;
	return sent;
}

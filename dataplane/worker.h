/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_mbuf.h>
#include <rte_rcu_qsbr.h>
#include <rte_ring.h>

#include "dataplane/counters.h"
#include "dataplane/tenant.h"
#include "dataplane/track/client_table.h"
#include "dataplane/track/merge_table.h"
#include "dataplane/track/pending.h"
#include "lib/model/root.h"
#include "lib/score/histogram.h"
#include "lib/score/pulse.h"
#include "lib/score/retry.h"

#define KVL_BURST      32
#define KVL_TX_BUFFER  64   /* per port; flushed at the end of each burst */
#define KVL_INBOX_SIZE 4096 /* mbufs on their way from another worker */

/* Mbufs for what a worker makes itself; twice what two ports' transmit queues may hold on to. */
#define KVL_MADE_MBUFS 4095
#define KVL_TURNS      256 /* round robins and retry budgets, by service number */

#define KVL_RETRY_BYTES 320                 /* larger requests are not kept for another try */
#define KVL_RETRIES_MAX (KVL_TRIES_MAX - 1) /* per request; a service has at most so many */
#define KVL_RETRY_KEYS  4096                /* buckets of the keys' budgets */

struct kvl_exception;
struct kvl_retry_copy;

#define KVL_REFUSED_MAX 16 /* nodes at a time */

/* A node that cannot be reached, as ICMP says. */
struct kvl_refused {
	uint16_t node;
	uint32_t since; /* tick of the last error */
};

/* A port as a worker uses it: one receive and one transmit queue, its own. */
struct kvl_lane {
	uint16_t dpdk_port;
	uint16_t queue;
	uint16_t mtu;   /* of the IP packet */
	uint8_t mac[6]; /* as it was at the start */
	bool has_snat[KVL_FAMILIES];
	struct kvl_addr snat[KVL_FAMILIES];
	/* What frames are sent to. dataplane: ro. control: wo, by kvl_worker_mac(). */
	uint64_t mac_bits;
	struct kvl_exception *exception; /* NULL: the kernel sees the port by itself */
};

/* An Ethernet address and the two bytes behind it, as a number of the former alone. */
static inline uint64_t kvl_mac_bits(const void *mac)
{
	uint64_t bits;

	memcpy(&bits, mac, sizeof(bits));
	return rte_cpu_to_le_64(bits) << 16;
}

struct kvl_tx_buffer {
	uint16_t count;
	struct rte_mbuf *mbufs[KVL_TX_BUFFER];
};

/* Where the parts of one datagram are put in the order of their nodes. */
#define KVL_ASKED_MAX KVL_MTU_MAX
struct kvl_asked {
	uint32_t count;
	uint32_t parts[KVL_ASKED_MAX], sorted[KVL_ASKED_MAX];
	uint16_t touched[KVL_ASKED_MAX]; /* nodes, once each */
	uint16_t place[KVL_NODES_MAX];   /* by node; zero between uses */
};

/*
 * A worker lcore and all that it owns. The control core touches only what is marked so.
 */
struct kvl_worker {
	/* dataplane: ro. control: wo, by kvl_worker_publish(); read once per burst. */
	const struct kvl_root *root;
	/* dataplane: ro. control: wo. */
	bool stop;
	/* dataplane: wo. control: ro. Generation and revision of the root that the worker runs. */
	uint64_t running_generation;
	uint64_t running_revision;

	/* dataplane only, set up before start */
	uint16_t id;
	uint16_t worker_count;
	uint16_t lane_count;
	bool adaptive;   /* sleep when idle */
	bool exceptions; /* some lane has an exception path */
	unsigned int lcore;
	int socket;
	struct kvl_lane lanes[KVL_PORTS_MAX];
	struct kvl_pending pending;
	struct rte_rcu_qsbr *rcu; /* shared; each worker is a reader by its id */
	struct rte_ring *inbox;   /* replies that arrived at another worker; many producers */
	struct rte_ring *peers[KVL_WORKERS_MAX];       /* their inboxes */
	const struct kvl_worker *all[KVL_WORKERS_MAX]; /* for their counters: `stats` */
	struct rte_mempool *made;                      /* mbufs of its own */
	struct kvl_merge_table merges;
	struct kvl_asked asked;
	struct kvl_client_table clients; /* of guarded services */
	struct kvl_tenant_state tenants;
	uint32_t turns[KVL_TURNS];
	struct kvl_retry_params retry;
	struct kvl_retry_copy *retry_copies; /* by slot */
	struct kvl_retry_budget retry_budgets[KVL_TURNS];
	struct kvl_retry_keys retry_keys;
	/* Of refuse.c: slots still to look at, and from where; when that was; and for which nodes. */
	uint32_t sweep_at, sweep_left, swept, refused_count;
	struct kvl_refused refused[KVL_REFUSED_MAX];
	uint64_t started;      /* TSC */
	uint64_t started_time; /* seconds since 1970 */
	uint32_t pid;

	uint64_t now;          /* TSC, once a loop */
	uint64_t tsc_per_tick; /* a tick of the wheel: 1 ms */
	uint64_t next_tick;    /* TSC at which tick begins */
	uint32_t tick;
	uint64_t us_per_tsc; /* as a 32.32 fixed-point fraction */
	uint64_t random;
	struct kvl_tx_buffer tx[KVL_PORTS_MAX];

	/* dataplane: wo. control: ro. */
	struct kvl_counters counters __attribute__((aligned(64)));
	uint32_t node_max;
	struct kvl_node_counters *nodes; /* by node number */
	struct kvl_histogram *latency;   /* by node number */
	struct kvl_pulse *pulses;        /* by node number */
};

struct kvl_worker_params {
	uint16_t id, worker_count;
	unsigned int lcore;
	bool adaptive;
	uint32_t node_max;
	uint32_t pending_slots;
	uint16_t snat_first;
	uint32_t snat_count;
	uint32_t made_mbufs;           /* 0: KVL_MADE_MBUFS */
	struct kvl_merge_params merge; /* zeros: its defaults */
	const struct kvl_lane *lanes;
	uint16_t lane_count;
	struct rte_rcu_qsbr *rcu;
};

/* Allocates on the lcore's NUMA node. NULL with rte_errno. Control core, before start. */
struct kvl_worker *kvl_worker_new(const struct kvl_worker_params *params);
void kvl_worker_free(struct kvl_worker *w);

/* Lets each worker reach the others' mailboxes. */
void kvl_workers_connect(struct kvl_worker *const *workers, uint16_t count);

/*
 * Makes `root` what the worker sees from its next burst on. The release store forbids that a worker
 * sees the pointer before the contents. The caller frees the former root when
 * rte_rcu_qsbr_check() says that every worker has passed a quiescent state since.
 */
static inline void kvl_worker_publish(struct kvl_worker *w, const struct kvl_root *root)
{
	__atomic_store_n(&w->root, root, __ATOMIC_RELEASE);
}

/*
 * 64 uniform bits: Knuth's MMIX generator, two instructions. Its lower bits are poor: draws go
 * by the upper ones, but for the noise of a fifth candidate.
 */
static inline uint64_t kvl_random(struct kvl_worker *w)
{
	return w->random = w->random * 6364136223846793005ull + 1442695040888963407ull;
}

/* The MAC of a lane's port, from its next burst on. */
static inline void kvl_worker_mac(struct kvl_worker *w, unsigned int lane, const uint8_t mac[6])
{
	uint8_t padded[8] = {0};

	memcpy(padded, mac, 6);
	__atomic_store_n(&w->lanes[lane].mac_bits, kvl_mac_bits(padded), __ATOMIC_RELAXED);
}

/* The lcore's main loop, for rte_eal_remote_launch(); returns 0 after w->stop is set. */
int kvl_worker_run(void *worker);

/* One turn of it: receive, route, expire, transmit. Returns packets and timers handled. */
uint32_t kvl_worker_turn(struct kvl_worker *w);

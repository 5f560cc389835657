/* SPDX-License-Identifier: BSD-3-Clause */
#include <time.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_random.h>

#include "dataplane/port/port.h"
#include "dataplane/retry.h"
#include "dataplane/worker.h"

/* Start-up and tear-down of workers; all memory they will ever need is taken here. */

static int worker_memory(struct kvl_worker *w, const struct kvl_worker_params *params)
{
	struct kvl_pending_params pending = {
		.slots = params->pending_slots,
		.port_first = params->snat_first,
		.port_count = params->snat_count,
		.worker = params->id,
		.workers = params->worker_count,
	};
	size_t size = kvl_pending_size(&pending);
	struct kvl_bucket *buckets;
	void *memory;

	if (size == 0)
		return -EINVAL;
	memory = rte_zmalloc_socket("kvl_pending", size, RTE_CACHE_LINE_SIZE, w->socket);
	if (memory == NULL)
		return -ENOMEM;
	kvl_pending_init(&w->pending, memory, &pending);

	w->retry = kvl_retry_defaults();
	w->retry_copies = rte_malloc_socket("kvl_retries",
		params->pending_slots * sizeof(*w->retry_copies), RTE_CACHE_LINE_SIZE, w->socket);
	buckets = rte_malloc_socket("kvl_retry_keys", KVL_RETRY_KEYS * sizeof(*buckets),
		RTE_CACHE_LINE_SIZE, w->socket);
	if (w->retry_copies == NULL || buckets == NULL)
		return -ENOMEM;
	kvl_retry_keys_init(&w->retry_keys, buckets, KVL_RETRY_KEYS, &w->retry, 0);

	w->nodes = rte_calloc_socket(
		"kvl_nodes", params->node_max, sizeof(*w->nodes), RTE_CACHE_LINE_SIZE, w->socket);
	w->latency = rte_calloc_socket("kvl_latency", params->node_max, sizeof(*w->latency),
		RTE_CACHE_LINE_SIZE, w->socket);
	w->pulses = rte_calloc_socket(
		"kvl_pulses", params->node_max, sizeof(*w->pulses), RTE_CACHE_LINE_SIZE, w->socket);
	if (w->nodes == NULL || w->latency == NULL || w->pulses == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < params->node_max; i++)
		kvl_pulse_init(&w->pulses[i]);
	return 0;
}

/* What guarded services and tenants need. */
static int worker_clients(struct kvl_worker *w, const struct kvl_worker_params *params)
{
	struct kvl_client *clients = rte_calloc_socket(
		"kvl_clients", KVL_CLIENTS, sizeof(*clients), RTE_CACHE_LINE_SIZE, w->socket);

	if (clients == NULL)
		return -ENOMEM;
	/* A seed of its own, so that nobody can aim at another's place. */
	kvl_client_table_init(&w->clients, clients, KVL_CLIENTS, rte_rand());
	w->tenants.node_max = params->node_max;
	w->tenants.shares =
		rte_calloc_socket("kvl_tenants", (size_t)KVL_TENANTS_MAX * params->node_max,
			sizeof(*w->tenants.shares), RTE_CACHE_LINE_SIZE, w->socket);
	return w->tenants.shares == NULL ? -ENOMEM : 0;
}

/* What split requests need: room for the largest that a port may bring, whole or in parts. */
static int worker_merges(struct kvl_worker *w, const struct kvl_worker_params *params)
{
	struct kvl_merge_params merge = params->merge;
	char name[RTE_MEMPOOL_NAMESIZE];
	uint16_t mtu = 0;
	void *memory;

	for (uint16_t i = 0; i < w->lane_count; i++)
		mtu = RTE_MAX(mtu, w->lanes[i].mtu);
	merge.request = RTE_MAX(KVL_MERGE_REQUEST, (uint32_t)mtu);
	memory = rte_malloc_socket(
		"kvl_merges", kvl_merge_table_size(&merge), RTE_CACHE_LINE_SIZE, w->socket);
	if (memory == NULL)
		return -ENOMEM;
	kvl_merge_table_init(&w->merges, memory, &merge);
	snprintf(name, sizeof(name), "kvl_made_%u", w->id);
	w->made = kvl_pool_new(name, params->made_mbufs != 0 ? params->made_mbufs : KVL_MADE_MBUFS,
		kvl_frames_room(mtu), w->socket);
	return w->made == NULL ? -rte_errno : 0;
}

static int worker_inbox(struct kvl_worker *w)
{
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "kvl_inbox_%u", w->id);
	w->inbox = rte_ring_create(name, KVL_INBOX_SIZE, w->socket, RING_F_SC_DEQ);
	return w->inbox == NULL ? -rte_errno : 0;
}

struct kvl_worker *kvl_worker_new(const struct kvl_worker_params *params)
{
	int socket = (int)rte_lcore_to_socket_id(params->lcore);
	uint64_t hz = rte_get_tsc_hz();
	struct kvl_worker *w;
	int rc;

	w = rte_zmalloc_socket("kvl_worker", sizeof(*w), RTE_CACHE_LINE_SIZE, socket);
	if (w == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	w->socket = socket;
	w->id = params->id;
	w->worker_count = params->worker_count;
	w->lcore = params->lcore;
	w->adaptive = params->adaptive;
	w->lane_count = params->lane_count;
	memcpy(w->lanes, params->lanes, params->lane_count * sizeof(*w->lanes));
	for (uint16_t i = 0; i < w->lane_count; i++) {
		kvl_worker_mac(w, i, w->lanes[i].mac);
		w->exceptions |= w->lanes[i].exception != NULL;
	}
	w->rcu = params->rcu;
	w->node_max = params->node_max;
	w->tsc_per_tick = hz / 1000;
	w->us_per_tsc = (1000000ull << 32) / hz;
	w->random = rte_rand();
	w->started = rte_rdtsc();
	w->started_time = time(NULL);
	w->pid = getpid();

	rc = worker_memory(w, params);
	if (rc == 0)
		rc = worker_merges(w, params);
	if (rc == 0)
		rc = worker_clients(w, params);
	if (rc == 0)
		rc = worker_inbox(w);
	if (rc < 0) {
		kvl_worker_free(w);
		rte_errno = -rc;
		return NULL;
	}
	return w;
}

static void inbox_free(struct kvl_worker *w)
{
	void *mbuf;

	while (rte_ring_sc_dequeue(w->inbox, &mbuf) == 0)
		rte_pktmbuf_free(mbuf);
	rte_ring_free(w->inbox);
}

void kvl_worker_free(struct kvl_worker *w)
{
	if (w == NULL)
		return;
	if (w->inbox != NULL)
		inbox_free(w);
	rte_free(w->merges.merges);
	rte_mempool_free(w->made);
	rte_free(w->clients.clients);
	rte_free(w->tenants.shares);
	rte_free(w->pending.slots);
	rte_free(w->retry_copies);
	rte_free(w->retry_keys.slots);
	rte_free(w->nodes);
	rte_free(w->pulses);
	rte_free(w->latency);
	rte_free(w);
}

void kvl_workers_connect(struct kvl_worker *const *workers, uint16_t count)
{
	for (uint16_t i = 0; i < count; i++) {
		for (uint16_t k = 0; k < count; k++) {
			workers[i]->peers[k] = workers[k]->inbox;
			workers[i]->all[k] = workers[k];
		}
	}
}

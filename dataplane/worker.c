/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "dataplane/exception.h"
#include "dataplane/idle.h"

/*
 * A worker's main loop. It is never stopped for an update: the root it reads changes under it
 * between two turns, and each turn ends in a quiescent state, idle ones too.
 */

#define AGE_EVERY 1024u /* ticks, for each node: some of them each tick */

static void pulses_age(struct kvl_worker *w)
{
	uint32_t at = w->tick % AGE_EVERY, upto = (at + 1) * w->node_max / AGE_EVERY;

	for (uint32_t n = at * w->node_max / AGE_EVERY; n < upto; n++)
		kvl_pulse_age(&w->pulses[n], w->tick);
}

static void clock_advance(struct kvl_worker *w)
{
	w->now = rte_rdtsc();
	while (unlikely(w->now >= w->next_tick)) {
		w->tick++;
		w->next_tick += w->tsc_per_tick;
		pulses_age(w);
	}
}

static uint32_t lanes_receive(struct kvl_worker *w, const struct kvl_root *root)
{
	struct rte_mbuf *mbufs[KVL_BURST];
	uint32_t received = 0;

	for (unsigned int i = 0; i < w->lane_count; i++) {
		uint16_t n = rte_eth_rx_burst(
			w->lanes[i].dpdk_port, w->lanes[i].queue, mbufs, KVL_BURST);

		if (n == 0)
			continue;
		kvl_count(&w->counters.rx, n);
		kvl_pipeline(w, root, mbufs, n, i);
		received += n;
	}
	return received;
}

/* Replies that other workers received for us. Which lane they came by does not matter to a reply. */
static uint32_t inbox_receive(struct kvl_worker *w, const struct kvl_root *root)
{
	struct rte_mbuf *mbufs[KVL_BURST];
	uint32_t n = rte_ring_sc_dequeue_burst(w->inbox, (void **)mbufs, KVL_BURST, NULL);

	if (n != 0) {
		kvl_count(&w->counters.inbox_in, n);
		kvl_pipeline(w, root, mbufs, n, KVL_LANE_ANY);
	}
	return n;
}

static void running_report(struct kvl_worker *w, const struct kvl_root *root)
{
	if (w->running_generation == root->generation)
		return;
	__atomic_store_n(&w->running_revision, root->revision, __ATOMIC_RELAXED);
	__atomic_store_n(&w->running_generation, root->generation, __ATOMIC_RELEASE);
}

uint32_t kvl_worker_turn(struct kvl_worker *w)
{
	/* Acquire forbids that contents of the root are read before its pointer. */
	const struct kvl_root *root = __atomic_load_n(&w->root, __ATOMIC_ACQUIRE);
	uint32_t handled;

	clock_advance(w);
	running_report(w, root);
	handled = lanes_receive(w, root);
	handled += inbox_receive(w, root);
	if (w->exceptions)
		handled += kvl_exception_run(w);
	handled += kvl_expire(w, root);
	if (unlikely(w->merges.ready_head != KVL_MERGE_NONE))
		kvl_merge_run(w, root);
	kvl_transmit_flush(w);

	__atomic_store_n(
		&w->counters.pending, w->pending.size - w->pending.free_count, __ATOMIC_RELAXED);
	__atomic_store_n(&w->counters.merges, w->merges.merges_used, __ATOMIC_RELAXED);
	kvl_count(&w->counters.loops, 1);
	if (handled != 0) {
		kvl_count(&w->counters.busy_loops, 1);
		kvl_count(&w->counters.busy_cycles, rte_rdtsc() - w->now);
	}
	/* Nothing of this root is held beyond this point. */
	rte_rcu_qsbr_quiescent(w->rcu, w->id);
	return handled;
}

int kvl_worker_run(void *worker)
{
	struct kvl_worker *w = worker;
	struct kvl_idle idle = {0};

	rte_rcu_qsbr_thread_register(w->rcu, w->id);
	rte_rcu_qsbr_thread_online(w->rcu, w->id);
	w->next_tick = rte_rdtsc() + w->tsc_per_tick;

	while (!__atomic_load_n(&w->stop, __ATOMIC_RELAXED)) {
		uint32_t handled = kvl_worker_turn(w);

		if (w->adaptive)
			kvl_idle(&idle, handled);
	}

	rte_rcu_qsbr_thread_offline(w->rcu, w->id);
	rte_rcu_qsbr_thread_unregister(w->rcu, w->id);
	return 0;
}

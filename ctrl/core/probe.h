/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/model/addr.h"

/*
 * Active probes: memcached's `version` in one datagram, over ordinary kernel sockets (so that they
 * work in dsr too, whose replies the data plane never sees), one unconnected socket an address
 * family however many nodes there are. An answer counts if it comes from the probed address and
 * port, carries the probe's request id, and says VERSION. An ICMP error (IP_RECVERR) or silence
 * for timeout_ms is a failure.
 *
 * When to probe is kvl_health's business; here probes are paced: what is asked for at once is sent
 * a few a millisecond, never all nodes in the same one, and at most KVL_PROBE_IN_FLIGHT wait for an
 * answer. 4096 dead nodes are all found out within about a second.
 *
 * Control core only, one thread, in the network namespace it was created in.
 */
#define KVL_PROBE_IN_FLIGHT 1024
#define KVL_PROBE_TICK_MS   1
#define KVL_PROBE_NODES_MAX 4096 /* node numbers are below this */

struct event_base;
struct kvl_probes;

/*
 * A probe's end: ok and its round trip, or not ok (rtt_us is then 0). Called from the loop, never
 * from within a call below; it may call anything here but kvl_probes_free().
 */
typedef void (*kvl_probe_done)(void *ctx, uint16_t node, bool ok, uint32_t rtt_us);

/* NULL with errno. */
struct kvl_probes *kvl_probes_new(
	struct event_base *base, uint32_t timeout_ms, kvl_probe_done done, void *ctx);
void kvl_probes_free(struct kvl_probes *probes);

/* For probes sent from now on; a shorter one waits for those still out. */
void kvl_probes_set_timeout(struct kvl_probes *probes, uint32_t timeout_ms);

/*
 * Asks for a probe of node number `node`. 0; -EALREADY when one of that node is still waiting or
 * out (it will end); -EINVAL for a number out of range or port 0; or -EAFNOSUPPORT and the like
 * when there is no socket of that family. Every 0 is followed by exactly one done(), unless
 * cancelled. Take the time it is given out as the time it is sent: it is soon enough.
 */
int kvl_probes_start(
	struct kvl_probes *probes, uint16_t node, const struct kvl_addr *addr, uint16_t port);

/* Without done(): the node is gone, or its number has another address now. */
void kvl_probes_cancel(struct kvl_probes *probes, uint16_t node);

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "dataplane/burst.h"

/*
 * The kernel's share of a port that it does not see (SPEC 1.7): what is no service's traffic and no
 * reply to us goes to the port's tap, and what the kernel sends there goes out by the port, both
 * untouched. A worker makes no system call, so it only moves mbufs through rings; a thread of the
 * control core's (ctrl/core/exception.h) stands between them and the tap.
 *
 *	worker -> out -> thread -> tap;  the same mbuf -> back -> worker, which frees it
 *	tap -> thread -> in -> worker -> the port's transmit queue
 *
 * Each ring has one producer and one consumer, and mbufs are freed by workers only: a thread that
 * loses its CPU in the middle of giving an mbuf back to a pool would hold up every worker there.
 *
 * Bounds: KVL_EXCEPTION_LENT segments of a worker's receive queue are on their way to the kernel at
 * most; a frame more is dropped as exception_full, whatever the kernel is sent, so that services
 * never lack mbufs for it. The other way round the rest waits in the tap's own queue (txqueuelen),
 * whose drops the kernel counts.
 */
#define KVL_EXCEPTION_LENT 256u
#define KVL_EXCEPTION_IN   256u /* frames from the kernel, a port */

/* A worker's part of a port's. */
struct kvl_exception {
	struct rte_ring *out;  /* worker to thread */
	struct rte_ring *back; /* thread to worker */
	struct rte_ring *in; /* thread to worker; NULL: another worker sends the kernel's frames */
	uint32_t lent;       /* worker only: segments in `out`, with the thread, or in `back` */
};

/*
 * A packet that classify refused. True: it is on its way to the kernel, or has been dropped for
 * want of room; false: it is no business of the kernel's, or its port has no exception path.
 */
bool kvl_exception_pass(
	struct kvl_worker *w, const struct kvl_root *root, struct kvl_packet *p, enum kvl_drop why);

/* Once a turn: takes back what the kernel has, and sends what it wants sent. Returns frames moved. */
uint32_t kvl_exception_run(struct kvl_worker *w);

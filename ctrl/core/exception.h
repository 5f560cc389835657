/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

#include "dataplane/exception.h"
#include "dataplane/port/port.h"

/*
 * The thread between the workers' rings and the taps of ports that the kernel does not see
 * (dataplane/exception.h). Not the loop of the control core, which a flood of the kernel's traffic
 * would hold up; it gives way to that loop when they share a CPU.
 *
 * All that a worker handed over ends under a name here, all that was read goes to a worker:
 *
 *	sum of exception_out = written + refused + what waits in rings
 *	read = sum of exception_in + what waits in rings
 */
#define KVL_EXCEPTION_MBUFS 2047 /* a port: its transmit queue, a worker's cache, the ring */

#define KVL_EXCEPTION_COUNTERS(X)                                                        \
	X(written) /* frames the kernel took */                                          \
	X(refused) /* it did not: the tap is down, or gone, or the kernel has no room */ \
	X(read)    /* frames of the kernel's */

/* Written by the thread, read by the control core. */
struct kvl_exception_counters {
#define X(name) uint64_t name;
	KVL_EXCEPTION_COUNTERS(X)
#undef X
};

struct kvl_exceptions;

/*
 * Rings and mbufs for the ports that have a tap; NULL with errno ENOMEM. No thread yet. With no
 * such port there is nothing, and all calls do nothing.
 */
struct kvl_exceptions *kvl_exceptions_new(
	const struct kvl_port *ports, uint16_t port_count, uint16_t worker_count);

/* What a worker's lane gets; NULL: the port has no exception path. */
struct kvl_exception *kvl_exceptions_lane(struct kvl_exceptions *x, uint16_t port, uint16_t worker);

/* Starts the thread. Returns 0 or negative errno. */
int kvl_exceptions_start(struct kvl_exceptions *x);

/* Ends the thread and gives all mbufs in the rings back. When no worker runs any more. */
void kvl_exceptions_stop(struct kvl_exceptions *x);

/* When the ports have been stopped, whose transmit queues hold mbufs of these pools. */
void kvl_exceptions_free(struct kvl_exceptions *x);

void kvl_exceptions_counters(
	const struct kvl_exceptions *x, struct kvl_exception_counters *counters);

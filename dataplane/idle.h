/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

/*
 * `poll: adaptive`: a worker that found nothing for KVL_IDLE_TURNS turns in a row sleeps a little
 * before each further one. It costs up to KVL_IDLE_SLEEP_US and the kernel's timer slack on the
 * first packet after silence, and leaves the core to others: for hosts that are not dedicated.
 */
#define KVL_IDLE_TURNS    256
#define KVL_IDLE_SLEEP_US 50

struct kvl_idle {
	uint32_t turns; /* without work, in a row */
};

void kvl_idle(struct kvl_idle *idle, uint32_t handled);

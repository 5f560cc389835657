/* SPDX-License-Identifier: BSD-3-Clause */
#include <time.h>

#include "dataplane/idle.h"

/* The one system call of a worker, made only when there is no packet. */
void kvl_idle(struct kvl_idle *idle, uint32_t handled)
{
	static const struct timespec pause = {.tv_nsec = KVL_IDLE_SLEEP_US * 1000L};

	if (handled != 0) {
		idle->turns = 0;
		return;
	}
	if (++idle->turns >= KVL_IDLE_TURNS)
		nanosleep(&pause, NULL);
}

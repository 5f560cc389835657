/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * What the host is doing, from /proc and /sys: shares are of the time since the call before, so
 * that the first one knows none. NAN = unknown.
 */
struct host {
	const char *interface; /* whose traffic counts; NULL: none does */
	/* the call before */
	uint64_t cpu_all, cpu_idle, cpu_io;
	uint64_t bytes_in, bytes_out, time_ms;
};

struct host_figures {
	double cpu, io_wait, memory;    /* 0..1 */
	double network_in, network_out; /* of the NIC's speed */
	uint32_t nic_mbit, memory_mb;   /* 0 = unknown */
};

void host_read(struct host *host, uint64_t now_ms, struct host_figures *figures);

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>

#include "lib/model/config.h"

/*
 * Initialises DPDK's EAL for the configuration: one main lcore and one lcore a worker, hugepages
 * when there are enough, only the PCI devices that are configured. Returns 0, or negative errno
 * with what to do in `error`.
 */
int kvl_eal_start(const struct kvl_config *config, char *error, size_t error_size);
void kvl_eal_stop(void);

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>

#include "lib/model/config.h"

/*
 * What the host must give and what is better said before DPDK starts: privileges, SNAT ports that
 * the kernel does not use itself, SNAT addresses that the kernel answers ARP for. Returns 0, or
 * negative errno with what to do in `error`; lesser things are logged as warnings.
 */
int kvl_start_checks(const struct kvl_config *config, char *error, size_t error_size);

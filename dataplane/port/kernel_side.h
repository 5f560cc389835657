/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "dataplane/port/port.h"

/*
 * The kernel's part of a port: which interface it is, that no other router has it, that nothing of
 * a killed one is left, and its steering program. Two calls around DPDK's own probing.
 */

/* Fills ifindex, claims the interface, and writes the device string to probe with. */
int kvl_kernel_side_prepare(
	struct kvl_port *port, char *devargs, size_t devargs_size, char *error, size_t error_size);

/* The device is started: finds or loads the steering program, and opens it for replies. */
int kvl_kernel_side_attach(struct kvl_port *port, const struct kvl_port_params *params, char *error,
	size_t error_size);

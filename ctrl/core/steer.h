/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "ctrl/core/topology.h"
#include "dataplane/port/port.h"

/* Which services the ports' steering programs take from the kernel. Failures are logged. */

/* Takes exactly the services of `t`. For when every worker knows them. */
void kvl_steer_open(struct kvl_port *ports, uint16_t port_count, const struct kvl_topology *t);

/* Lets go of services that `t` does not have (NULL: of all). For before they are retired. */
void kvl_steer_close(struct kvl_port *ports, uint16_t port_count, const struct kvl_topology *t);

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Follows the MAC of ports that are interfaces of the kernel's: an operator, a bond's failover or a
 * VM's host may change it under a running router, which serves only what is sent to it
 * (KVL_DROP_FOREIGN_MAC) and puts it into what it sends. Looked at every KVL_PORT_WATCH_MS, which
 * is how long requests are lost.
 */
#define KVL_PORT_WATCH_MS 500

struct kvl_port_watch;
struct kvl_router;

/* NULL with errno ENOMEM. */
struct kvl_port_watch *kvl_port_watch_new(struct kvl_router *router);
void kvl_port_watch_free(struct kvl_port_watch *watch);

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "lib/model/config.h"

/*
 * How large a port's frames are, and what follows from it: a packet lies in one mbuf, and in one
 * frame of af_packet's ring.
 */
#define KVL_ROOM_MIN 2176u /* RTE_MBUF_DEFAULT_BUF_SIZE, headroom included */

/*
 * net_af_xdp keeps an mbuf with the mempool's header, its own, both headrooms and what the mempool
 * puts between objects for the memory channels in one page. (DPDK 22.11 says 3542, which counts
 * only some of it: the UMEM is then refused.)
 */
#define KVL_XDP_MTU_MAX 3434u

struct kvl_frames {
	uint16_t mtu;
	uint16_t room; /* of an mbuf's data, headroom included */
	char args[64]; /* to append to the device string */
};

/*
 * By the port's `mtu:`, else its interface's own, else 1500. Returns 0, or -EINVAL with what to do
 * in `error` when the device cannot have such frames.
 */
int kvl_frames_plan(const struct kvl_port_config *port, struct kvl_frames *frames, char *error,
	size_t error_size);

/* As `ip link set NAME mtu N`. Returns 0 or negative errno. */
int kvl_interface_set_mtu(const char *name, uint16_t mtu);

/* Data room for packets up to this MTU, at least KVL_ROOM_MIN. */
uint16_t kvl_frames_room(uint16_t mtu);

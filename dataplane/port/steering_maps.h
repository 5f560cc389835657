/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
#pragma once

#include <linux/types.h>

/* Layout of the steering maps, shared by the programs in the kernel and their loader. */
#define KVL_STEERING_SERVICES 64
#define KVL_STEERING_SNATS    16

/* As struct kvl_addr: IPv4 mapped into IPv6. */
struct kvl_steering_address {
	__u8 bytes[16];
};

struct kvl_steering_key {
	struct kvl_steering_address address;
	__u16 port; /* UDP, network order */
	__u16 pad;  /* 0 */
};

struct kvl_steering_snat {
	__u16 first, last; /* UDP ports, host order, both inclusive */
};

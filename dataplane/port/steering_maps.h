/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
#pragma once

#include <linux/types.h>

/* Layout of the steering maps, shared by the programs in the kernel and their loader. */
#define KVL_STEERING_SERVICES 64
#define KVL_STEERING_SNATS    16

struct kvl_steering_key {
	__u32 address; /* IPv4, network order */
	__u16 port;    /* UDP, network order */
	__u16 pad;     /* 0 */
};

struct kvl_steering_snat {
	__u16 first, last; /* UDP ports, host order, both inclusive */
};

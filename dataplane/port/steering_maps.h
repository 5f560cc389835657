/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
#pragma once

#include <linux/types.h>

/* Layout of the steering maps, shared by the programs in the kernel and their loader. */
#define KVL_STEERING_SERVICES 64
#define KVL_STEERING_SNATS    16
#define KVL_STEERING_CLIENTS  4096 /* prefixes of all services' lists */

/* As struct kvl_addr: IPv4 mapped into IPv6. */
struct kvl_steering_address {
	__u8 bytes[16];
};

struct kvl_steering_key {
	struct kvl_steering_address address;
	__u16 port; /* UDP, network order */
	__u16 pad;  /* 0 */
};

/* What the map of services says of one. */
#define KVL_STEERING_OPEN   1
#define KVL_STEERING_LISTED 2 /* only clients in `clients` */

/*
 * Key of the trie of clients: the service in full, then a prefix of the source, which as in
 * kvl_addr is 16 bytes with IPv4 behind ::ffff:0:0/96.
 */
struct kvl_steering_client {
	__u32 prefixlen; /* bits, those of the service included */
	struct kvl_steering_key service;
	struct kvl_steering_address source;
};
#define KVL_STEERING_SERVICE_BITS (8 * sizeof(struct kvl_steering_key))
#define KVL_STEERING_CLIENT_BITS  (KVL_STEERING_SERVICE_BITS + 128)

struct kvl_steering_snat {
	__u16 first, last; /* UDP ports, host order, both inclusive */
};

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ctrl/core/netlink.h"

/* One entry of the kernel's neighbour table (ARP, ND): `ip neigh get`. */
struct kvl_neigh_entry {
	uint16_t state;   /* NUD_* */
	bool managed;     /* the kernel itself keeps it resolved (NTF_EXT_MANAGED, Linux 5.16) */
	bool ext_learned; /* another control plane looks after it */
	bool has_mac;
	uint8_t mac[6];
};

/* -ENOENT: no such entry; -ENODEV: no such interface. */
int kvl_neigh_entry_get(struct kvl_netlink *nl, int ifindex, const struct kvl_addr *addr,
	struct kvl_neigh_entry *entry);

enum kvl_neigh_use {
	KVL_NEIGH_CREATE = 1 << 0,  /* make it; -EEXIST when it is there */
	KVL_NEIGH_MANAGED = 1 << 1, /* and have the kernel keep it; without: no longer */
};

/*
 * Starts resolution as if a packet had to go there (NTF_USE), which harms no entry but a permanent
 * one: that would lose its permanence, so look first. A kernel before 5.16 ignores
 * KVL_NEIGH_MANAGED and does the rest.
 */
int kvl_neigh_entry_use(
	struct kvl_netlink *nl, int ifindex, const struct kvl_addr *addr, unsigned int use);

/*
 * Has the kernel ask the address whether it still has its MAC: unicast, three times a second apart
 * (net.ipv4.neigh.IF.ucast_solicit, retrans_time_ms). Until then the entry stays usable, and is
 * FAILED after it. Ends KVL_NEIGH_MANAGED: the kernel does not take both at once.
 */
int kvl_neigh_entry_probe(struct kvl_netlink *nl, int ifindex, const struct kvl_addr *addr);

int kvl_neigh_entry_delete(struct kvl_netlink *nl, int ifindex, const struct kvl_addr *addr);

/* True when a frame may be sent to entry->mac: a stale address is as good as any until the probe
 * that follows says otherwise. */
bool kvl_neigh_entry_usable(const struct kvl_neigh_entry *entry);

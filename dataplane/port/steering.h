/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dataplane/port/steering_maps.h"
#include "lib/model/addr.h"

/*
 * The steering program of one interface: which packets the router takes from the kernel. XDP for
 * AF_XDP ports (loaded and attached by DPDK's driver from the file we name), tc for af_packet.
 * Control core only.
 */
enum kvl_steering_kind {
	KVL_STEERING_NONE, /* a port that the kernel does not know */
	KVL_STEERING_XDP,
	KVL_STEERING_TC,
};

struct kvl_steering {
	enum kvl_steering_kind kind;
	int ifindex;
	int services_fd, snats_fd; /* maps */
	int clients_fd, denied_fd;
	bool hook_created; /* tc: the clsact qdisc is ours to remove */
	struct kvl_steering_key services[KVL_STEERING_SERVICES]; /* what is in the map */
	size_t service_count;
	/* services with a list of clients, and what is in the trie; sorted, by malloc() */
	struct kvl_steering_key listed[KVL_STEERING_SERVICES];
	size_t listed_count;
	struct kvl_steering_client *clients;
	size_t client_count;
	uint64_t clients_revision; /* the caller's: what they were made of */
};

/*
 * Path of the XDP object for net_af_xdp's xdp_prog=; an anonymous file of this process, made at
 * the first call. NULL with errno.
 */
const char *kvl_steering_xdp_path(void);

/*
 * Before the driver attaches: removes a program of our own name that a killed process left behind.
 * Returns 0, or -EBUSY when a foreign program is attached (its name is written to `name`).
 */
int kvl_steering_xdp_reclaim(int ifindex, char *name, size_t size);

/* After the driver attached: finds the program's maps. Returns 0 or negative errno. */
int kvl_steering_xdp_open(struct kvl_steering *s, int ifindex);

/* Loads and attaches the tc program, replacing a leftover of ours. Returns 0 or negative errno. */
int kvl_steering_tc_open(struct kvl_steering *s, int ifindex);

/* Replies to `address`, ports first..last, are ours from now on; so are ICMP errors about them. */
int kvl_steering_snat(
	struct kvl_steering *s, const struct kvl_addr *address, uint16_t first, uint16_t last);

/*
 * Makes the map of services equal to the list: new ones are added, then old ones removed, so one
 * that stays is never out. Returns 0 or negative errno with the map still usable.
 */
int kvl_steering_services(
	struct kvl_steering *s, const struct kvl_steering_key *list, size_t count);

/*
 * From now on only clients of the list reach the services in `listed`; call it before such a
 * service is opened. Prefixes that stay are never out. Returns 0 or negative errno, with the list
 * before, or some of both, in force.
 */
int kvl_steering_clients(struct kvl_steering *s, const struct kvl_steering_key *listed,
	size_t listed_count, const struct kvl_steering_client *list, size_t count);

/* Packets of other clients that the program has dropped. */
uint64_t kvl_steering_denied(const struct kvl_steering *s);

/* Detaches (xdp: the driver does that, this makes sure) and closes. Safe on a zeroed struct. */
void kvl_steering_close(struct kvl_steering *s);

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "lib/model/root.h"

/*
 * What a node's hardware is good for (SPEC 4.4): a small decision tree over disk, NIC and memory
 * whose leaves hold an affinity 0..1 for each request class. It says where work *belongs*, not who
 * is strongest: cold keys go to the HDD so that the fast disks stay free for the hot ones.
 */
enum kvl_disk {
	KVL_DISK_UNKNOWN,
	KVL_DISK_HDD,
	KVL_DISK_SSD,
};

struct kvl_capability {
	uint8_t disk;       /* enum kvl_disk */
	uint32_t nic_mbit;  /* 0 = unknown */
	uint32_t memory_mb; /* 0 = unknown */
};

#define KVL_CAPABILITY_UNKNOWN ((struct kvl_capability){KVL_DISK_UNKNOWN, 0, 0})

enum kvl_capability_test {
	KVL_CAPABILITY_LEAF,
	KVL_CAPABILITY_DISK,   /* the limit is an enum kvl_disk */
	KVL_CAPABILITY_NIC,    /* Mbit/s */
	KVL_CAPABILITY_MEMORY, /* MB */
};

/* One node of the tree; node 0 is the root. `below` and `from` are indices behind its own. */
struct kvl_capability_node {
	enum kvl_capability_test test;
	uint32_t limit;
	uint8_t below, from;         /* figure < limit; figure >= limit */
	float affinity[KVL_CLASSES]; /* of a leaf; 0..1 */
};

#define KVL_CAPABILITY_NODES_MAX 32

struct kvl_capability_tree {
	struct kvl_capability_node nodes[KVL_CAPABILITY_NODES_MAX];
	uint8_t count;
};

/* The default: SSD with 10G and more, other SSDs, HDDs. */
extern const struct kvl_capability_tree kvl_capability_default;

/* 0, or -EINVAL: an index that does not lead forward, an affinity outside 0..1. */
int kvl_capability_check(const struct kvl_capability_tree *tree);

/* The affinity of a class, 0..1; 1 when a figure that the tree asks for is unknown (neutral).
 * `tree` has passed the check; NULL = no tree, always 1. */
double kvl_capability_affinity(const struct kvl_capability_tree *tree,
	const struct kvl_capability *node, unsigned int class);

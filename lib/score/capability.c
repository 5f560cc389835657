/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "lib/score/capability.h"

/* Index of a class: read or write, cold or hot, small or large. */
#define R   0
#define W   KVL_CLASS_WRITE
#define HOT KVL_CLASS_HOT
#define BIG KVL_CLASS_LARGE

const struct kvl_capability_tree kvl_capability_default = {
	.count = 5,
	.nodes =
		{
			{KVL_CAPABILITY_DISK, KVL_DISK_SSD, 1, 2, {0}},
			/* HDD: the home of what is seldom asked for */
			{KVL_CAPABILITY_LEAF, 0, 0, 0,
				{[R] = 1,
					[W] = 1,
					[R | HOT] = 0.5,
					[W | HOT] = 0.4,
					[R | BIG] = 0.6,
					[W | BIG] = 0.9,
					[R | HOT | BIG] = 0.4,
					[W | HOT | BIG] = 0.3}},
			{KVL_CAPABILITY_NIC, 10000, 3, 4, {0}},
			/* SSD and 1G: streams large values, so that the 10G nodes' NICs stay for hot keys */
			{KVL_CAPABILITY_LEAF, 0, 0, 0,
				{[R] = 0.8,
					[W] = 0.8,
					[R | HOT] = 0.8,
					[W | HOT] = 0.7,
					[R | BIG] = 1,
					[W | BIG] = 0.9,
					[R | HOT | BIG] = 1,
					[W | HOT | BIG] = 0.7}},
			/* SSD and 10G: kept for what is hot */
			{KVL_CAPABILITY_LEAF, 0, 0, 0,
				{[R] = 0.7,
					[W] = 0.7,
					[R | HOT] = 1,
					[W | HOT] = 1,
					[R | BIG] = 0.9,
					[W | BIG] = 1,
					[R | HOT | BIG] = 0.9,
					[W | HOT | BIG] = 1}},
		},
};

static int leaf_check(const struct kvl_capability_node *leaf)
{
	for (unsigned int c = 0; c < KVL_CLASSES; c++)
		if (!(leaf->affinity[c] >= 0 && leaf->affinity[c] <= 1))
			return -EINVAL;
	return 0;
}

int kvl_capability_check(const struct kvl_capability_tree *tree)
{
	if (tree->count == 0 || tree->count > KVL_CAPABILITY_NODES_MAX)
		return -EINVAL;
	for (uint8_t i = 0; i < tree->count; i++) {
		const struct kvl_capability_node *n = &tree->nodes[i];

		if (n->test == KVL_CAPABILITY_LEAF) {
			if (leaf_check(n) < 0)
				return -EINVAL;
			continue;
		}
		/* Forward only: a walk ends after at most `count` steps. */
		if (n->test > KVL_CAPABILITY_MEMORY || n->below <= i || n->from <= i
			|| n->below >= tree->count || n->from >= tree->count)
			return -EINVAL;
	}
	return 0;
}

static uint32_t figure(const struct kvl_capability *node, enum kvl_capability_test test)
{
	switch (test) {
	case KVL_CAPABILITY_DISK:
		return node->disk;
	case KVL_CAPABILITY_NIC:
		return node->nic_mbit;
	case KVL_CAPABILITY_MEMORY:
		return node->memory_mb;
	case KVL_CAPABILITY_LEAF:
		break;
	}
	return 0;
}

double kvl_capability_affinity(const struct kvl_capability_tree *tree,
	const struct kvl_capability *node, unsigned int class)
{
	const struct kvl_capability_node *at;

	if (tree == NULL)
		return 1;
	for (at = &tree->nodes[0]; at->test != KVL_CAPABILITY_LEAF;) {
		uint32_t value = figure(node, at->test);

		if (value == 0)
			return 1;
		at = &tree->nodes[value < at->limit ? at->below : at->from];
	}
	return at->affinity[class];
}

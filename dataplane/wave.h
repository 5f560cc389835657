/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "dataplane/merge.h"

/* One wave: the next commands of a datagram become parts, and nodes are asked. */
struct wave {
	struct kvl_worker *w;
	const struct kvl_root *root;
	const struct kvl_root_service *service;
	struct kvl_merge *m;
	uint32_t merge;
};

static inline void kvl_part_fail(struct kvl_part *part, enum kvl_verdict why)
{
	part->state = KVL_PART_FAILED;
	part->why = why;
}

/* The request of one part, as a datagram's data; returns its length. */
uint16_t kvl_part_write(const struct kvl_merge *m, const struct kvl_part *part, uint8_t *out);

/* Asks the nodes for all parts listed in the worker's `asked`, node by node. */
void kvl_wave_send(struct wave *v);

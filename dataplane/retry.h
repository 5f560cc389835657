/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "dataplane/burst.h"

/*
 * Failover inside a request (SPEC 7): a read that its node has not answered within the time that
 * this node usually takes is asked of another holder, within the request's own deadline and the
 * budgets. The request is kept as a copy beside its slot, for the mbuf is the port's until it has
 * been sent. Budgets are each worker's own, so of the router they are the sum.
 */
struct kvl_retry_copy {
	struct kvl_tries tries;
	uint16_t len; /* of the UDP payload */
	uint8_t payload[KVL_RETRY_BYTES];
};

/*
 * Keeps the request of a slot just filled, if it may be asked again. Returns how long to wait for
 * this node, in ticks; 0: it is not kept.
 */
uint32_t kvl_retry_keep(
	struct kvl_worker *w, const struct kvl_packet *p, const struct kvl_root_node *node);

/* The same for a part of a split request, which its merge keeps anyway. */
uint32_t kvl_retry_keep_part(struct kvl_worker *w, const struct kvl_root_service *service,
	uint32_t slot, const struct kvl_root_node *node);

/*
 * The slot's wait is over, or its node was `refused`. True: it has been asked again or waits on, and
 * is still the request's; false: it is to be given up.
 */
bool kvl_retry_again(
	struct kvl_worker *w, const struct kvl_root *root, uint32_t slot, bool refused);

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "ctrl/core/slow_guard.h"
#include "lib/proto/request.h"

/*
 * Where a request of the slow path goes: rules, tenants' rates and consistency as on a worker. How
 * far replicas lag, tenants' shares of a node and bounds on what is in flight are not looked at:
 * they follow from what a worker has outstanding, and few reads are larger than a packet.
 */

/* Takes the P and L tokens of a request with KVL_REQUEST_PROXY_TOKEN, and blanks them. */
void kvl_slow_hints_take(struct kvl_request *request, uint8_t *datagram, size_t len);

/*
 * KVL_REQUEST_OK with *node; else what to answer. *service becomes the one whose terms hold for the
 * key. `random`: 32 uniform bits.
 */
enum kvl_verdict kvl_slow_choose(struct kvl_slow_guard *g, const struct kvl_root *root,
	const struct kvl_root_service **service, const uint8_t *datagram,
	const struct kvl_request *request, uint32_t random, uint16_t *node);

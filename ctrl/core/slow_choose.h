/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "ctrl/core/slow_conditions.h"

/*
 * Where a request of the slow path goes, or a part of one: rules, consistency, tenants' rates, and the
 * conditions of slow_conditions.h, as on a worker.
 */

/* Takes the P and L tokens of a request with KVL_REQUEST_PROXY_TOKEN, and blanks them. */
void kvl_slow_hints_take(struct kvl_request *request, uint8_t *datagram, size_t len);

/*
 * KVL_REQUEST_OK with *node; else what to answer. *service becomes the one whose terms hold for the
 * key. `random`: 32 uniform bits.
 */
enum kvl_verdict kvl_slow_choose(const struct kvl_slow_load *load, const struct kvl_root *root,
	const struct kvl_root_service **service, const uint8_t *datagram,
	const struct kvl_request *request, uint32_t random, uint16_t *node);

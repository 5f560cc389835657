/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lib/proto/line.h"

/* What the largest datagram can carry, whatever the line in front of it. */
#define VALUE_MAX UINT16_MAX

/*
 * The value behind a storage command's line: exactly `len` bytes and CR LF must be left. The one
 * check that protects other clients of the node.
 * memcached wants CR LF behind the value, bare LF is not enough there. When something follows,
 * the two bytes tell whether the client counted wrongly (then a node would run the tail as a
 * command) or meant to send another command.
 */
static inline enum kvl_verdict value_check(const struct line *l, uint64_t len)
{
	uint64_t room = l->end - l->p;

	if (len > VALUE_MAX)
		return KVL_REQUEST_VALUE_HUGE;
	if (room < len + 2)
		return KVL_REQUEST_VALUE_SHORT;

	bool ended = l->p[len] == '\r' && l->p[len + 1] == '\n';

	if (room == len + 2)
		return ended ? KVL_REQUEST_OK : KVL_REQUEST_VALUE_END;
	return ended ? KVL_REQUEST_MULTI_COMMAND : KVL_REQUEST_VALUE_LONG;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lib/proto/request.h"

/*
 * Keyless commands that the router answers itself (SPEC 1.5, 1.6): version, mn / noop, verbosity,
 * quit, stats. Their words are memcached's.
 */

/* One line of `stats`. */
struct kvl_local_stat {
	const char *name;
	const char *text; /* NULL: the value is `number` */
	uint64_t number;
};

/*
 * What `version` says: the protocol level first, since client libraries take the number apart and
 * choose features by it, and refuse a 0 in front.
 */
#define KVL_LOCAL_VERSION "1.6.18-kvlane-" KVL_VERSION

/* One datagram: a short question must not bring a long answer to an unproven address. */
#define KVL_LOCAL_MAX 1392

/*
 * Writes the reply to the command at `command` (verdict KVL_REQUEST_KEYLESS, `len` bytes) without
 * frame; at most KVL_LOCAL_MAX bytes, stats that do not fit are left out. `out` may lie over the
 * command. 0: silence, by noreply, quitq, or (text quit) because memcached says nothing.
 */
size_t kvl_local_answer(const struct kvl_request *req, const uint8_t *command, size_t len,
	const struct kvl_local_stat *stats, size_t stat_count, uint8_t out[KVL_LOCAL_MAX]);

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lib/score/fresh.h"

/*
 * How well what is in force is known to be what its source says: the configuration's files, read at
 * the start and at each reload. It is trusted for `health.topology_fresh_ms` after that (SPEC 6.4).
 * When the newest reload failed as a whole and that time is over, the topology is stale: used on,
 * for as long as it takes, and marked. A router that nobody reloads is not stale; nor is one bad
 * node, which is marked by itself. Control core only.
 */
struct kvl_source {
	uint64_t confirmed_ms; /* start, or the last reload that was good */
	uint64_t failed_ms;    /* of the reloads since, all failed, the first; 0: there was none */
};

static inline void kvl_source_confirmed(struct kvl_source *s, uint64_t now_ms)
{
	*s = (struct kvl_source){.confirmed_ms = now_ms};
}

static inline void kvl_source_failed(struct kvl_source *s, uint64_t now_ms)
{
	if (s->failed_ms == 0)
		s->failed_ms = now_ms;
}

static inline bool kvl_source_stale(const struct kvl_source *s, uint32_t fresh_ms, uint64_t now_ms)
{
	return s->failed_ms != 0 && kvl_fresh_stale(s->confirmed_ms, fresh_ms, now_ms);
}

/* Since when, of one that is. */
static inline uint64_t kvl_source_stale_since(const struct kvl_source *s, uint32_t fresh_ms)
{
	uint64_t over = s->confirmed_ms + fresh_ms;

	return s->failed_ms > over ? s->failed_ms : over;
}

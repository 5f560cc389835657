/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/core/log_limit.h"

/* Each line puts off the time when the burst is whole again; none may put it off by more than the
 * burst (a token bucket, kept as a time: GCRA). */
bool kvl_log_limit_pass(struct kvl_log_limit *l, uint64_t now_ms, uint32_t *suppressed)
{
	uint64_t from = l->full_ms > now_ms ? l->full_ms : now_ms;

	if (from + KVL_LOG_EVERY_MS > now_ms + KVL_LOG_BURST * KVL_LOG_EVERY_MS) {
		l->suppressed++;
		return false;
	}
	l->full_ms = from + KVL_LOG_EVERY_MS;
	*suppressed = l->suppressed;
	l->suppressed = 0;
	return true;
}

bool kvl_log_limit_due(struct kvl_log_limit *l, uint64_t now_ms, uint32_t *suppressed)
{
	uint32_t held = l->suppressed;

	if (held == 0)
		return false;
	if (kvl_log_limit_pass(l, now_ms, suppressed))
		return true;
	l->suppressed = held; /* a question is no line */
	return false;
}

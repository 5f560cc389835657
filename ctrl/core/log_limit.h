/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * How many lines one source may log (SPEC 10.2): KVL_LOG_BURST at once, then one each
 * KVL_LOG_EVERY_MS. What is held back is counted, and the count is told with the next line that
 * passes. All zero is ready for use.
 */
#define KVL_LOG_BURST    6
#define KVL_LOG_EVERY_MS 10000

struct kvl_log_limit {
	uint64_t full_ms;    /* when the whole burst may be logged again */
	uint32_t suppressed; /* since the last line that passed */
};

/* True: log the line now, and say that *suppressed were not logged since the last (0: all were). */
bool kvl_log_limit_pass(struct kvl_log_limit *l, uint64_t now_ms, uint32_t *suppressed);

/* True when lines were held back and one may be logged again: the source may have fallen silent,
 * so it is asked now and then. Then as above. */
bool kvl_log_limit_due(struct kvl_log_limit *l, uint64_t now_ms, uint32_t *suppressed);

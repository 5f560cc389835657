/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lib/proto/local.h"

/* `stats` as the protocols put it; within KVL_LOCAL_MAX bytes, what does not fit is left out. */

/* STAT name value, ..., END */
size_t stat_lines_text(const struct kvl_local_stat *stats, size_t count, uint8_t *out);

/* A packet each, and one without key at the end. `out` may lie over the request. */
size_t stat_lines_binary(
	const struct kvl_local_stat *stats, size_t count, const uint8_t *request, uint8_t *out);

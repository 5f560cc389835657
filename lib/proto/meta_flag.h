/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lib/proto/line.h"

/* A set of flag letters. */
#define FLAG(c) (UINT64_C(1) << ((c) - 'A'))

#define META_OPAQUE_MAX 31

/* What a command's flags say so far. */
struct meta_flags {
	uint64_t seen;
	unsigned tokens; /* of the line, command and key included */
	uint8_t mode;    /* the M argument, or 0 */
};

/*
 * The argument of flag `c`, at l->p up to the next gap. `modes` are the letters that M may have.
 */
enum kvl_verdict meta_argument(struct line *l, uint8_t c, const char *modes, uint8_t *mode);

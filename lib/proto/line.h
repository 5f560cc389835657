/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

#include "lib/proto/request.h"
#include "lib/proto/scan.h"

/*
 * A position in a command line. Tokens are separated by spaces only, as in memcached: a tab is
 * part of a token. After each token `p` rests on the byte that ended it: space, CR, LF or NUL, or
 * `p` == `end` when the line never ended. NUL and a CR that no LF follows end a token but are
 * neither a separator nor a line end, so nothing that holds one gets through: 1.6.18 cuts the
 * line at a NUL and 1.6.45 does not.
 */
struct line {
	const uint8_t *base; /* the UDP payload */
	const uint8_t *p;
	const uint8_t *end; /* of the payload */
};

static inline bool byte_ends_token(uint8_t c)
{
	return c == ' ' || c == '\r' || c == '\n' || c == '\0';
}

/* Skips spaces; true if another token starts here. False at the line's end or the payload's. */
static inline bool line_more(struct line *l)
{
	while (l->p < l->end && *l->p == ' ')
		l->p++;
	return l->p < l->end && *l->p != '\r' && *l->p != '\n';
}

/* Moves over one token and returns its length; stop bytes that are no separators are part of it. */
static inline size_t line_token(struct line *l)
{
	const uint8_t *start = l->p;
	const uint8_t *stop = scan_stop(l->base, start, l->end);

	while (__builtin_expect(stop < l->end && !byte_ends_token(*stop), 0))
		stop = scan_stop(l->base, stop + 1, l->end);
	l->p = stop;
	return stop - start;
}

/* True if p rests where a token may end. */
static inline bool line_at_gap(const struct line *l)
{
	return l->p < l->end && (*l->p == ' ' || *l->p == '\r' || *l->p == '\n');
}

/* Consumes the line end, CR LF or the bare LF that memcached takes too. */
static inline bool line_finish(struct line *l)
{
	if (l->end - l->p >= 2 && l->p[0] == '\r' && l->p[1] == '\n') {
		l->p += 2;
		return true;
	}
	if (l->end - l->p >= 1 && l->p[0] == '\n') {
		l->p += 1;
		return true;
	}
	return false;
}

/* The request's key: 1..KVL_KEY_MAX bytes, noted in req. */
static inline enum kvl_verdict line_key(struct line *l, struct kvl_request *req)
{
	if (!line_more(l))
		return KVL_REQUEST_ARGS;

	const uint8_t *start = l->p;
	size_t len = line_token(l);

	if (__builtin_expect(len - 1 >= KVL_KEY_MAX, 0))
		return len == 0 ? KVL_REQUEST_FORMAT : KVL_REQUEST_KEY_LONG;
	req->key_off = start - l->base;
	req->key_len = len;
	return KVL_REQUEST_OK;
}

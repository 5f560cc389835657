/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lib/proto/line.h"

/*
 * The parsers behind kvl_request_parse, one a command family. `l` starts behind the command word,
 * req has proto, op and kind set and all else zero. Any verdict but OK goes through
 * request_fault.
 */
enum kvl_verdict text_retrieval(struct line l, struct kvl_request *req);
enum kvl_verdict text_retrieval_touch(struct line l, struct kvl_request *req);
enum kvl_verdict text_storage(struct line l, struct kvl_request *req);
enum kvl_verdict text_arithmetic(struct line l, struct kvl_request *req);
enum kvl_verdict text_touch(struct line l, struct kvl_request *req);
enum kvl_verdict text_delete(struct line l, struct kvl_request *req);
enum kvl_verdict meta_command(struct line l, struct kvl_request *req);

/* The commands that are never forwarded, and everything unknown: `l` starts at the word itself. */
enum kvl_verdict word_command(struct line l, struct kvl_request *req);

/*
 * The value behind a storage command's line: exactly `len` bytes and CR LF must be left. The one
 * check that protects other clients of the node.
 */
enum kvl_verdict value_check(const struct line *l, uint64_t len);

/* The line is well-formed and ended: nothing may follow it. */
static inline enum kvl_verdict line_alone(const struct line *l)
{
	return l->p == l->end ? KVL_REQUEST_OK : KVL_REQUEST_MULTI_COMMAND;
}

/*
 * The common way out of a request that is not forwarded, off the fast path: a missing newline
 * outranks all other faults (the rest was guesswork), and a quiet command is found to be quiet
 * wherever its parsing stopped.
 */
enum kvl_verdict request_fault(enum kvl_verdict verdict, const struct line *l,
	struct kvl_request *req) __attribute__((cold, noinline));

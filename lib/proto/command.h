/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lib/proto/line.h"

/*
 * The parsers behind kvl_request_parse, one a command family. `p` is behind the command word, req
 * has proto, op and kind set. Any verdict but OK goes through request_fault. The line is handed
 * over as three pointers, and no parser lets the address of its own out of sight, so that it
 * lives in registers: in memory it costs a get half its time again.
 */
#define COMMAND_ARGS \
	const uint8_t *base, const uint8_t *p, const uint8_t *end, struct kvl_request *req

enum kvl_verdict text_retrieval(COMMAND_ARGS);
enum kvl_verdict text_retrieval_touch(COMMAND_ARGS);
enum kvl_verdict text_storage(COMMAND_ARGS);
enum kvl_verdict text_arithmetic(COMMAND_ARGS);
enum kvl_verdict text_touch(COMMAND_ARGS);
enum kvl_verdict text_delete(COMMAND_ARGS);
enum kvl_verdict meta_get(COMMAND_ARGS);
enum kvl_verdict meta_set(COMMAND_ARGS);
enum kvl_verdict meta_delete(COMMAND_ARGS);
enum kvl_verdict meta_arithmetic(COMMAND_ARGS);
enum kvl_verdict meta_debug(COMMAND_ARGS);

/* The commands that are never forwarded, and everything unknown: `p` is at the word itself. */
enum kvl_verdict word_command(COMMAND_ARGS);

/* Any text or meta command at `p`, KVL_FRAME_LEN bytes or more behind `base`. */
enum kvl_verdict command_parse(COMMAND_ARGS);

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
enum kvl_verdict request_fault(enum kvl_verdict verdict, const uint8_t *base, const uint8_t *end,
	struct kvl_request *req) __attribute__((cold, noinline));

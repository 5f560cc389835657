/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lib/proto/commands.h"

/*
 * What a node is sent for its part of a datagram: one command with one key, and always answered,
 * since the merge must know when it has run. So `noreply` and meta's q are blanked (the merge
 * hides the reply instead), and P and L tokens, which are hints to the router, too.
 */

/* A retrieval's part: its words up to the keys, this key. Returns bytes written: words + key + 2. */
size_t kvl_part_retrieval(const uint8_t *payload, uint16_t off, uint16_t words, uint16_t key_off,
	uint16_t key_len, uint8_t *out);

/* Any other command, as long as it was. */
size_t kvl_part_command(const uint8_t *payload, uint16_t off, uint16_t len, uint8_t proto,
	uint8_t flags, uint8_t *out);

/* How much of a quiet command's reply is hidden: an answer that a node gave to a part. */
bool kvl_part_hidden(uint8_t proto, uint8_t op, uint8_t flags, const uint8_t *reply, size_t len);

/*
 * What the client is told of a command that got no reply, by `verdict`. With `miss` a read is a
 * miss, otherwise and for all else it is an error. `command` is its first byte. Returns the bytes
 * written, at most KVL_UNANSWERED_MAX; 0: silence. Not for text retrievals, whose keys share one
 * reply: their miss is to be left out.
 */
#define KVL_UNANSWERED_MAX 320
size_t kvl_part_unanswered(enum kvl_verdict verdict, bool miss, const struct kvl_request *req,
	const uint8_t *command, uint8_t out[KVL_UNANSWERED_MAX]);

/*
 * A node's reply to a retrieval of one key: the bytes of its value block, without the END that
 * closes it; 0: a miss; -1: neither. `head` holds the first `head_len` bytes, `tail` the last
 * RETRIEVAL_TAIL (fewer when there are not as many), of `len` in all.
 */
#define KVL_RETRIEVAL_HEAD 6
#define KVL_RETRIEVAL_TAIL 7
int64_t kvl_part_values(const uint8_t *head, const uint8_t *tail, size_t len);

/*
 * Finds a P or L token of the meta command at `line`, which has at most `len` bytes; the caller
 * blanks it with spaces. Returns its length and, in *off, where it stands; 0: there is none.
 */
size_t kvl_proxy_token(const uint8_t *line, size_t len, size_t *off);

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lib/proto/request.h"

/*
 * A datagram of several commands, or of one with several keys, taken apart. The commands run as
 * memcached would run them: the first byte of the datagram chooses the protocol for all of it, a
 * trailing piece without line end (or whole binary header) is dropped in silence, and a binary
 * protocol error drops what follows. One thing is stricter: behind a storage command with a fault
 * nothing runs, for what follows may be its value.
 */
struct kvl_command {
	struct kvl_request request; /* key_off from the payload's start */
	uint8_t verdict;            /* enum kvl_verdict; never KVL_REQUEST_MULTI_COMMAND */
	uint16_t off, len;          /* of the command, its value included */
};

/*
 * The command at *at, an offset from the payload's start (KVL_FRAME_LEN at first), which is moved
 * behind it. False: there is none. `payload` holds `len` bytes, at most UINT16_MAX.
 */
bool kvl_command_next(const uint8_t *payload, size_t len, size_t *at, struct kvl_command *c);

/*
 * Keys of a text retrieval with verdict OK or KVL_REQUEST_MULTI_KEY, in order. *at is 0 at first
 * and moved along. False: no further key.
 */
struct kvl_command_key {
	uint16_t off, len;
};
bool kvl_command_key_next(const uint8_t *payload, const struct kvl_command *c, size_t *at,
	struct kvl_command_key *key);

/* No datagram's commands have more keys, or parts to answer, than this says. */
size_t kvl_commands_bound(const uint8_t *payload, size_t len);

/* True for get, gets, gat, gats in text: one END closes the replies to all its keys. */
static inline bool kvl_command_is_retrieval(const struct kvl_request *req)
{
	return req->proto == KVL_PROTO_TEXT && req->op >= KVL_OP_GET && req->op <= KVL_OP_GATS;
}

/* Text and meta storage: a value follows the line. */
static inline bool kvl_command_is_storage(const struct kvl_request *req)
{
	return (req->op >= KVL_OP_SET && req->op <= KVL_OP_CAS) || req->op == KVL_OP_MS;
}

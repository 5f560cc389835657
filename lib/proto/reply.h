/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "lib/proto/frame.h"

/*
 * What a node's reply datagram says, as far as accounting needs it. A node is not trusted: the
 * reader looks at no more than the frame and the first few bytes, and believes no length in it.
 */
enum kvl_reply_kind {
	KVL_REPLY_OTHER, /* anything else: numbers, VERSION, a continuation datagram (sequence > 0) */
	KVL_REPLY_HIT,   /* VALUE, VA, binary get success */
	KVL_REPLY_MISS,  /* END alone, EN, NF, NOT_FOUND, header-only (total 0) */
	KVL_REPLY_OK,    /* STORED, DELETED, TOUCHED, OK, HD */
	KVL_REPLY_NOT,   /* NOT_STORED, EXISTS, NS, EX: understood and declined */
	KVL_REPLY_ERROR, /* ERROR, CLIENT_ERROR, object too large: the request's fault */
	KVL_REPLY_REJECT, /* SERVER_ERROR, binary busy / out of memory: the node's fault (SPEC 4.3) */
	KVL_REPLY_COUNT
};

struct kvl_reply {
	uint16_t id;
	uint16_t sequence;
	uint16_t total;
	uint8_t kind; /* enum kvl_reply_kind */
};

/*
 * Reads the frame and classifies. Returns 0, or -EINVAL when the datagram cannot be a reply:
 * shorter than the frame, or sequence >= total with total > 0, or sequence > 0 with total 0, or
 * nothing after the frame although total > 0.
 */
int kvl_reply_parse(const uint8_t *payload, size_t len, struct kvl_reply *reply);

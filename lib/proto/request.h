/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/proto/frame.h"

/*
 * One client request: the UDP frame, then one command in memcached's classic text, meta or binary
 * protocol. A request is validated in full before anything is forwarded (SPEC 1.2): above all the
 * declared value length must equal the bytes present, since a truncated storage command makes a
 * memcached worker swallow other clients' datagrams. Several keys or commands in one datagram are
 * walked with commands.h.
 *
 * What passes is what memcached 1.6.18 and 1.6.45 both accept and read alike. Refused though one
 * of them takes it: a leading space, NUL or a lone CR in the line, plus signs and blanks in
 * numbers, tails behind meta flags without argument, flags of another meta command, base64 that
 * is not whole padded quartets, `me KEY b`, `delete KEY 1`, `delete noreply`, any last argument
 * but noreply. A tab and other control characters are part of a key, as in memcached.
 */
#define KVL_KEY_MAX 250

enum kvl_proto {
	KVL_PROTO_TEXT,
	KVL_PROTO_META,
	KVL_PROTO_BINARY,
};

enum kvl_op {
	KVL_OP_NONE, /* not recognised */
	/* classic, one key or more */
	KVL_OP_GET,
	KVL_OP_GETS,
	KVL_OP_GAT,
	KVL_OP_GATS,
	KVL_OP_SET,
	KVL_OP_ADD,
	KVL_OP_REPLACE,
	KVL_OP_APPEND,
	KVL_OP_PREPEND,
	KVL_OP_CAS,
	KVL_OP_INCR,
	KVL_OP_DECR,
	KVL_OP_TOUCH,
	KVL_OP_DELETE,
	/* meta */
	KVL_OP_MG,
	KVL_OP_MS,
	KVL_OP_MD,
	KVL_OP_MA,
	KVL_OP_ME,
	KVL_OP_MN,
	/* keyless */
	KVL_OP_VERSION,
	KVL_OP_STATS,
	KVL_OP_VERBOSITY,
	KVL_OP_QUIT,
	/* all other commands that memcached knows: admin */
	KVL_OP_ADMIN,
	KVL_OP_COUNT
};

/*
 * What the router may do with it; order is fixed, kvl_class builds on it. A retrieval that changes
 * the item (gat, gats, mg with N, R, T or E) is a write: another holder would not see the change.
 */
enum kvl_kind {
	KVL_KIND_READ,
	KVL_KIND_WRITE, /* deletes and touches too */
	KVL_KIND_KEYLESS,
	KVL_KIND_ADMIN,
	/* A read whose reply holds a cas token: gets, mg with c, all of the binary protocol. The token
	 * means nothing at another node, or worse, something else there; so it goes where the write
	 * goes that brings the token back, and is asked of no other holder. */
	KVL_KIND_TOKEN,
};

enum kvl_request_flag {
	KVL_REQ_QUIET = 1 << 0, /* noreply, meta q: silence is an answer */
	/* May be sent again to another node (SPEC 7): get, me, mg that only reads, without c; a plain
	 * ms with E and no C; md with x and E and no C. */
	KVL_REQ_IDEMPOTENT = 1 << 1,
	KVL_REQ_KEY_BASE64 = 1 << 2, /* meta b: the key on the wire is base64 of the real one */
	KVL_REQ_CLOSE = 1 << 3,      /* quit */
	KVL_REQ_PROXY = 1 << 4,      /* meta P or L: hints to us, which go no further */
	/* What the hints said (hint.h); the parser leaves them unset. */
	KVL_REQ_STRONG = 1 << 5,
	KVL_REQ_EVENTUAL = 1 << 6,
	KVL_REQ_LAG = 1 << 7,
};

/*
 * X(enumerator, name in counters, answer). An answer of NULL means: dropped in silence. The text
 * is always one of memcached's own or starts with its error words.
 * Order matters only in that KVL_REQUEST_OK is 0.
 */
#define KVL_VERDICTS(X)                                                                                   \
	X(KVL_REQUEST_OK, "ok", NULL)                                                                     \
	X(KVL_REQUEST_FRAME_SHORT, "frame_short", NULL)      /* <= 8 bytes */                             \
	X(KVL_REQUEST_FRAME_TOTAL, "frame_total", NULL)      /* total is not 1 */                         \
	X(KVL_REQUEST_NO_COMMAND, "no_command", "ERROR\r\n") /* unknown or empty */                       \
	X(KVL_REQUEST_NO_NEWLINE, "no_newline", "ERROR\r\n") /* a line that never ends */                 \
	X(KVL_REQUEST_ARGS, "bad_arguments", "ERROR\r\n")    /* wrong number of them */                   \
	X(KVL_REQUEST_FORMAT, "bad_format", "CLIENT_ERROR bad command line format\r\n")                   \
	X(KVL_REQUEST_KEY_LONG, "key_too_long", "CLIENT_ERROR bad command line format\r\n")               \
	X(KVL_REQUEST_VALUE_SHORT, "value_truncated", "CLIENT_ERROR bad data chunk\r\n")                  \
	X(KVL_REQUEST_VALUE_LONG, "value_overlong", "CLIENT_ERROR bad data chunk\r\n")                    \
	X(KVL_REQUEST_VALUE_END, "value_terminator", "CLIENT_ERROR bad data chunk\r\n")                   \
	X(KVL_REQUEST_VALUE_HUGE, "value_too_large",                                                      \
		"SERVER_ERROR object too large for cache\r\n")                                            \
	X(KVL_REQUEST_DELTA, "bad_delta", "CLIENT_ERROR invalid numeric delta argument\r\n")              \
	X(KVL_REQUEST_EXPTIME, "bad_exptime", "CLIENT_ERROR invalid exptime argument\r\n")                \
	X(KVL_REQUEST_META_FLAG, "meta_flag", "CLIENT_ERROR invalid flag\r\n")                            \
	X(KVL_REQUEST_META_FLAG_TWICE, "meta_flag_twice", "CLIENT_ERROR duplicate flag\r\n")              \
	X(KVL_REQUEST_META_MANY, "meta_flags_many", "CLIENT_ERROR options flags are too long\r\n")        \
	X(KVL_REQUEST_META_TOKEN, "meta_token",                                                           \
		"CLIENT_ERROR bad token in command line format\r\n")                                      \
	X(KVL_REQUEST_META_OPAQUE, "meta_opaque", "CLIENT_ERROR opaque token too long\r\n")               \
	X(KVL_REQUEST_META_KEY, "meta_key", "CLIENT_ERROR error decoding key\r\n")                        \
	/* Good, and not for the fast path: split, answered by the router itself, or (proxy_token)      \
	 * to be rid of a token first. The answers are what dsr gets, where nothing can be merged. */ \
	X(KVL_REQUEST_MULTI_KEY, "multi_key", "SERVER_ERROR keys of several nodes\r\n")                   \
	X(KVL_REQUEST_MULTI_COMMAND, "multi_command",                                                     \
		"SERVER_ERROR several commands in one datagram\r\n")                                      \
	X(KVL_REQUEST_KEYLESS, "keyless", NULL)                                                           \
	X(KVL_REQUEST_PROXY_TOKEN, "proxy_token", NULL)                                                   \
	X(KVL_REQUEST_ADMIN, "admin", "SERVER_ERROR command refused by the router\r\n")                   \
	X(KVL_REQUEST_BINARY, "binary_header", NULL) /* not whole: whose is it? */                        \
	/* the pipeline's */                                                                              \
	X(KVL_REQUEST_NO_NODE, "no_node", "SERVER_ERROR no node available\r\n")                           \
	X(KVL_REQUEST_NO_REPLY, "no_reply", "SERVER_ERROR node did not answer\r\n")                       \
	X(KVL_REQUEST_REPLY_HUGE, "reply_huge", "SERVER_ERROR reply too large\r\n")                       \
	X(KVL_REQUEST_PATH_MTU, "path_mtu",                                                               \
		"SERVER_ERROR request too large for the way to its node\r\n")                             \
	X(KVL_REQUEST_TABLE_FULL, "pending_full", "SERVER_ERROR router busy\r\n")                         \
	X(KVL_REQUEST_OVER_QUOTA, "over_quota", "SERVER_ERROR over quota\r\n")                            \
	X(KVL_REQUEST_SHED, "shed", "SERVER_ERROR busy: the key's nodes have all they may\r\n")

enum kvl_verdict {
#define X(e, name, answer) e,
	KVL_VERDICTS(X)
#undef X
	KVL_VERDICT_COUNT
};

/*
 * What the pipeline needs to know of a request. Offsets are from the start of the UDP payload
 * (the frame). Valid in full when the verdict is KVL_REQUEST_OK; on an error verdict `proto`,
 * `op`, `flags` hold what was understood before the fault (KVL_REQ_QUIET above all, so that
 * noreply stays quiet), and key_len may be 0.
 */
struct kvl_request {
	uint16_t key_off;
	uint16_t key_len; /* as on the wire */
	uint8_t proto;    /* enum kvl_proto */
	uint8_t op;       /* enum kvl_op */
	uint8_t kind;     /* enum kvl_kind */
	uint8_t flags;    /* enum kvl_request_flag */
	union {
		uint32_t value_len;
		uint32_t lag_allowed; /* of a read, which has no value, with KVL_REQ_LAG */
	};
};

/* Refused for somebody's sake, not for want of an answer: an error even where a miss would do. */
static inline bool kvl_verdict_refused(enum kvl_verdict verdict)
{
	return verdict == KVL_REQUEST_OVER_QUOTA || verdict == KVL_REQUEST_SHED;
}

/* Whether the parser's verdict is that of a request to serve, one way or another. */
static inline bool kvl_verdict_good(enum kvl_verdict verdict)
{
	return verdict == KVL_REQUEST_OK
	       || (verdict >= KVL_REQUEST_MULTI_KEY && verdict <= KVL_REQUEST_PROXY_TOKEN);
}

/*
 * Parses and validates `len` bytes of UDP payload. Never reads beyond them, never writes to them,
 * allocates nothing, keeps nothing. `len` may be anything.
 */
enum kvl_verdict kvl_request_parse(const uint8_t *payload, size_t len, struct kvl_request *req);

/* Of kvl_request_key() below: a base64 key decoded. */
const uint8_t *kvl_request_key_decoded(
	const uint8_t *key, size_t wire_len, uint8_t scratch[KVL_KEY_MAX], size_t *len);

/*
 * The key as it is hashed and stored. Normally a pointer into the payload; for a base64 key the
 * decoded bytes in scratch. *len gets its length (1..KVL_KEY_MAX for an OK request).
 */
static inline const uint8_t *kvl_request_key(const uint8_t *payload, const struct kvl_request *req,
	uint8_t scratch[KVL_KEY_MAX], size_t *len)
{
	const uint8_t *key = payload + req->key_off;

	if (__builtin_expect(req->flags & KVL_REQ_KEY_BASE64, 0))
		return kvl_request_key_decoded(key, req->key_len, scratch, len);
	*len = req->key_len;
	return key;
}

/*
 * The router's own reply to a request it does not forward: frame (the request's id, sequence 0,
 * total 1) and text or binary error. `payload` is the request (its id, binary opcode and opaque
 * are echoed); `out` may be the same memory. Returns the bytes written, at most KVL_ANSWER_MAX, or
 * 0: stay silent (a frame fault, noreply, `len` of a binary header not there). Several
 * commands in one datagram are answered though the first say noreply: another may be waited for.
 */
#define KVL_ANSWER_MAX 128
size_t kvl_request_answer(enum kvl_verdict verdict, const struct kvl_request *req,
	const uint8_t *payload, size_t len, uint8_t out[KVL_ANSWER_MAX]);

/* The same without frame, for a command at `command` whose binary header, if any, is whole. */
size_t kvl_command_answer(enum kvl_verdict verdict, const struct kvl_request *req,
	const uint8_t *command, uint8_t *out);

/* What the error to a request must echo of it, for when the request is gone; 8 bytes. */
struct kvl_echo {
	uint32_t opaque; /* binary: as on the wire */
	uint8_t opcode;  /* binary */
	uint8_t proto;   /* enum kvl_proto */
	uint8_t pads[2];
};

/* Of a command that was parsed as good. */
struct kvl_echo kvl_command_echo(const struct kvl_request *req, const uint8_t *command);

/* kvl_command_answer() by what was kept; the request was not quiet. */
size_t kvl_echo_answer(
	enum kvl_verdict verdict, const struct kvl_echo *echo, uint8_t out[KVL_ANSWER_MAX]);

/* The verdict's name in counters; never NULL for verdict < KVL_VERDICT_COUNT. */
const char *kvl_verdict_name(enum kvl_verdict verdict);

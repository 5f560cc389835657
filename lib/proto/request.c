/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/proto/request.h"
#include "lib/proto/base64.h"
#include "lib/proto/binary.h"
#include "lib/proto/command.h"

/* Nothing longer is a UDP payload; offsets are 16 bits. */
#define PAYLOAD_MAX UINT16_MAX

/* The shortest request with a key: `mg k` and LF. Below it four bytes may not be there to load. */
#define KEYED_MIN (KVL_FRAME_LEN + 5)

static inline struct line line_after(const struct line *l, unsigned word)
{
	return (struct line){l->base, l->p + word, l->end};
}

static inline void command_is(struct kvl_request *req, enum kvl_op op, enum kvl_kind kind)
{
	req->op = op;
	req->kind = kind;
}

/* True if the command word goes on as `rest` (its space included) behind its first four bytes. */
static inline bool word_goes_on(const struct line *l, const char *rest, size_t len)
{
	return (size_t)(l->end - l->p) >= 4 + len && memcmp(l->p + 4, rest, len) == 0;
}

#define GOES_ON(l, rest) word_goes_on(l, rest, sizeof(rest) - 1)

/* Less common classic commands. */
static enum kvl_verdict text_dispatch(const struct line *l, struct kvl_request *req)
{
	switch (load32(l->p)) {
	case WORD4('g', 'a', 't', ' '):
		command_is(req, KVL_OP_GAT, KVL_KIND_WRITE);
		return text_retrieval_touch(line_after(l, 4), req);
	case WORD4('g', 'a', 't', 's'):
		if (!GOES_ON(l, " "))
			break;
		command_is(req, KVL_OP_GATS, KVL_KIND_WRITE);
		return text_retrieval_touch(line_after(l, 5), req);
	case WORD4('a', 'd', 'd', ' '):
		command_is(req, KVL_OP_ADD, KVL_KIND_WRITE);
		return text_storage(line_after(l, 4), req);
	case WORD4('c', 'a', 's', ' '):
		command_is(req, KVL_OP_CAS, KVL_KIND_WRITE);
		return text_storage(line_after(l, 4), req);
	case WORD4('a', 'p', 'p', 'e'):
		if (!GOES_ON(l, "nd "))
			break;
		command_is(req, KVL_OP_APPEND, KVL_KIND_WRITE);
		return text_storage(line_after(l, 7), req);
	case WORD4('p', 'r', 'e', 'p'):
		if (!GOES_ON(l, "end "))
			break;
		command_is(req, KVL_OP_PREPEND, KVL_KIND_WRITE);
		return text_storage(line_after(l, 8), req);
	case WORD4('r', 'e', 'p', 'l'):
		if (!GOES_ON(l, "ace "))
			break;
		command_is(req, KVL_OP_REPLACE, KVL_KIND_WRITE);
		return text_storage(line_after(l, 8), req);
	case WORD4('i', 'n', 'c', 'r'):
		if (!GOES_ON(l, " "))
			break;
		command_is(req, KVL_OP_INCR, KVL_KIND_WRITE);
		return text_arithmetic(line_after(l, 5), req);
	case WORD4('d', 'e', 'c', 'r'):
		if (!GOES_ON(l, " "))
			break;
		command_is(req, KVL_OP_DECR, KVL_KIND_WRITE);
		return text_arithmetic(line_after(l, 5), req);
	case WORD4('t', 'o', 'u', 'c'):
		if (!GOES_ON(l, "h "))
			break;
		command_is(req, KVL_OP_TOUCH, KVL_KIND_WRITE);
		return text_touch(line_after(l, 6), req);
	case WORD4('d', 'e', 'l', 'e'):
		if (!GOES_ON(l, "te "))
			break;
		command_is(req, KVL_OP_DELETE, KVL_KIND_WRITE);
		return text_delete(line_after(l, 7), req);
	}
	return word_command(*l, req);
}

static enum kvl_verdict meta_dispatch(
	const struct line *l, struct kvl_request *req, enum kvl_op op, enum kvl_kind kind)
{
	req->proto = KVL_PROTO_META;
	command_is(req, op, kind);
	return meta_command(line_after(l, 3), req);
}

static inline enum kvl_verdict dispatch(const struct line *l, struct kvl_request *req)
{
	uint32_t word = load32(l->p);

	switch (word) {
	case WORD4('g', 'e', 't', ' '):
		command_is(req, KVL_OP_GET, KVL_KIND_READ);
		req->flags = KVL_REQ_IDEMPOTENT;
		return text_retrieval(line_after(l, 4), req);
	case WORD4('s', 'e', 't', ' '):
		command_is(req, KVL_OP_SET, KVL_KIND_WRITE);
		return text_storage(line_after(l, 4), req);
	case WORD4('g', 'e', 't', 's'):
		if (l->p[4] != ' ')
			break;
		command_is(req, KVL_OP_GETS, KVL_KIND_READ);
		req->flags = KVL_REQ_IDEMPOTENT;
		return text_retrieval(line_after(l, 5), req);
	}
	switch (word & WORD4(0xff, 0xff, 0xff, 0)) {
	case WORD4('m', 'g', ' ', 0):
		return meta_dispatch(l, req, KVL_OP_MG, KVL_KIND_READ);
	case WORD4('m', 's', ' ', 0):
		return meta_dispatch(l, req, KVL_OP_MS, KVL_KIND_WRITE);
	case WORD4('m', 'd', ' ', 0):
		return meta_dispatch(l, req, KVL_OP_MD, KVL_KIND_WRITE);
	case WORD4('m', 'a', ' ', 0):
		return meta_dispatch(l, req, KVL_OP_MA, KVL_KIND_WRITE);
	case WORD4('m', 'e', ' ', 0):
		return meta_dispatch(l, req, KVL_OP_ME, KVL_KIND_READ);
	}
	return text_dispatch(l, req);
}

enum kvl_verdict kvl_request_parse(const uint8_t *payload, size_t len, struct kvl_request *req)
{
	*req = (struct kvl_request){0};
	if (__builtin_expect(len <= KVL_FRAME_LEN, 0))
		return KVL_REQUEST_FRAME_SHORT;
	if (__builtin_expect(payload[4] != 0 || payload[5] != 1, 0))
		return KVL_REQUEST_FRAME_TOTAL;
	if (__builtin_expect(len > PAYLOAD_MAX, 0))
		return KVL_REQUEST_VALUE_HUGE;

	struct line l = {payload, payload + KVL_FRAME_LEN, payload + len};

	if (__builtin_expect(*l.p == BINARY_REQUEST, 0))
		return binary_request(&l, req);
	if (__builtin_expect(len < KEYED_MIN, 0))
		return word_command(l, req);
	return dispatch(&l, req);
}

const uint8_t *kvl_request_key(const uint8_t *payload, const struct kvl_request *req,
	uint8_t scratch[KVL_KEY_MAX], size_t *len)
{
	const uint8_t *key = payload + req->key_off;

	if (__builtin_expect(req->flags & KVL_REQ_KEY_BASE64, 0)) {
		*len = base64_key_decode(key, req->key_len, scratch);
		return scratch;
	}
	*len = req->key_len;
	return key;
}

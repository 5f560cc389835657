/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/proto/request.h"
#include "lib/proto/base64.h"
#include "lib/proto/binary.h"
#include "lib/proto/command.h"
#include "lib/proto/get.h"

/* Nothing longer is a UDP payload; offsets are 16 bits. */
#define PAYLOAD_MAX UINT16_MAX

/* The shortest request with a key: `mg k` and LF. Below it four bytes may not be there to load. */
#define KEYED_MIN (KVL_FRAME_LEN + 5)

static inline void command_is(struct kvl_request *req, enum kvl_op op, enum kvl_kind kind)
{
	req->op = op;
	req->kind = kind;
}

/* True if the command word goes on as `rest` (its space included) behind its first four bytes. */
static inline bool word_goes_on(const uint8_t *p, const uint8_t *end, const char *rest, size_t len)
{
	return (size_t)(end - p) >= 4 + len && memcmp(p + 4, rest, len) == 0;
}

#define GOES_ON(rest) word_goes_on(p, end, rest, sizeof(rest) - 1)

/* Less common classic commands. */
static enum kvl_verdict text_dispatch(COMMAND_ARGS)
{
	switch (load32(p)) {
	case WORD4('g', 'a', 't', ' '):
		command_is(req, KVL_OP_GAT, KVL_KIND_WRITE);
		return text_retrieval_touch(base, p + 4, end, req);
	case WORD4('g', 'a', 't', 's'):
		if (!GOES_ON(" "))
			break;
		command_is(req, KVL_OP_GATS, KVL_KIND_WRITE);
		return text_retrieval_touch(base, p + 5, end, req);
	case WORD4('a', 'd', 'd', ' '):
		command_is(req, KVL_OP_ADD, KVL_KIND_WRITE);
		return text_storage(base, p + 4, end, req);
	case WORD4('c', 'a', 's', ' '):
		command_is(req, KVL_OP_CAS, KVL_KIND_WRITE);
		return text_storage(base, p + 4, end, req);
	case WORD4('a', 'p', 'p', 'e'):
		if (!GOES_ON("nd "))
			break;
		command_is(req, KVL_OP_APPEND, KVL_KIND_WRITE);
		return text_storage(base, p + 7, end, req);
	case WORD4('p', 'r', 'e', 'p'):
		if (!GOES_ON("end "))
			break;
		command_is(req, KVL_OP_PREPEND, KVL_KIND_WRITE);
		return text_storage(base, p + 8, end, req);
	case WORD4('r', 'e', 'p', 'l'):
		if (!GOES_ON("ace "))
			break;
		command_is(req, KVL_OP_REPLACE, KVL_KIND_WRITE);
		return text_storage(base, p + 8, end, req);
	case WORD4('i', 'n', 'c', 'r'):
		if (!GOES_ON(" "))
			break;
		command_is(req, KVL_OP_INCR, KVL_KIND_WRITE);
		return text_arithmetic(base, p + 5, end, req);
	case WORD4('d', 'e', 'c', 'r'):
		if (!GOES_ON(" "))
			break;
		command_is(req, KVL_OP_DECR, KVL_KIND_WRITE);
		return text_arithmetic(base, p + 5, end, req);
	case WORD4('t', 'o', 'u', 'c'):
		if (!GOES_ON("h "))
			break;
		command_is(req, KVL_OP_TOUCH, KVL_KIND_WRITE);
		return text_touch(base, p + 6, end, req);
	case WORD4('d', 'e', 'l', 'e'):
		if (!GOES_ON("te "))
			break;
		command_is(req, KVL_OP_DELETE, KVL_KIND_WRITE);
		return text_delete(base, p + 7, end, req);
	}
	return word_command(base, p, end, req);
}

static inline void meta_is(struct kvl_request *req, enum kvl_op op, enum kvl_kind kind)
{
	req->proto = KVL_PROTO_META;
	command_is(req, op, kind);
}

static inline enum kvl_verdict dispatch(COMMAND_ARGS)
{
	uint32_t word = load32(p);

	*req = (struct kvl_request){0};
	switch (word) {
	case WORD4('g', 'e', 't', ' '):
		command_is(req, KVL_OP_GET, KVL_KIND_READ);
		req->flags = KVL_REQ_IDEMPOTENT;
		return text_retrieval(base, p + 4, end, req);
	case WORD4('s', 'e', 't', ' '):
		command_is(req, KVL_OP_SET, KVL_KIND_WRITE);
		return text_storage(base, p + 4, end, req);
	case WORD4('g', 'e', 't', 's'):
		if (p[4] != ' ')
			break;
		command_is(req, KVL_OP_GETS, KVL_KIND_TOKEN);
		return text_retrieval(base, p + 5, end, req);
	}
	switch (word & WORD4(0xff, 0xff, 0xff, 0)) {
	case WORD4('m', 'g', ' ', 0):
		meta_is(req, KVL_OP_MG, KVL_KIND_READ);
		return meta_get(base, p + 3, end, req);
	case WORD4('m', 's', ' ', 0):
		meta_is(req, KVL_OP_MS, KVL_KIND_WRITE);
		return meta_set(base, p + 3, end, req);
	case WORD4('m', 'd', ' ', 0):
		meta_is(req, KVL_OP_MD, KVL_KIND_WRITE);
		return meta_delete(base, p + 3, end, req);
	case WORD4('m', 'a', ' ', 0):
		meta_is(req, KVL_OP_MA, KVL_KIND_WRITE);
		return meta_arithmetic(base, p + 3, end, req);
	case WORD4('m', 'e', ' ', 0):
		meta_is(req, KVL_OP_ME, KVL_KIND_READ);
		return meta_debug(base, p + 3, end, req);
	}
	return text_dispatch(base, p, end, req);
}

static enum kvl_verdict frame_fault(const uint8_t *payload, size_t len)
{
	if (len <= KVL_FRAME_LEN)
		return KVL_REQUEST_FRAME_SHORT;
	if (payload[4] != 0 || payload[5] != 1)
		return KVL_REQUEST_FRAME_TOTAL;
	return len > PAYLOAD_MAX ? KVL_REQUEST_VALUE_HUGE : KVL_REQUEST_OK;
}

/* Whatever cannot be dispatched on four bytes of a command word. */
static __attribute__((cold, noinline)) enum kvl_verdict odd_request(
	const uint8_t *payload, size_t len, struct kvl_request *req)
{
	const uint8_t *p = payload + KVL_FRAME_LEN;
	enum kvl_verdict verdict = frame_fault(payload, len);

	*req = (struct kvl_request){0};
	if (verdict != KVL_REQUEST_OK)
		return verdict;
	if (*p == BINARY_REQUEST)
		return binary_request(payload, p, payload + len, req);
	return word_command(payload, p, payload + len, req);
}

enum kvl_verdict command_parse(COMMAND_ARGS)
{
	if (end - p < (ptrdiff_t)(KEYED_MIN - KVL_FRAME_LEN)) {
		*req = (struct kvl_request){0};
		return word_command(base, p, end, req);
	}
	return dispatch(base, p, end, req);
}

enum kvl_verdict kvl_request_parse(const uint8_t *payload, size_t len, struct kvl_request *req)
{
	if (__builtin_expect(kvl_get_parse(payload, len, req), 1))
		return KVL_REQUEST_OK;
	if (__builtin_expect(len - KEYED_MIN > PAYLOAD_MAX - KEYED_MIN || payload[4] != 0
				     || payload[5] != 1 || payload[8] == BINARY_REQUEST,
		    0))
		return odd_request(payload, len, req);
	return dispatch(payload, payload + KVL_FRAME_LEN, payload + len, req);
}

const uint8_t *kvl_request_key_decoded(
	const uint8_t *key, size_t wire_len, uint8_t scratch[KVL_KEY_MAX], size_t *len)
{
	*len = base64_key_decode(key, wire_len, scratch);
	return scratch;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/proto/binary.h"

/* What an opcode's request looks like; absent ones are unknown to memcached without SASL. */
struct opcode {
	uint8_t op;     /* enum kvl_op; 0: unknown */
	uint8_t kind;   /* enum kvl_kind */
	uint8_t extras; /* their only length */
	uint8_t shape;
};

enum shape {
	SHAPE_BARE,  /* no key, nothing else */
	SHAPE_KEY,   /* a key, nothing behind it */
	SHAPE_VALUE, /* a key, a value of any length */
	SHAPE_STAT,  /* a key or none, nothing behind it */
	SHAPE_FLUSH, /* no key; extras or none */
};

#define READ(op, extras, shape)                                    \
	{                                                          \
		KVL_OP_##op, KVL_KIND_TOKEN, extras, SHAPE_##shape \
	}
#define WRITE(op, extras, shape)                                   \
	{                                                          \
		KVL_OP_##op, KVL_KIND_WRITE, extras, SHAPE_##shape \
	}
#define LOCAL(op, shape)                                        \
	{                                                       \
		KVL_OP_##op, KVL_KIND_KEYLESS, 0, SHAPE_##shape \
	}

static const struct opcode opcodes[] = {
	[0x00] = READ(GET, 0, KEY),
	[0x01] = WRITE(SET, 8, VALUE),
	[0x02] = WRITE(ADD, 8, VALUE),
	[0x03] = WRITE(REPLACE, 8, VALUE),
	[0x04] = WRITE(DELETE, 0, KEY),
	[0x05] = WRITE(INCR, 20, KEY),
	[0x06] = WRITE(DECR, 20, KEY),
	[BINARY_QUIT] = LOCAL(QUIT, BARE),
	[0x08] = {KVL_OP_ADMIN, KVL_KIND_ADMIN, 4, SHAPE_FLUSH},
	[0x09] = READ(GET, 0, KEY),
	[BINARY_NOOP] = LOCAL(MN, BARE),
	[BINARY_VERSION] = LOCAL(VERSION, BARE),
	[BINARY_GETK] = READ(GET, 0, KEY),
	[BINARY_GETKQ] = READ(GET, 0, KEY),
	[0x0e] = WRITE(APPEND, 0, VALUE),
	[0x0f] = WRITE(PREPEND, 0, VALUE),
	[BINARY_STAT] = LOCAL(STATS, STAT),
	[0x11] = WRITE(SET, 8, VALUE),
	[0x12] = WRITE(ADD, 8, VALUE),
	[0x13] = WRITE(REPLACE, 8, VALUE),
	[0x14] = WRITE(DELETE, 0, KEY),
	[0x15] = WRITE(INCR, 20, KEY),
	[0x16] = WRITE(DECR, 20, KEY),
	[BINARY_QUITQ] = LOCAL(QUIT, BARE),
	[0x18] = {KVL_OP_ADMIN, KVL_KIND_ADMIN, 4, SHAPE_FLUSH},
	[0x19] = WRITE(APPEND, 0, VALUE),
	[0x1a] = WRITE(PREPEND, 0, VALUE),
	[0x1c] = WRITE(TOUCH, 4, KEY),
	[0x1d] = WRITE(GAT, 4, KEY),
	[0x1e] = WRITE(GAT, 4, KEY),
	[BINARY_GATK] = WRITE(GAT, 4, KEY),
	[BINARY_GATKQ] = WRITE(GAT, 4, KEY),
};

bool binary_opcode_quiet(uint8_t opcode)
{
	const uint64_t quiet =
		1ull << 0x09 | 1ull << 0x0d                     /* getq getkq */
		| 0xffull << 0x11 | 1ull << 0x19 | 1ull << 0x1a /* setq..flushq appendq prependq */
		| 1ull << 0x1e | 1ull << 0x24                   /* gatq gatkq */
		| 1ull << 0x32 | 1ull << 0x34 | 1ull << 0x36    /* the range protocol's */
		| 1ull << 0x38 | 1ull << 0x3a | 1ull << 0x3c;

	return opcode < 64 && (quiet >> opcode & 1);
}

bool binary_opcode_reads(uint8_t opcode)
{
	const uint64_t reads = 1ull << 0x00 | 1ull << 0x09 | 1ull << 0x0c | 1ull << 0x0d
			       | 1ull << 0x1d | 1ull << 0x1e | 1ull << 0x23 | 1ull << 0x24;

	return opcode < 64 && (reads >> opcode & 1);
}

static const struct opcode *opcode_find(uint8_t opcode)
{
	static const struct opcode unknown = {0};

	return opcode < sizeof(opcodes) / sizeof(opcodes[0]) ? &opcodes[opcode] : &unknown;
}

/* The lengths are those of the opcode; `rest` is what the body has behind extras and key. */
static bool shape_fits(const struct opcode *o, uint8_t extras, uint16_t key_len, uint32_t rest)
{
	switch (o->shape) {
	case SHAPE_BARE:
		return extras == 0 && key_len == 0 && rest == 0;
	case SHAPE_KEY:
		return extras == o->extras && key_len != 0 && rest == 0;
	case SHAPE_VALUE:
		return extras == o->extras && key_len != 0;
	case SHAPE_STAT:
		return extras == 0 && rest == 0;
	default:
		return (extras == 0 || extras == o->extras) && key_len == 0 && rest == 0;
	}
}

/* Extras, key and value by the header alone, in the order in which memcached looks at them. */
static enum kvl_verdict header_check(
	const uint8_t *base, const uint8_t *p, const struct opcode *o, struct kvl_request *req)
{
	uint8_t extras = p[BINARY_EXTRAS];
	uint16_t key_len = p[BINARY_KEY] << 8 | p[BINARY_KEY + 1];
	uint32_t body = binary_extent(p) - BINARY_HEADER_LEN;

	if (body < (uint32_t)key_len + extras)
		return KVL_REQUEST_NO_COMMAND;
	if (key_len > KVL_KEY_MAX)
		return KVL_REQUEST_KEY_LONG;
	if (o->op == KVL_OP_NONE)
		return KVL_REQUEST_NO_COMMAND;
	if (!shape_fits(o, extras, key_len, body - key_len - extras))
		return KVL_REQUEST_ARGS;
	req->key_off = p + BINARY_HEADER_LEN + extras - base;
	req->key_len = key_len;
	req->value_len = body - key_len - extras;
	return KVL_REQUEST_OK;
}

static enum kvl_verdict kind_verdict(const struct opcode *o)
{
	switch (o->kind) {
	case KVL_KIND_KEYLESS:
		return KVL_REQUEST_KEYLESS;
	case KVL_KIND_ADMIN:
		return KVL_REQUEST_ADMIN;
	default:
		return KVL_REQUEST_OK;
	}
}

static void opcode_note(uint8_t opcode, const struct opcode *o, struct kvl_request *req)
{
	req->op = o->op;
	req->kind = o->kind;
	if (binary_opcode_quiet(opcode))
		req->flags |= KVL_REQ_QUIET;
	if (o->op == KVL_OP_QUIT)
		req->flags |= KVL_REQ_CLOSE;
}

enum kvl_verdict binary_request(
	const uint8_t *base, const uint8_t *p, const uint8_t *end, struct kvl_request *req)
{
	size_t have = end - p;
	const struct opcode *o;
	enum kvl_verdict verdict;

	req->proto = KVL_PROTO_BINARY;
	if (have < BINARY_HEADER_LEN)
		return KVL_REQUEST_BINARY;
	o = opcode_find(p[BINARY_OPCODE]);
	opcode_note(p[BINARY_OPCODE], o, req);
	/* The one check that protects other clients of the node, so it comes first. */
	if (binary_extent(p) > UINT16_MAX)
		return KVL_REQUEST_VALUE_HUGE;
	if (binary_extent(p) > have)
		return KVL_REQUEST_VALUE_SHORT;
	verdict = header_check(base, p, o, req);
	if (binary_extent(p) < have)
		return KVL_REQUEST_MULTI_COMMAND;
	return verdict == KVL_REQUEST_OK ? kind_verdict(o) : verdict;
}

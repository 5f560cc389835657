/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/proto/base64.h"
#include "lib/proto/command.h"
#include "lib/proto/meta_flag.h"
#include "lib/proto/number.h"
#include "lib/proto/value.h"

/*
 * 1.6.45 takes 20 tokens, command and key included, 1.6.18 one less. More than that on 1.6.18 is
 * worse than an error: it refuses an ms without reading its value, and runs the value as commands.
 */
#define META_TOKENS_MAX 19

#define FLAGS_PROXY  (FLAG('P') | FLAG('L')) /* ignored by memcached, hints to such as us */
#define FLAGS_COMMON (FLAG('b') | FLAG('k') | FLAG('O') | FLAG('q') | FLAG('C') | FLAG('E'))
#define FLAGS_MG                                                                           \
	(FLAG('c') | FLAG('f') | FLAG('h') | FLAG('l') | FLAG('s') | FLAG('t') | FLAG('v') \
		| FLAG('N') | FLAG('R') | FLAG('T') | FLAG('u'))
#define FLAGS_MS (FLAG('c') | FLAG('F') | FLAG('I') | FLAG('s') | FLAG('T') | FLAG('M') | FLAG('N'))
#define FLAGS_MD (FLAG('F') | FLAG('I') | FLAG('T') | FLAG('x'))
#define FLAGS_MA                                                                           \
	(FLAG('N') | FLAG('J') | FLAG('D') | FLAG('T') | FLAG('M') | FLAG('t') | FLAG('c') \
		| FLAG('v') | FLAG('s'))

/* These take no argument. */
#define FLAGS_BARE                                                                         \
	(FLAG('b') | FLAG('c') | FLAG('f') | FLAG('h') | FLAG('k') | FLAG('l') | FLAG('q') \
		| FLAG('s') | FLAG('t') | FLAG('u') | FLAG('v') | FLAG('x') | FLAG('I'))

/* An mg with one of these changes the item: a write, and not one to repeat. */
#define FLAGS_MG_WRITE (FLAG('N') | FLAG('R') | FLAG('T') | FLAG('E'))

/* Each command gets its own copy of the parser, folded on its constant shape. */
#define META_INLINE inline __attribute__((always_inline))

/* One of the meta commands; a constant where it is used, so that each gets its own parser. */
struct meta_shape {
	enum kvl_op op;
	uint64_t allowed;
	const char *modes;
};

/*
 * A flag with an argument is read through a copy of the line, whose address may escape; the
 * caller's own stays in registers (see command.h).
 */
static META_INLINE enum kvl_verdict flag_argued(
	struct line *l, uint8_t c, const struct meta_shape *shape, struct meta_flags *f)
{
	struct line rest = *l;
	uint8_t mode = f->mode;
	enum kvl_verdict verdict = meta_argument(&rest, c, shape->modes, &mode);

	f->mode = mode;
	l->p = rest.p;
	return verdict;
}

static META_INLINE enum kvl_verdict flag_parse(
	struct line *l, const struct meta_shape *shape, struct meta_flags *f)
{
	uint8_t c = *l->p;
	uint8_t index = c - 'A';

	if (++f->tokens > META_TOKENS_MAX)
		return KVL_REQUEST_META_MANY;
	if (index > 'z' - 'A' || !(shape->allowed >> index & 1))
		return KVL_REQUEST_META_FLAG;
	if (f->seen >> index & 1)
		return KVL_REQUEST_META_FLAG_TWICE;
	f->seen |= UINT64_C(1) << index;
	l->p++;
	if (FLAGS_BARE >> index & 1)
		return line_at_gap(l) ? KVL_REQUEST_OK : KVL_REQUEST_META_TOKEN;
	return flag_argued(l, c, shape, f);
}

static META_INLINE enum kvl_verdict flags_parse(
	struct line *l, const struct meta_shape *shape, struct meta_flags *f)
{
	while (line_more(l)) {
		enum kvl_verdict verdict = flag_parse(l, shape, f);

		if (__builtin_expect(verdict != KVL_REQUEST_OK, 0))
			return verdict;
	}
	return line_finish(l) ? KVL_REQUEST_OK : KVL_REQUEST_FORMAT;
}

/*
 * May another node be asked instead? A plain read, and a write that carries its own version and
 * depends on no earlier state (SPEC 7): `E` without compare, append, prepend or add.
 */
static inline bool meta_idempotent(enum kvl_op op, const struct meta_flags *f)
{
	bool versioned = (f->seen & FLAG('E')) && !(f->seen & FLAG('C'));

	switch (op) {
	case KVL_OP_MG:
		return !(f->seen & (FLAGS_MG_WRITE | FLAG('c')));
	case KVL_OP_ME:
		return true;
	case KVL_OP_MS:
		return versioned && !(f->seen & FLAG('I')) && (f->mode == 0 || f->mode == 'S');
	case KVL_OP_MD:
		return versioned && (f->seen & FLAG('x'));
	default:
		return false;
	}
}

static inline void meta_note(struct kvl_request *req, enum kvl_op op, const struct meta_flags *f)
{
	if (f->seen & FLAG('q'))
		req->flags |= KVL_REQ_QUIET;
	if (f->seen & FLAG('b'))
		req->flags |= KVL_REQ_KEY_BASE64;
	if (f->seen & FLAGS_PROXY)
		req->flags |= KVL_REQ_PROXY;
	if (op == KVL_OP_MG && (f->seen & FLAGS_MG_WRITE))
		req->kind = KVL_KIND_WRITE;
	else if (op == KVL_OP_MG && (f->seen & FLAG('c')))
		req->kind = KVL_KIND_TOKEN;
	if (meta_idempotent(op, f))
		req->flags |= KVL_REQ_IDEMPOTENT;
}

/* Line, then value for ms. */
static META_INLINE enum kvl_verdict meta_parse(
	struct line *l, const struct meta_shape *shape, struct kvl_request *req)
{
	struct meta_flags f = {.tokens = 2};
	uint64_t value_len = 0;
	enum kvl_verdict verdict = line_key(l, req);

	if (verdict != KVL_REQUEST_OK)
		return verdict;
	if (shape->op == KVL_OP_MS) {
		f.tokens++;
		if (!line_more(l)
			|| !number_unsigned(l, NUMBER_DIGITS_32, INT32_MAX - 2, &value_len))
			return KVL_REQUEST_FORMAT;
	}
	verdict = flags_parse(l, shape, &f);
	if (verdict != KVL_REQUEST_OK)
		return verdict;
	if ((f.seen & FLAG('b')) && !base64_key_valid(l->base + req->key_off, req->key_len))
		return KVL_REQUEST_META_KEY;
	meta_note(req, shape->op, &f);
	req->value_len = value_len;
	verdict = shape->op == KVL_OP_MS ? value_check(l, value_len) : line_alone(l);
	return verdict == KVL_REQUEST_OK && (f.seen & FLAGS_PROXY) ? KVL_REQUEST_PROXY_TOKEN
								   : verdict;
}

static META_INLINE enum kvl_verdict meta_command(COMMAND_ARGS, struct meta_shape shape)
{
	struct line l = {base, p, end};
	enum kvl_verdict verdict = meta_parse(&l, &shape, req);

	if (__builtin_expect(verdict != KVL_REQUEST_OK, 0))
		return request_fault(verdict, base, end, req);
	return KVL_REQUEST_OK;
}

/* mg <key> <flags>* */
enum kvl_verdict meta_get(COMMAND_ARGS)
{
	return meta_command(base, p, end, req,
		(struct meta_shape){KVL_OP_MG, FLAGS_PROXY | FLAGS_COMMON | FLAGS_MG, ""});
}

/* ms <key> <bytes> <flags>* and a value */
enum kvl_verdict meta_set(COMMAND_ARGS)
{
	return meta_command(base, p, end, req,
		(struct meta_shape){KVL_OP_MS, FLAGS_PROXY | FLAGS_COMMON | FLAGS_MS, "EAPRS"});
}

/* md <key> <flags>* */
enum kvl_verdict meta_delete(COMMAND_ARGS)
{
	return meta_command(base, p, end, req,
		(struct meta_shape){KVL_OP_MD, FLAGS_PROXY | FLAGS_COMMON | FLAGS_MD, ""});
}

/* ma <key> <flags>* */
enum kvl_verdict meta_arithmetic(COMMAND_ARGS)
{
	return meta_command(base, p, end, req,
		(struct meta_shape){KVL_OP_MA, FLAGS_PROXY | FLAGS_COMMON | FLAGS_MA, "I+D-"});
}

/* me <key>; its b is refused: 1.6.18 decodes the key of `me KEY b`, 1.6.45 does not */
enum kvl_verdict meta_debug(COMMAND_ARGS)
{
	return meta_command(base, p, end, req, (struct meta_shape){KVL_OP_ME, 0, ""});
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/proto/base64.h"
#include "lib/proto/command.h"
#include "lib/proto/number.h"

/* A set of flag letters. */
#define FLAG(c) (UINT64_C(1) << ((c) - 'A'))

/*
 * 1.6.45 takes 20 tokens, command and key included, 1.6.18 one less. More than that on 1.6.18 is
 * worse than an error: it refuses an ms without reading its value, and runs the value as commands.
 */
#define META_TOKENS_MAX 19
#define META_OPAQUE_MAX 31

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

struct meta_flags {
	uint64_t allowed;
	uint64_t seen;
	unsigned tokens; /* in the line so far */
	uint8_t mode;    /* the M argument, or 0 */
};

static bool mode_known(const struct meta_flags *f)
{
	static const char ms_modes[] = "EAPRS", ma_modes[] = "I+D-";
	bool ma = f->allowed & FLAG('J');

	return ma ? memchr(ma_modes, f->mode, 4) != NULL : memchr(ms_modes, f->mode, 5) != NULL;
}

/* The argument of flag `c`, at l->p up to the next gap. */
static enum kvl_verdict flag_argument(struct line *l, struct meta_flags *f, uint8_t c)
{
	uint64_t value;
	bool good = false;

	switch (c) {
	case 'N':
	case 'R':
	case 'T':
		good = number_exptime(l);
		break;
	case 'F':
		good = number_unsigned(l, NUMBER_DIGITS_32, UINT32_MAX, &value);
		break;
	case 'C':
	case 'E':
	case 'D':
	case 'J':
		good = number_unsigned(l, NUMBER_DIGITS_64, UINT64_MAX, &value);
		break;
	case 'M':
		if (line_at_gap(l) || l->p == l->end)
			break;
		f->mode = *l->p++;
		good = line_at_gap(l) && mode_known(f);
		break;
	case 'O':
		if (line_token(l) > META_OPAQUE_MAX)
			return KVL_REQUEST_META_OPAQUE;
		good = line_at_gap(l);
		break;
	case 'P':
	case 'L':
		line_token(l);
		good = line_at_gap(l);
		break;
	}
	return good ? KVL_REQUEST_OK : KVL_REQUEST_META_TOKEN;
}

static enum kvl_verdict flag_parse(struct line *l, struct meta_flags *f)
{
	uint8_t c = *l->p;
	uint8_t index = c - 'A';

	if (++f->tokens > META_TOKENS_MAX)
		return KVL_REQUEST_META_MANY;
	if (index > 'z' - 'A' || !(f->allowed >> index & 1))
		return KVL_REQUEST_META_FLAG;
	if (f->seen >> index & 1)
		return KVL_REQUEST_META_FLAG_TWICE;
	f->seen |= UINT64_C(1) << index;
	l->p++;
	if (FLAGS_BARE >> index & 1)
		return line_at_gap(l) ? KVL_REQUEST_OK : KVL_REQUEST_META_TOKEN;
	return flag_argument(l, f, c);
}

static enum kvl_verdict flags_parse(struct line *l, struct meta_flags *f)
{
	while (line_more(l)) {
		enum kvl_verdict verdict = flag_parse(l, f);

		if (__builtin_expect(verdict != KVL_REQUEST_OK, 0))
			return verdict;
	}
	return line_finish(l) ? KVL_REQUEST_OK : KVL_REQUEST_FORMAT;
}

static uint64_t flags_of(enum kvl_op op)
{
	switch (op) {
	case KVL_OP_MG:
		return FLAGS_PROXY | FLAGS_COMMON | FLAGS_MG;
	case KVL_OP_MS:
		return FLAGS_PROXY | FLAGS_COMMON | FLAGS_MS;
	case KVL_OP_MD:
		return FLAGS_PROXY | FLAGS_COMMON | FLAGS_MD;
	case KVL_OP_MA:
		return FLAGS_PROXY | FLAGS_COMMON | FLAGS_MA;
	default:
		/* me: 1.6.18 decodes the key of `me KEY b`, 1.6.45 only with yet another flag */
		return 0;
	}
}

/*
 * May another node be asked instead? A plain read, and a write that carries its own version and
 * depends on no earlier state (SPEC 7): `E` without compare, append, prepend or add.
 */
static bool meta_idempotent(enum kvl_op op, const struct meta_flags *f)
{
	bool versioned = (f->seen & FLAG('E')) && !(f->seen & FLAG('C'));

	switch (op) {
	case KVL_OP_MG:
		return !(f->seen & FLAGS_MG_WRITE);
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

static void meta_note(struct kvl_request *req, const struct meta_flags *f)
{
	if (f->seen & FLAG('q'))
		req->flags |= KVL_REQ_QUIET;
	if (f->seen & FLAG('b'))
		req->flags |= KVL_REQ_KEY_BASE64;
	if (req->op == KVL_OP_MG && (f->seen & FLAGS_MG_WRITE))
		req->kind = KVL_KIND_WRITE;
	if (meta_idempotent(req->op, f))
		req->flags |= KVL_REQ_IDEMPOTENT;
}

/* Line, then value for ms. */
static enum kvl_verdict meta_parse(struct line *l, struct kvl_request *req)
{
	struct meta_flags f = {.allowed = flags_of(req->op), .tokens = 2};
	uint64_t value_len = 0;
	enum kvl_verdict verdict = line_key(l, req);

	if (verdict != KVL_REQUEST_OK)
		return verdict;
	if (req->op == KVL_OP_MS) {
		f.tokens++;
		if (!line_more(l)
			|| !number_unsigned(l, NUMBER_DIGITS_32, INT32_MAX - 2, &value_len))
			return KVL_REQUEST_FORMAT;
	}
	verdict = flags_parse(l, &f);
	if (verdict != KVL_REQUEST_OK)
		return verdict;
	if ((f.seen & FLAG('b')) && !base64_key_valid(l->base + req->key_off, req->key_len))
		return KVL_REQUEST_META_KEY;
	meta_note(req, &f);
	req->value_len = value_len;
	return req->op == KVL_OP_MS ? value_check(l, value_len) : line_alone(l);
}

/* mg|md|ma|me <key> <flags>*, ms <key> <bytes> <flags>* and a value */
enum kvl_verdict meta_command(struct line l, struct kvl_request *req)
{
	enum kvl_verdict verdict = meta_parse(&l, req);

	if (__builtin_expect(verdict != KVL_REQUEST_OK, 0))
		return request_fault(verdict, &l, req);
	return KVL_REQUEST_OK;
}

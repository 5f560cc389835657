/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/proto/command.h"
#include "lib/proto/number.h"
#include "lib/proto/value.h"

/* All keys are looked at, so that a multi-key get is known to be well-formed before it is split. */
static enum kvl_verdict keys_rest(struct line *l, struct kvl_request *req)
{
	struct kvl_request other;
	bool many = false;

	while (line_more(l)) {
		enum kvl_verdict verdict = line_key(l, &other);

		if (verdict != KVL_REQUEST_OK)
			return verdict;
		many = true;
	}
	if (!line_finish(l))
		return KVL_REQUEST_FORMAT;
	if (line_alone(l) != KVL_REQUEST_OK)
		return KVL_REQUEST_MULTI_COMMAND;
	return many ? KVL_REQUEST_MULTI_KEY : KVL_REQUEST_OK;
}

/* get <key>+ */
enum kvl_verdict text_retrieval(COMMAND_ARGS)
{
	struct line l = {base, p, end};
	enum kvl_verdict verdict = line_key(&l, req);

	if (verdict == KVL_REQUEST_OK)
		verdict = keys_rest(&l, req);
	if (__builtin_expect(verdict != KVL_REQUEST_OK, 0))
		return request_fault(verdict, base, end, req);
	return KVL_REQUEST_OK;
}

/* gat <exptime> <key>+ */
enum kvl_verdict text_retrieval_touch(COMMAND_ARGS)
{
	struct line l = {base, p, end};
	enum kvl_verdict verdict;

	if (!line_more(&l))
		return request_fault(KVL_REQUEST_ARGS, base, end, req);
	if (!number_exptime(&l))
		return request_fault(KVL_REQUEST_EXPTIME, base, end, req);
	verdict = line_key(&l, req);
	if (verdict == KVL_REQUEST_OK)
		verdict = keys_rest(&l, req);
	return verdict == KVL_REQUEST_OK ? verdict : request_fault(verdict, base, end, req);
}

/* Consumes an optional last "noreply"; false if anything else is there. */
static bool noreply_maybe(struct line *l, struct kvl_request *req)
{
	if (!line_more(l))
		return true;

	const uint8_t *token = l->p;

	if (line_token(l) != 7 || memcmp(token, "noreply", 7) != 0)
		return false;
	if (line_more(l))
		return false; /* memcached looks for it in the last place only */
	req->flags |= KVL_REQ_QUIET;
	return true;
}

/* The end of a command without a value. */
static enum kvl_verdict simple_end(struct line *l, struct kvl_request *req)
{
	enum kvl_verdict verdict = KVL_REQUEST_ARGS;

	if (noreply_maybe(l, req))
		verdict = line_finish(l) ? line_alone(l) : KVL_REQUEST_FORMAT;
	return verdict == KVL_REQUEST_OK ? verdict : request_fault(verdict, l->base, l->end, req);
}

/* <flags> <exptime> <bytes> [<cas unique>] */
static enum kvl_verdict storage_numbers(struct line *l, bool cas, uint64_t *len)
{
	uint64_t ignored;

	/* flags and exptime wider than 32 bits are truncated by memcached, not refused */
	if (!line_more(l))
		return KVL_REQUEST_ARGS;
	if (!number_unsigned(l, NUMBER_DIGITS_64, INT64_MAX, &ignored))
		return KVL_REQUEST_FORMAT;
	if (!line_more(l))
		return KVL_REQUEST_ARGS;
	if (!number_signed(l, NUMBER_DIGITS_64, INT64_MAX))
		return KVL_REQUEST_FORMAT;
	if (!line_more(l))
		return KVL_REQUEST_ARGS;
	if (!number_unsigned(l, NUMBER_DIGITS_32, INT32_MAX - 2, len))
		return KVL_REQUEST_FORMAT;
	if (!cas)
		return KVL_REQUEST_OK;
	if (!line_more(l))
		return KVL_REQUEST_ARGS;
	return number_unsigned(l, NUMBER_DIGITS_64, UINT64_MAX, &ignored) ? KVL_REQUEST_OK
									  : KVL_REQUEST_FORMAT;
}

/* set <key> <flags> <exptime> <bytes> [noreply], a value */
enum kvl_verdict text_storage(COMMAND_ARGS)
{
	struct line l = {base, p, end};
	uint64_t len = 0;
	enum kvl_verdict verdict = line_key(&l, req);

	if (verdict == KVL_REQUEST_OK)
		verdict = storage_numbers(&l, req->op == KVL_OP_CAS, &len);
	if (verdict == KVL_REQUEST_OK && !noreply_maybe(&l, req))
		verdict = KVL_REQUEST_ARGS;
	if (verdict == KVL_REQUEST_OK)
		verdict = line_finish(&l) ? value_check(&l, len) : KVL_REQUEST_FORMAT;
	req->value_len = len;
	if (__builtin_expect(verdict != KVL_REQUEST_OK, 0))
		return request_fault(verdict, base, end, req);
	return KVL_REQUEST_OK;
}

/* incr <key> <delta> [noreply] */
enum kvl_verdict text_arithmetic(COMMAND_ARGS)
{
	struct line l = {base, p, end};
	uint64_t delta;
	enum kvl_verdict verdict = line_key(&l, req);

	if (verdict != KVL_REQUEST_OK)
		return request_fault(verdict, base, end, req);
	if (!line_more(&l))
		return request_fault(KVL_REQUEST_ARGS, base, end, req);
	if (!number_unsigned(&l, NUMBER_DIGITS_64, UINT64_MAX, &delta))
		return request_fault(KVL_REQUEST_DELTA, base, end, req);
	return simple_end(&l, req);
}

/* touch <key> <exptime> [noreply] */
enum kvl_verdict text_touch(COMMAND_ARGS)
{
	struct line l = {base, p, end};
	enum kvl_verdict verdict = line_key(&l, req);

	if (verdict != KVL_REQUEST_OK)
		return request_fault(verdict, base, end, req);
	if (!line_more(&l))
		return request_fault(KVL_REQUEST_ARGS, base, end, req);
	if (!number_exptime(&l))
		return request_fault(KVL_REQUEST_EXPTIME, base, end, req);
	return simple_end(&l, req);
}

/* Steps over the "0" that old clients send as a hold time; 1.6.18 takes no other figure. */
static void hold_time_skip(struct line *l)
{
	if (line_more(l) && l->end - l->p >= 2 && l->p[0] == '0' && byte_ends_token(l->p[1]))
		l->p++;
}

/* delete <key> [0] [noreply] */
enum kvl_verdict text_delete(COMMAND_ARGS)
{
	struct line l = {base, p, end};
	enum kvl_verdict verdict = line_key(&l, req);

	if (verdict != KVL_REQUEST_OK)
		return request_fault(verdict, base, end, req);
	/* `delete noreply`: 1.6.45 takes the key for the option too and stays silent, 1.6.18 not */
	if (!line_more(&l) && req->key_len == 7 && memcmp(l.base + req->key_off, "noreply", 7) == 0)
		return request_fault(KVL_REQUEST_FORMAT, base, end, req);
	hold_time_skip(&l);
	verdict = simple_end(&l, req);
	return verdict == KVL_REQUEST_ARGS ? KVL_REQUEST_FORMAT : verdict;
}

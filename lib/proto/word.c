/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/proto/command.h"

/* Every command memcached knows by name, those with a key included: here they lack their key. */
struct word {
	const char *name;
	uint8_t op;
	uint8_t kind;
};

static const struct word words[] = {
	{"version", KVL_OP_VERSION, KVL_KIND_KEYLESS},
	{"stats", KVL_OP_STATS, KVL_KIND_KEYLESS},
	{"mn", KVL_OP_MN, KVL_KIND_KEYLESS},
	{"verbosity", KVL_OP_VERBOSITY, KVL_KIND_KEYLESS},
	{"quit", KVL_OP_QUIT, KVL_KIND_KEYLESS},
	{"flush_all", KVL_OP_ADMIN, KVL_KIND_ADMIN},
	{"cache_memlimit", KVL_OP_ADMIN, KVL_KIND_ADMIN},
	{"shutdown", KVL_OP_ADMIN, KVL_KIND_ADMIN},
	{"watch", KVL_OP_ADMIN, KVL_KIND_ADMIN},
	{"lru", KVL_OP_ADMIN, KVL_KIND_ADMIN},
	{"lru_crawler", KVL_OP_ADMIN, KVL_KIND_ADMIN},
	{"slabs", KVL_OP_ADMIN, KVL_KIND_ADMIN},
	{"extstore", KVL_OP_ADMIN, KVL_KIND_ADMIN},
	{"refresh_certs", KVL_OP_ADMIN, KVL_KIND_ADMIN},
	{"misbehave", KVL_OP_ADMIN, KVL_KIND_ADMIN},
	{"debugtime", KVL_OP_ADMIN, KVL_KIND_ADMIN},
	{"debugitem", KVL_OP_ADMIN, KVL_KIND_ADMIN},
	{"get", KVL_OP_GET, KVL_KIND_READ},
	{"gets", KVL_OP_GETS, KVL_KIND_TOKEN},
	{"gat", KVL_OP_GAT, KVL_KIND_WRITE},
	{"gats", KVL_OP_GATS, KVL_KIND_WRITE},
	{"set", KVL_OP_SET, KVL_KIND_WRITE},
	{"add", KVL_OP_ADD, KVL_KIND_WRITE},
	{"replace", KVL_OP_REPLACE, KVL_KIND_WRITE},
	{"append", KVL_OP_APPEND, KVL_KIND_WRITE},
	{"prepend", KVL_OP_PREPEND, KVL_KIND_WRITE},
	{"cas", KVL_OP_CAS, KVL_KIND_WRITE},
	{"incr", KVL_OP_INCR, KVL_KIND_WRITE},
	{"decr", KVL_OP_DECR, KVL_KIND_WRITE},
	{"touch", KVL_OP_TOUCH, KVL_KIND_WRITE},
	{"delete", KVL_OP_DELETE, KVL_KIND_WRITE},
	{"mg", KVL_OP_MG, KVL_KIND_READ},
	{"ms", KVL_OP_MS, KVL_KIND_WRITE},
	{"md", KVL_OP_MD, KVL_KIND_WRITE},
	{"ma", KVL_OP_MA, KVL_KIND_WRITE},
	{"me", KVL_OP_ME, KVL_KIND_READ},
};

static const struct word *word_find(const uint8_t *token, size_t len)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strlen(words[i].name) == len && memcmp(words[i].name, token, len) == 0)
			return &words[i];
	}
	return NULL;
}

/* The whole line must be one both versions see alike, arguments or not. */
static bool line_skip(struct line *l)
{
	while (line_more(l)) {
		if (line_token(l) == 0)
			return false;
	}
	return line_finish(l);
}

static enum kvl_verdict word_verdict(struct line *l, const struct kvl_request *req)
{
	if (!line_skip(l))
		return KVL_REQUEST_FORMAT;
	if (req->kind == KVL_KIND_KEYLESS)
		return line_alone(l) != KVL_REQUEST_OK ? KVL_REQUEST_MULTI_COMMAND
						       : KVL_REQUEST_KEYLESS;
	if (req->kind == KVL_KIND_ADMIN)
		return KVL_REQUEST_ADMIN;
	return KVL_REQUEST_ARGS;
}

enum kvl_verdict word_command(COMMAND_ARGS)
{
	struct line l = {base, p, end};
	const struct word *word = word_find(p, line_token(&l));

	if (word == NULL)
		return request_fault(KVL_REQUEST_NO_COMMAND, base, end, req);
	req->op = word->op;
	req->kind = word->kind;
	if (word->op >= KVL_OP_MG && word->op <= KVL_OP_MN)
		req->proto = KVL_PROTO_META;
	if (word->op == KVL_OP_QUIT)
		req->flags |= KVL_REQ_CLOSE;
	return request_fault(word_verdict(&l, req), base, end, req);
}

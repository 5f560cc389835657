/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/proto/command.h"

/* noreply is memcached's last token, on commands that change something. */
static bool text_quiet(struct line *l)
{
	bool quiet = false;

	while (line_more(l)) {
		const uint8_t *token = l->p;
		size_t len = line_token(l);

		if (len == 0)
			break;
		quiet = len == 7 && memcmp(token, "noreply", 7) == 0;
	}
	return quiet;
}

/* Any flag token that starts with q; the command and the key are no flags. */
static bool meta_quiet(struct line *l)
{
	for (unsigned i = 0; line_more(l); i++) {
		const uint8_t *token = l->p;

		if (line_token(l) == 0)
			break;
		if (i >= 2 && *token == 'q')
			return true;
	}
	return false;
}

static bool command_quiet(struct line *l, const struct kvl_request *req)
{
	if (req->proto == KVL_PROTO_META)
		return meta_quiet(l);
	if (req->op == KVL_OP_NONE || (req->op >= KVL_OP_GET && req->op <= KVL_OP_GATS))
		return false;
	return text_quiet(l);
}

enum kvl_verdict request_fault(
	enum kvl_verdict verdict, const uint8_t *base, const uint8_t *end, struct kvl_request *req)
{
	const uint8_t *text = base + KVL_FRAME_LEN;
	struct line l = {base, text, end};

	if (command_quiet(&l, req))
		req->flags |= KVL_REQ_QUIET;
	if (memchr(text, '\n', end - text) == NULL)
		return KVL_REQUEST_NO_NEWLINE;
	return verdict;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/proto/local.h"
#include "lib/proto/binary.h"
#include "lib/proto/stat_lines.h"

#define WORDS_MAX 4

/* The arguments behind the command word; more than WORDS_MAX are counted, not kept. */
struct words {
	unsigned count;
	const uint8_t *at[WORDS_MAX];
	size_t len[WORDS_MAX];
};

static struct words words_read(const uint8_t *command, size_t len)
{
	struct line l = {command, command, command + len};
	struct words w = {0};

	line_token(&l);
	while (line_more(&l)) {
		const uint8_t *token = l.p;
		size_t n = line_token(&l);

		if (n == 0)
			break;
		if (w.count < WORDS_MAX) {
			w.at[w.count] = token;
			w.len[w.count] = n;
		}
		w.count++;
	}
	return w;
}

static bool word_is(const struct words *w, unsigned i, const char *text)
{
	return i < w->count && strlen(text) == w->len[i] && memcmp(w->at[i], text, w->len[i]) == 0;
}

static size_t say(const char *text, uint8_t *out)
{
	size_t len = strlen(text);

	memcpy(out, text, len);
	return len;
}

/* The level itself is the nodes' affair: the router has no such thing, and says OK. */
static size_t verbosity_answer(const struct words *w, uint8_t *out)
{
	if (w->count == 0 || w->count > 2 || (w->count == 1 && word_is(w, 0, "noreply")))
		return say("ERROR\r\n", out);
	if (word_is(w, w->count - 1, "noreply"))
		return 0;
	for (size_t i = 0; i < w->len[0]; i++)
		if (w->at[0][i] < '0' || w->at[0][i] > '9')
			return say("CLIENT_ERROR bad command line format\r\n", out);
	return say("OK\r\n", out);
}

/* Groups of memcached's that a router has nothing to say about. */
static bool group_is_empty(const uint8_t *name, size_t len)
{
	static const char *const groups[] = {"items", "slabs", "sizes", "conns", "settings"};

	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		if (strlen(groups[i]) == len && memcmp(groups[i], name, len) == 0)
			return true;
	return false;
}

static size_t text_stats(
	const struct words *w, const struct kvl_local_stat *stats, size_t count, uint8_t *out)
{
	if (w->count == 0)
		return stat_lines_text(stats, count, out);
	if (group_is_empty(w->at[0], w->len[0]))
		return say("END\r\n", out);
	if (word_is(w, 0, "reset") || word_is(w, 0, "detail"))
		return say("SERVER_ERROR command refused by the router\r\n", out);
	return say("ERROR\r\n", out);
}

static size_t text_local(const struct kvl_request *req, const uint8_t *command, size_t len,
	const struct kvl_local_stat *stats, size_t count, uint8_t *out)
{
	struct words w = words_read(command, len);

	switch (req->op) {
	case KVL_OP_VERSION:
		return say("VERSION " KVL_LOCAL_VERSION "\r\n", out);
	case KVL_OP_MN:
		return say("MN\r\n", out);
	case KVL_OP_VERBOSITY:
		return verbosity_answer(&w, out);
	case KVL_OP_STATS:
		return text_stats(&w, stats, count, out);
	default:
		return 0;
	}
}

static size_t binary_say(const uint8_t *command, uint8_t status, const char *body, uint8_t *out)
{
	size_t len = strlen(body);

	binary_reply_header(command, status, 0, len, out);
	memcpy(out + BINARY_HEADER_LEN, body, len);
	return BINARY_HEADER_LEN + len;
}

static size_t binary_stats(
	const uint8_t *command, const struct kvl_local_stat *stats, size_t count, uint8_t *out)
{
	size_t key_len = command[BINARY_KEY] << 8 | command[BINARY_KEY + 1];
	const uint8_t *key = command + BINARY_HEADER_LEN;

	if (key_len == 0)
		return stat_lines_binary(stats, count, command, out);
	if (group_is_empty(key, key_len))
		return stat_lines_binary(stats, 0, command, out);
	return binary_say(command, BINARY_STATUS_NOT_FOUND, "Not found", out);
}

static size_t binary_local(const struct kvl_request *req, const uint8_t *command,
	const struct kvl_local_stat *stats, size_t count, uint8_t *out)
{
	switch (req->op) {
	case KVL_OP_VERSION:
		return binary_say(command, BINARY_STATUS_OK, KVL_LOCAL_VERSION, out);
	case KVL_OP_STATS:
		return binary_stats(command, stats, count, out);
	case KVL_OP_QUIT:
		if (req->flags & KVL_REQ_QUIET)
			return 0;
		break;
	}
	return binary_say(command, BINARY_STATUS_OK, "", out);
}

size_t kvl_local_answer(const struct kvl_request *req, const uint8_t *command, size_t len,
	const struct kvl_local_stat *stats, size_t stat_count, uint8_t out[KVL_LOCAL_MAX])
{
	if (req->proto == KVL_PROTO_BINARY)
		return binary_local(req, command, stats, stat_count, out);
	return text_local(req, command, len, stats, stat_count, out);
}

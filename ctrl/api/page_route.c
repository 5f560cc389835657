/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "ctrl/api/explain.h"
#include "ctrl/api/pages.h"
#include "lib/proto/request.h"

/*
 * GET /v1/route?key=KEY[&service=NAME], or ?command=NAME for those without a key. The same decision
 * as the control socket's `route`, under the names of SPEC 11.2.
 */
#define USAGE "takes key=KEY (percent-encoded, 1..250 bytes) or command=NAME, and service=NAME"

struct query {
	uint8_t key[KVL_KEY_MAX + 1];
	char command[KVL_EXPLAIN_COMMAND_MAX + 1], service[KVL_NAME_MAX];
	int key_len, command_len, service_len; /* -ENOENT = not given */
};

static bool text_ok(int len)
{
	return len > 0 || len == -ENOENT;
}

static int query_read(struct kvl_http_text text, struct query *q)
{
	static const char *const names[] = {"key", "command", "service", NULL};

	memset(q, 0, sizeof(*q));
	q->key_len = kvl_http_query(text, "key", q->key, KVL_KEY_MAX);
	q->command_len =
		kvl_http_query(text, "command", (uint8_t *)q->command, sizeof(q->command) - 1);
	q->service_len =
		kvl_http_query(text, "service", (uint8_t *)q->service, sizeof(q->service) - 1);
	/* A name is text: what stands behind a NUL would be ignored. */
	if (q->service_len > 0 && strlen(q->service) != (size_t)q->service_len)
		return -EINVAL;
	return kvl_http_query_known(text, names) && text_ok(q->key_len) && text_ok(q->command_len)
			       && text_ok(q->service_len)
			       && (q->key_len > 0) != (q->command_len > 0)
		       ? 0
		       : -EINVAL;
}

static json_t *member(const json_t *object, const char *name)
{
	json_t *value = json_object_get(object, name);

	return value != NULL ? json_incref(value) : json_null();
}

/* The key back to who asked; null when it is no text. */
static json_t *route_key(const struct query *q)
{
	json_t *text =
		q->key_len > 0 ? json_stringn((const char *)q->key, (size_t)q->key_len) : NULL;

	return text != NULL ? text : json_null();
}

static json_t *answer_object(const struct query *q, const json_t *decision)
{
	json_t *token = json_object_get(decision, "token");

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "route_key",
		route_key(q), "service", member(decision, "service"), "node",
		member(decision, "choice"), "hash", member(decision, "key_hash"), "token",
		member(token, "value"), "used_local_fallback",
		member(decision, "used_local_fallback"), "used_fallback",
		member(decision, "used_fallback"), "revision", member(decision, "revision"),
		"topology_stale", member(decision, "topology_stale"), "candidates",
		member(decision, "candidates"));
}

void kvl_page_route(
	void *ctx, const struct kvl_http_request *request, struct kvl_http_answer *answer)
{
	struct kvl_message_error error = {0};
	const char *service;
	struct query q;
	json_t *decision;

	if (query_read(request->head->query, &q) < 0) {
		kvl_http_fail(answer, 400, KVL_CODE_PARAMS, USAGE);
		return;
	}
	service = q.service_len > 0 ? q.service : NULL;
	decision = q.key_len > 0 ? kvl_explain_key(ctx, service, q.key, (size_t)q.key_len, &error)
				 : kvl_explain_command(
					 ctx, service, q.command, (size_t)q.command_len, &error);
	if (decision == NULL) {
		kvl_http_fail(answer, strcmp(error.code, KVL_CODE_NOT_FOUND) == 0 ? 404 : 400,
			error.code, "%s", error.text);
		return;
	}
	kvl_http_json(answer, 200, answer_object(&q, decision));
	json_decref(decision);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

/*
 * Messages of the control socket: one JSON object a line (RFC 8259, then LF).
 *
 *   request  {"v":1,"id":7,"method":"nodes","params":{...}}         params may be left out
 *   reply    {"v":1,"id":7,"result":{...}}
 *   or       {"v":1,"id":7,"error":{"code":"not_found","text":"...","details":[...]}}
 *
 * `id` is the asker's (0..2^53-1, so that JavaScript keeps it), echoed; null in the reply to a
 * request whose id could not be read. `code` is for programs and stable, `text` is for people.
 * `v` rises when an old reader would misunderstand; new members of results do not raise it, new
 * members of requests do: an unknown one is refused, since it may be a misspelt known one.
 *
 * An error's text quotes nothing of the parameters: they may hold keys (SPEC 11.7).
 */
#define KVL_MESSAGE_VERSION     1
#define KVL_MESSAGE_REQUEST_MAX (64u << 10) /* bytes with the LF */
#define KVL_MESSAGE_REPLY_MAX   (8u << 20)  /* 4096 nodes are about 2.5 MB */
#define KVL_MESSAGE_METHOD_MAX  32          /* with the NUL; [a-z0-9_.]+ */
#define KVL_MESSAGE_ID_NONE     INT64_C(-1) /* null */
#define KVL_MESSAGE_ID_MAX      ((INT64_C(1) << 53) - 1)

/* Codes made here and by the server; a command may add its own. */
#define KVL_CODE_TOO_LONG    "too_long" /* the request, or the reply it would get */
#define KVL_CODE_NOT_JSON    "not_json"
#define KVL_CODE_NOT_REQUEST "not_a_request" /* JSON, but no object, or a member is wrong */
#define KVL_CODE_VERSION     "version"
#define KVL_CODE_METHOD      "unknown_method"
#define KVL_CODE_PARAMS      "params"
#define KVL_CODE_DENIED      "denied"
#define KVL_CODE_BUSY        "busy"
#define KVL_CODE_NOT_FOUND   "not_found"
#define KVL_CODE_CONFIG      "config"
#define KVL_CODE_INTERNAL    "internal"

struct kvl_message_error {
	char code[KVL_MESSAGE_METHOD_MAX];
	char text[256];
	json_t *details; /* array of strings or NULL; owned */
};

/* Writes code and text, and returns NULL: `return kvl_message_fail(...)` in a handler. */
__attribute__((format(printf, 3, 4))) void *kvl_message_fail(
	struct kvl_message_error *error, const char *code, const char *format, ...);

struct kvl_message_request {
	int64_t id; /* KVL_MESSAGE_ID_NONE = not read */
	char method[KVL_MESSAGE_METHOD_MAX];
	json_t *params; /* an object; owned */
};

/*
 * Parses one line, with or without its LF. Returns 0, or -EINVAL with *error saying what is wrong
 * and request->id set if it could be read. kvl_message_request_clear() after either.
 */
int kvl_message_request_parse(const char *line, size_t len, struct kvl_message_request *request,
	struct kvl_message_error *error);
void kvl_message_request_clear(struct kvl_message_request *request);

struct kvl_message_reply {
	int64_t id;
	json_t *result; /* NULL: the error holds; owned */
	struct kvl_message_error error;
};

/* The same for a reply. Returns 0 for a well-formed one, be it result or error. */
int kvl_message_reply_parse(const char *line, size_t len, struct kvl_message_reply *reply,
	struct kvl_message_error *error);
void kvl_message_reply_clear(struct kvl_message_reply *reply);

/*
 * Formatting. Each returns a line with its LF and NUL that free() releases, its length (without
 * the NUL) in *len; NULL: no memory. `params` and `result` are borrowed; NULL params: left out.
 */
char *kvl_message_request_format(int64_t id, const char *method, json_t *params, size_t *len);
char *kvl_message_result_format(int64_t id, json_t *result, size_t *len);
char *kvl_message_error_format(int64_t id, const struct kvl_message_error *error, size_t *len);

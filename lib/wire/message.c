/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/wire/message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *kvl_message_fail(struct kvl_message_error *error, const char *code, const char *format, ...)
{
	va_list args;

	snprintf(error->code, sizeof(error->code), "%s", code);
	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	return NULL;
}

#define FAIL(error, code, ...) (kvl_message_fail((error), (code), __VA_ARGS__), -EINVAL)

/* jansson's text without "near '...'", which quotes the message. */
static void report_syntax(struct kvl_message_error *error, const json_error_t *at)
{
	const char *near = strstr(at->text, " near ");
	int len = near != NULL ? (int)(near - at->text) : (int)strlen(at->text);

	kvl_message_fail(
		error, KVL_CODE_NOT_JSON, "not JSON: %.*s at byte %d", len, at->text, at->position);
}

static int load_object(
	const char *line, size_t len, size_t max, json_t **root, struct kvl_message_error *error)
{
	json_error_t at;

	if (len > max)
		return FAIL(error, KVL_CODE_TOO_LONG, "message longer than %zu bytes", max);
	*root = json_loadb(line, len, JSON_REJECT_DUPLICATES, &at);
	/* JSON but neither object nor array is refused by jansson itself. */
	if (*root == NULL) {
		report_syntax(error, &at);
		return -EINVAL;
	}
	if (!json_is_object(*root))
		return FAIL(error, KVL_CODE_NOT_REQUEST, "message is not a JSON object");
	return 0;
}

static int read_version(json_t *root, struct kvl_message_error *error)
{
	json_t *v = json_object_get(root, "v");

	if (v == NULL)
		return FAIL(error, KVL_CODE_VERSION, "\"v\" is missing; this end speaks version %d",
			KVL_MESSAGE_VERSION);
	if (!json_is_integer(v))
		return FAIL(error, KVL_CODE_VERSION, "\"v\" is not a number");
	if (json_integer_value(v) != KVL_MESSAGE_VERSION)
		return FAIL(error, KVL_CODE_VERSION,
			"version %" JSON_INTEGER_FORMAT " is not known; this end speaks version %d",
			json_integer_value(v), KVL_MESSAGE_VERSION);
	return 0;
}

static bool read_id(json_t *root, int64_t *id)
{
	json_t *value = json_object_get(root, "id");

	if (!json_is_integer(value) || json_integer_value(value) < 0
		|| json_integer_value(value) > KVL_MESSAGE_ID_MAX)
		return false;
	*id = json_integer_value(value);
	return true;
}

/* Without saying which: the name may be a misplaced key of a cache. */
static int refuse_unknown(json_t *root, struct kvl_message_error *error)
{
	static const char *const known[] = {"v", "id", "method", "params"};
	const char *name;
	json_t *value;

	json_object_foreach(root, name, value)
	{
		size_t i = 0;

		while (i < sizeof(known) / sizeof(known[0]) && strcmp(name, known[i]) != 0)
			i++;
		if (i == sizeof(known) / sizeof(known[0]))
			return FAIL(error, KVL_CODE_NOT_REQUEST,
				"unknown member in the request; there are v, id, method, params");
	}
	return 0;
}

static int read_method(
	json_t *root, char method[KVL_MESSAGE_METHOD_MAX], struct kvl_message_error *error)
{
	json_t *value = json_object_get(root, "method");
	const char *name = json_string_value(value);
	size_t len = json_string_length(value);

	if (value == NULL)
		return FAIL(error, KVL_CODE_NOT_REQUEST, "\"method\" is missing");
	if (name == NULL)
		return FAIL(error, KVL_CODE_NOT_REQUEST, "\"method\" is not a string");
	if (len == 0 || len >= KVL_MESSAGE_METHOD_MAX
		|| strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_.") != len)
		return FAIL(error, KVL_CODE_NOT_REQUEST,
			"\"method\" is not a name: 1 to %d of a-z 0-9 _ .",
			KVL_MESSAGE_METHOD_MAX - 1);
	memcpy(method, name, len + 1);
	return 0;
}

static int read_params(json_t *root, json_t **params, struct kvl_message_error *error)
{
	json_t *value = json_object_get(root, "params");

	if (value != NULL && !json_is_object(value))
		return FAIL(error, KVL_CODE_NOT_REQUEST, "\"params\" is not an object");
	*params = value != NULL ? json_incref(value) : json_object();
	return *params != NULL ? 0 : FAIL(error, KVL_CODE_INTERNAL, "out of memory");
}

int kvl_message_request_parse(const char *line, size_t len, struct kvl_message_request *request,
	struct kvl_message_error *error)
{
	json_t *root = NULL;
	bool has_id;
	int rc;

	*request = (struct kvl_message_request){.id = KVL_MESSAGE_ID_NONE};
	*error = (struct kvl_message_error){0};
	rc = load_object(line, len, KVL_MESSAGE_REQUEST_MAX, &root, error);
	if (rc < 0)
		goto out;
	has_id = read_id(root, &request->id);
	rc = read_version(root, error); /* first: another version may have other rules */
	if (rc == 0 && !has_id)
		rc = FAIL(error, KVL_CODE_NOT_REQUEST,
			"\"id\" is missing or not a whole number from 0 to 2^53-1");
	if (rc == 0)
		rc = refuse_unknown(root, error);
	if (rc == 0)
		rc = read_method(root, request->method, error);
	if (rc == 0)
		rc = read_params(root, &request->params, error);
out:
	json_decref(root);
	return rc;
}

void kvl_message_request_clear(struct kvl_message_request *request)
{
	json_decref(request->params);
	request->params = NULL;
}

static int read_error(
	json_t *value, struct kvl_message_error *into, struct kvl_message_error *error)
{
	const char *code = json_string_value(json_object_get(value, "code"));
	const char *text = json_string_value(json_object_get(value, "text"));
	json_t *details = json_object_get(value, "details");

	if (code == NULL || text == NULL)
		return FAIL(
			error, KVL_CODE_NOT_REQUEST, "reply with an error that lacks code or text");
	kvl_message_fail(into, code, "%s", text);
	into->details = json_is_array(details) ? json_incref(details) : NULL;
	return 0;
}

int kvl_message_reply_parse(const char *line, size_t len, struct kvl_message_reply *reply,
	struct kvl_message_error *error)
{
	json_t *root = NULL, *failure;
	int rc;

	*reply = (struct kvl_message_reply){.id = KVL_MESSAGE_ID_NONE};
	*error = (struct kvl_message_error){0};
	rc = load_object(line, len, KVL_MESSAGE_REPLY_MAX, &root, error);
	if (rc == 0)
		rc = read_version(root, error);
	if (rc < 0)
		goto out;
	read_id(root, &reply->id);
	failure = json_object_get(root, "error");
	reply->result = json_incref(json_object_get(root, "result"));
	if (failure != NULL && reply->result == NULL)
		rc = read_error(failure, &reply->error, error);
	else if (failure != NULL || reply->result == NULL)
		rc = FAIL(error, KVL_CODE_NOT_REQUEST, "reply without a result or an error");
out:
	json_decref(root);
	return rc;
}

void kvl_message_reply_clear(struct kvl_message_reply *reply)
{
	json_decref(reply->result);
	json_decref(reply->error.details);
	reply->result = NULL;
	reply->error.details = NULL;
}

/* Takes the object; NULL in, NULL out. */
static char *format_line(json_t *object, size_t *len)
{
	char *text = NULL;

	if (object == NULL)
		return NULL;
	*len = json_dumpb(object, NULL, 0, JSON_COMPACT);
	text = *len > 0 ? malloc(*len + 2) : NULL;
	if (text != NULL) {
		json_dumpb(object, text, *len, JSON_COMPACT);
		text[(*len)++] = '\n';
		text[*len] = '\0';
	}
	json_decref(object);
	return text;
}

static json_t *id_value(int64_t id)
{
	return id == KVL_MESSAGE_ID_NONE ? json_null() : json_integer(id);
}

char *kvl_message_request_format(int64_t id, const char *method, json_t *params, size_t *len)
{
	return format_line(json_pack("{s:i, s:o, s:s, s:O*}", "v", KVL_MESSAGE_VERSION, "id",
				   id_value(id), "method", method, "params", params),
		len);
}

char *kvl_message_result_format(int64_t id, json_t *result, size_t *len)
{
	return format_line(json_pack("{s:i, s:o, s:O}", "v", KVL_MESSAGE_VERSION, "id",
				   id_value(id), "result", result),
		len);
}

/* A text that was cut in the middle of a character is no JSON string: ASCII is left of it. */
static json_t *text_value(const char *text)
{
	json_t *value = json_string(text);
	char ascii[sizeof(((struct kvl_message_error *)0)->text)];
	size_t n;

	if (value != NULL)
		return value;
	for (n = 0; n < sizeof(ascii) - 1 && text[n] != '\0'; n++)
		ascii[n] = (unsigned char)text[n] < 0x80 ? text[n] : '?';
	ascii[n] = '\0';
	return json_string(ascii);
}

char *kvl_message_error_format(int64_t id, const struct kvl_message_error *error, size_t *len)
{
	return format_line(json_pack("{s:i, s:o, s:{s:s, s:o, s:O*}}", "v", KVL_MESSAGE_VERSION,
				   "id", id_value(id), "error", "code", error->code, "text",
				   text_value(error->text), "details", error->details),
		len);
}

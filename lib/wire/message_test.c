/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/wire/message.h"

static struct kvl_message_request request;
static struct kvl_message_reply reply;
static struct kvl_message_error error;

static int parse(const char *line)
{
	return kvl_message_request_parse(line, strlen(line), &request, &error);
}

static void test_good_requests(void **state)
{
	assert_int_equal(parse("{\"v\":1,\"id\":7,\"method\":\"nodes\"}\n"), 0);
	assert_int_equal(request.id, 7);
	assert_string_equal(request.method, "nodes");
	assert_int_equal(json_object_size(request.params), 0);
	kvl_message_request_clear(&request);

	assert_int_equal(parse(" {\"params\":{\"key\":\"a\"}, \"method\":\"ring.diff\","
			       "\"id\":9007199254740991,\"v\":1} "),
		0);
	assert_int_equal(request.id, KVL_MESSAGE_ID_MAX);
	assert_string_equal(json_string_value(json_object_get(request.params, "key")), "a");
	kvl_message_request_clear(&request);
}

/* Every fault has its own words, and the id is known whenever it can be. */
static void test_faults(void **state)
{
	static const struct {
		const char *line, *code, *text;
		int64_t id;
	} cases[] = {
		{"", KVL_CODE_NOT_JSON, "at byte 0", -1},
		{"nodes", KVL_CODE_NOT_JSON, "not JSON: ", -1},
		{"{\"v\":1,\"id\":3,\"method\":\"nodes\"", KVL_CODE_NOT_JSON, "at byte ", -1},
		{"{\"v\":1,\"id\":3,\"id\":4}", KVL_CODE_NOT_JSON, "duplicate object key at byte",
			-1},
		{"{} {}", KVL_CODE_NOT_JSON, "end of file expected", -1},
		{"[1]", KVL_CODE_NOT_REQUEST, "not a JSON object", -1},
		{"{\"id\":3,\"method\":\"nodes\"}", KVL_CODE_VERSION, "\"v\" is missing", 3},
		{"{\"v\":\"1\",\"id\":3}", KVL_CODE_VERSION, "\"v\" is not a number", 3},
		{"{\"v\":2,\"id\":3}", KVL_CODE_VERSION, "version 2 is not known", 3},
		{"{\"v\":1,\"method\":\"nodes\"}", KVL_CODE_NOT_REQUEST, "\"id\" is missing", -1},
		{"{\"v\":1,\"id\":-1,\"method\":\"n\"}", KVL_CODE_NOT_REQUEST, "\"id\"", -1},
		{"{\"v\":1,\"id\":1.5,\"method\":\"n\"}", KVL_CODE_NOT_REQUEST, "\"id\"", -1},
		{"{\"v\":1,\"id\":9007199254740992,\"method\":\"n\"}", KVL_CODE_NOT_REQUEST,
			"\"id\"", -1},
		{"{\"v\":1,\"id\":3}", KVL_CODE_NOT_REQUEST, "\"method\" is missing", 3},
		{"{\"v\":1,\"id\":3,\"method\":5}", KVL_CODE_NOT_REQUEST, "\"method\" is not a str",
			3},
		{"{\"v\":1,\"id\":3,\"method\":\"\"}", KVL_CODE_NOT_REQUEST, "is not a name", 3},
		{"{\"v\":1,\"id\":3,\"method\":\"No\"}", KVL_CODE_NOT_REQUEST, "is not a name", 3},
		{"{\"v\":1,\"id\":3,\"method\":\"n\",\"params\":[]}", KVL_CODE_NOT_REQUEST,
			"\"params\" is not an object", 3},
		{"{\"v\":1,\"id\":3,\"method\":\"n\",\"param\":{}}", KVL_CODE_NOT_REQUEST,
			"unknown member", 3},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(parse(cases[i].line) < 0);
		assert_string_equal(error.code, cases[i].code);
		if (strstr(error.text, cases[i].text) == NULL)
			fail_msg("%s: %s", cases[i].line, error.text);
		assert_int_equal(request.id, cases[i].id);
		kvl_message_request_clear(&request);
	}
}

static void test_keys_are_not_quoted(void **state)
{
	static const char *const lines[] = {
		"{\"v\":1,\"id\":3,\"method\":\"route\",\"params\":{\"key\":SECRET}}",
		"{\"v\":1,\"id\":3,\"method\":\"route\",\"params\":{\"key\":\"SECRET\"",
		"{\"v\":1,\"id\":3,\"method\":\"route\",\"params\":{\"SECRET\":1,\"SECRET\":2}}",
		"{\"v\":1,\"id\":3,\"method\":\"SECRET\",\"SECRET\":2}",
		"SECRET",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_true(parse(lines[i]) < 0);
		assert_null(strstr(error.text, "SECRET"));
		kvl_message_request_clear(&request);
	}
}

static void test_bounds(void **state)
{
	size_t len = KVL_MESSAGE_REQUEST_MAX + 1;
	char *line = malloc(len);

	memset(line, ' ', len);
	memcpy(line, "{\"v\":1,\"id\":3,\"method\":\"n\"}", 27);
	assert_int_equal(kvl_message_request_parse(line, len - 1, &request, &error), 0);
	kvl_message_request_clear(&request);
	assert_true(kvl_message_request_parse(line, len, &request, &error) < 0);
	assert_string_equal(error.code, KVL_CODE_TOO_LONG);
	memset(line, '[', len);
	assert_true(kvl_message_request_parse(line, len - 1, &request, &error) < 0);
	assert_string_equal(error.code, KVL_CODE_NOT_JSON);
	free(line);
}

static void test_round_trip(void **state)
{
	json_t *params = json_pack("{s:s}", "key", "a\"b\n");
	size_t len;
	char *line = kvl_message_request_format(5, "route", params, &len);

	assert_string_equal(line, "{\"v\":1,\"id\":5,\"method\":\"route\","
				  "\"params\":{\"key\":\"a\\\"b\\n\"}}\n");
	assert_int_equal(len, strlen(line));
	assert_int_equal(kvl_message_request_parse(line, len, &request, &error), 0);
	assert_true(json_equal(request.params, params));
	kvl_message_request_clear(&request);
	free(line);

	line = kvl_message_result_format(5, params, &len);
	assert_int_equal(kvl_message_reply_parse(line, len, &reply, &error), 0);
	assert_int_equal(reply.id, 5);
	assert_true(json_equal(reply.result, params));
	kvl_message_reply_clear(&reply);
	free(line);
	json_decref(params);
}

static void test_error_reply(void **state)
{
	struct kvl_message_error sent = {.details = json_pack("[s,s]", "one", "two")};
	size_t len;
	char *line;

	assert_null(kvl_message_fail(&sent, KVL_CODE_CONFIG, "%d faults", 2));
	line = kvl_message_error_format(KVL_MESSAGE_ID_NONE, &sent, &len);
	assert_string_equal(line, "{\"v\":1,\"id\":null,\"error\":{\"code\":\"config\",\"text\":"
				  "\"2 faults\",\"details\":[\"one\",\"two\"]}}\n");
	assert_int_equal(kvl_message_reply_parse(line, len, &reply, &error), 0);
	assert_null(reply.result);
	assert_int_equal(reply.id, KVL_MESSAGE_ID_NONE);
	assert_string_equal(reply.error.code, "config");
	assert_int_equal(json_array_size(reply.error.details), 2);
	kvl_message_reply_clear(&reply);
	free(line);
	json_decref(sent.details);
}

/* A text cut in the middle of a character must not lose the reply. */
static void test_broken_text(void **state)
{
	struct kvl_message_error sent = {.code = "config", .text = "f\xc3"};
	size_t len;
	char *line = kvl_message_error_format(1, &sent, &len);

	assert_non_null(line);
	assert_non_null(strstr(line, "\"text\":\"f?\""));
	free(line);
}

static void test_bad_replies(void **state)
{
	static const char *const lines[] = {
		"",
		"{\"v\":1,\"id\":1}",
		"{\"v\":2,\"id\":1,\"result\":{}}",
		"{\"v\":1,\"id\":1,\"result\":{},\"error\":{\"code\":\"a\",\"text\":\"b\"}}",
		"{\"v\":1,\"id\":1,\"error\":{\"code\":\"a\"}}",
		"{\"v\":1,\"id\":1,\"error\":\"text\"}",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_true(
			kvl_message_reply_parse(lines[i], strlen(lines[i]), &reply, &error) < 0);
		kvl_message_reply_clear(&reply);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good_requests),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_keys_are_not_quoted),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_error_reply),
		cmocka_unit_test(test_broken_text),
		cmocka_unit_test(test_bad_replies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

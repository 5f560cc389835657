/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lib/wire/http.h"
#include "lib/wire/report.h"

static struct kvl_http_head head;

static int parse(const char *text)
{
	assert_int_equal(kvl_http_head_find(text, strlen(text)), strlen(text));
	return kvl_http_head_parse(text, strlen(text), &head);
}

static void test_find(void **state)
{
	assert_int_equal(kvl_http_head_find("GET / HTTP/1.1\r\nA: b\r\n\r\nbody", 28), 24);
	assert_int_equal(kvl_http_head_find("GET / HTTP/1.1\n\nbody\n\n", 22), 16);
	assert_int_equal(kvl_http_head_find("GET / HTTP/1.1\r\n\r", 17), 0);
	assert_int_equal(kvl_http_head_find("GET / HTTP/1.1\r\n", 16), 0);
	assert_int_equal(kvl_http_head_find("\r\n", 2), 2);
	assert_int_equal(kvl_http_head_find("", 0), 0);
}

static void test_good(void **state)
{
	assert_int_equal(
		parse("POST /v1/report?a=1&b HTTP/1.1\r\nHost: x:1\r\ncontent-LENGTH:  12\t"
		      "\r\nX-Kvlane-Key:7\r\nEmpty:\r\nExpect: 100-Continue\r\n\r\n"),
		0);
	assert_int_equal(head.method, KVL_HTTP_POST);
	assert_int_equal(head.minor, 1);
	assert_true(kvl_http_text_is(head.path, "/v1/report"));
	assert_true(kvl_http_text_is(head.query, "a=1&b"));
	assert_true(head.has_length && head.expect_continue);
	assert_int_equal(head.body_len, 12);
	assert_true(kvl_http_text_is(kvl_http_header(&head, "x-kvlane-key"), "7"));
	assert_true(kvl_http_text_is(kvl_http_header(&head, "Empty"), ""));
	assert_null(kvl_http_header(&head, "Hos").at);

	assert_int_equal(parse("GET /metrics HTTP/1.0\n\n"), 0);
	assert_int_equal(head.minor, 0);
	assert_int_equal(head.query.len, 0);
	assert_false(head.has_length);
	assert_int_equal(parse("BREW / HTTP/1.1\r\n\r\n"), 0);
	assert_int_equal(head.method, KVL_HTTP_OTHER);
}

static void test_bad(void **state)
{
	static const struct {
		const char *text;
		int status;
	} cases[] = {
		{"\r\n", 400},
		{"GET\r\n\r\n", 400},
		{"GET /\r\n\r\n", 400},
		{"GET  / HTTP/1.1\r\n\r\n", 400},
		{"GET / HTTP/1.1 \r\n\r\n", 400},
		{"GET http://a/ HTTP/1.1\r\n\r\n", 400},
		{"GET * HTTP/1.1\r\n\r\n", 400},
		{"G\"T / HTTP/1.1\r\n\r\n", 400},
		{"GET /\x01 HTTP/1.1\r\n\r\n", 400},
		{"GET / http/1.1\r\n\r\n", 400},
		{"GET / HTTP/2.0\r\n\r\n", 505},
		{"GET / HTTP/1.2\r\n\r\n", 505},
		{"GET / HTTP/1.1\r\nno colon\r\n\r\n", 400},
		{"GET / HTTP/1.1\r\n: no name\r\n\r\n", 400},
		{"GET / HTTP/1.1\r\nblank : before\r\n\r\n", 400},
		{"GET / HTTP/1.1\r\nA: b\r\n folded\r\n\r\n", 400},
		{"GET / HTTP/1.1\r\nA: b\rc\r\n\r\n", 400},
		{"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400},
		{"GET / HTTP/1.1\r\nContent-Length: +1\r\n\r\n", 400},
		{"GET / HTTP/1.1\r\nContent-Length: 1 2\r\n\r\n", 400},
		{"GET / HTTP/1.1\r\nContent-Length:\r\n\r\n", 400},
		{"GET / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", 400},
		{"GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", 400},
		{"GET / HTTP/1.1\r\nContent-Length: 8193\r\n\r\n", 413},
		{"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 501},
		{"GET / HTTP/1.1\r\nExpect: miracles\r\n\r\n", 417},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int status = parse(cases[i].text);

		if (status != cases[i].status)
			fail_msg("%s: %d, not %d", cases[i].text, status, cases[i].status);
		assert_string_not_equal(kvl_http_reason(status), "Unknown");
	}
}

static void test_many_headers(void **state)
{
	char text[1024];
	size_t n = (size_t)snprintf(text, sizeof(text), "GET / HTTP/1.1\r\n");

	for (int i = 0; i < KVL_HTTP_HEADERS_MAX; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "A%d: b\r\n", i);
	strcpy(text + n, "\r\n");
	assert_int_equal(parse(text), 0);
	strcpy(text + n, "One: more\r\n\r\n");
	assert_int_equal(parse(text), 431);
}

static int query(const char *text, const char *name, uint8_t *out, size_t size)
{
	return kvl_http_query((struct kvl_http_text){text, strlen(text)}, name, out, size);
}

static void test_query(void **state)
{
	uint8_t out[8];

	assert_int_equal(query("key=a%3Db+%00&x=1", "key", out, 8), 5);
	assert_memory_equal(out, "a=b+\0", 5);
	assert_int_equal(query("x=1&key=", "key", out, 8), 0);
	assert_int_equal(query("key", "key", out, 8), 0);
	assert_int_equal(query("", "key", out, 8), -ENOENT);
	assert_int_equal(query("ke=1&keys=2&&", "key", out, 8), -ENOENT);
	assert_int_equal(query("key=1&key=1", "key", out, 8), -EEXIST);
	assert_int_equal(query("key=%4", "key", out, 8), -EILSEQ);
	assert_int_equal(query("key=%", "key", out, 8), -EILSEQ);
	assert_int_equal(query("key=%4g", "key", out, 8), -EILSEQ);
	assert_int_equal(query("key=12345678", "key", out, 8), 8);
	assert_int_equal(query("key=123456789", "key", out, 8), -EMSGSIZE);
	/* A '%' cut off by the parameter's end does not read the next one's. */
	assert_int_equal(query("key=%4&5=1", "key", out, 8), -EILSEQ);
}

static bool known(const char *text)
{
	static const char *const names[] = {"key", "service", NULL};

	return kvl_http_query_known((struct kvl_http_text){text, strlen(text)}, names);
}

static void test_known(void **state)
{
	assert_true(known(""));
	assert_true(known("service=a&key=b"));
	assert_false(known("key=b&keys=c"));
	assert_false(known("=b"));
}

static void test_hex_and_uint(void **state)
{
	uint8_t out[2];
	uint64_t v;

	assert_int_equal(kvl_http_hex((struct kvl_http_text){"0fF0", 4}, out, 2), 0);
	assert_memory_equal(out, "\x0f\xf0", 2);
	assert_int_equal(kvl_http_hex((struct kvl_http_text){"0fF", 3}, out, 2), -EINVAL);
	assert_int_equal(kvl_http_hex((struct kvl_http_text){"0fFg", 4}, out, 2), -EINVAL);
	assert_int_equal(kvl_http_hex((struct kvl_http_text){NULL, 0}, out, 2), -EINVAL);
	assert_int_equal(kvl_http_uint((struct kvl_http_text){"42", 2}, 42, &v), 0);
	assert_int_equal(v, 42);
	assert_int_equal(kvl_http_uint((struct kvl_http_text){"43", 2}, 42, &v), -EINVAL);
	assert_int_equal(kvl_http_uint((struct kvl_http_text){NULL, 0}, 42, &v), -EINVAL);
}

/* The largest report fits a body. */
static void test_bounds(void **state)
{
	assert_int_equal(KVL_HTTP_BODY_MAX, KVL_REPORT_JSON_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_many_headers),
		cmocka_unit_test(test_query),
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_hex_and_uint),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "lib/proto/hint.h"
#include "lib/proto/part.h"

static struct kvl_request read_request(void)
{
	return (struct kvl_request){.proto = KVL_PROTO_META, .op = KVL_OP_MG};
}

static bool take(struct kvl_request *req, const char *token)
{
	return kvl_hint_take(req, (const uint8_t *)token, strlen(token));
}

static void consistency(void **state)
{
	struct kvl_request req = read_request();

	assert_true(take(&req, "Pstrong"));
	assert_int_equal(req.flags, KVL_REQ_STRONG);
	req = read_request();
	assert_true(take(&req, "Peventual"));
	assert_int_equal(req.flags, KVL_REQ_EVENTUAL);
}

static void lag(void **state)
{
	struct kvl_request req = read_request();

	assert_true(take(&req, "L0"));
	assert_int_equal(req.flags, KVL_REQ_LAG);
	assert_int_equal(req.lag_allowed, 0);
	assert_true(take(&req, "L4294967295"));
	assert_int_equal(req.lag_allowed, UINT32_MAX);
}

static void unknown_ones_change_nothing(void **state)
{
	static const char *const bad[] = {"P", "L", "Pstron", "Pstronger", "PSTRONG", "L-1", "L+1",
		"L1x", "L4294967296", "L99999999999999999999", "Lstrong", "P5", "q", ""};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct kvl_request req = read_request(), before = req;

		assert_false(take(&req, bad[i]));
		assert_memory_equal(&req, &before, sizeof(req));
	}
}

/* A write's value_len lies where a read has its lag. */
static void no_effect_on_writes(void **state)
{
	struct kvl_request req = {
		.proto = KVL_PROTO_META, .op = KVL_OP_MS, .kind = KVL_KIND_WRITE, .value_len = 9};

	assert_false(take(&req, "L5"));
	assert_false(take(&req, "Pstrong"));
	assert_int_equal(req.value_len, 9);
	assert_int_equal(req.flags, 0);
}

/* As the router does it with a request: found, taken, blanked, one after the other. */
static void all_of_a_line(void **state)
{
	uint8_t line[] = "mg key v Pstrong L7 Pnone s\r\n";
	struct kvl_request req = read_request();
	unsigned int taken = 0, ignored = 0;
	size_t len, off;

	while ((len = kvl_proxy_token(line, sizeof(line) - 1, &off)) != 0) {
		if (kvl_hint_take(&req, line + off, len))
			taken++;
		else
			ignored++;
		memset(line + off, ' ', len);
	}
	assert_int_equal(taken, 2);
	assert_int_equal(ignored, 1);
	assert_int_equal(req.flags, KVL_REQ_STRONG | KVL_REQ_LAG);
	assert_int_equal(req.lag_allowed, 7);
	assert_string_equal((char *)line, "mg key v                  s\r\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(consistency),
		cmocka_unit_test(lag),
		cmocka_unit_test(unknown_ones_change_nothing),
		cmocka_unit_test(no_effect_on_writes),
		cmocka_unit_test(all_of_a_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

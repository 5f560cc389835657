/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "lib/model/prefix.h"

static struct kvl_prefix prefix(const char *text)
{
	struct kvl_prefix p;

	assert_int_equal(kvl_prefix_parse(text, &p), 0);
	return p;
}

static void parses_and_formats(void **state)
{
	static const char *const same[] = {"10.0.0.0/8", "0.0.0.0/0", "192.0.2.7/32",
		"2001:db8::/32", "::/0", "2001:db8::1/128"};
	char text[KVL_PREFIX_STRLEN];
	struct kvl_prefix p;

	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++) {
		p = prefix(same[i]);
		assert_string_equal(kvl_prefix_format(&p, text), same[i]);
	}
	p = prefix("192.0.2.7");
	assert_string_equal(kvl_prefix_format(&p, text), "192.0.2.7/32");
	p = prefix("2001:db8::1");
	assert_string_equal(kvl_prefix_format(&p, text), "2001:db8::1/128");
	assert_true(kvl_prefix_is_v4(&(struct kvl_prefix){
		.address = prefix("0.0.0.0/0").address, .len = prefix("0.0.0.0/0").len}));
}

static void refuses(void **state)
{
	static const char *const bad[] = {"", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/08",
		"10.0.0.0/+8", "10.0.0.0/8/8", "10.0.0/8", "2001:db8::/129", "host/8",
		"10.0.0.0/8 ", "10.0.0.0/-1", "10.0.0.0/99999999999999999999",
		"1111:2222:3333:4444:5555:6666:7777:8888:9999:0000:1111/8"};
	struct kvl_prefix p;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(kvl_prefix_parse(bad[i], &p), -EINVAL);
}

static void tells_what_was_meant(void **state)
{
	char text[KVL_PREFIX_STRLEN];
	struct kvl_prefix p;

	assert_int_equal(kvl_prefix_parse("10.1.2.3/8", &p), -ERANGE);
	assert_string_equal(kvl_prefix_format(&p, text), "10.0.0.0/8");
	assert_int_equal(kvl_prefix_parse("10.0.0.128/24", &p), -ERANGE);
	assert_int_equal(kvl_prefix_parse("2001:db8::1/32", &p), -ERANGE);
	assert_string_equal(kvl_prefix_format(&p, text), "2001:db8::/32");
}

static bool covers(const char *outer, const char *inner)
{
	const struct kvl_prefix o = prefix(outer), i = prefix(inner);

	return kvl_prefix_covers(&o, &i);
}

static void covers_what_is_within(void **state)
{
	assert_true(covers("10.0.0.0/8", "10.1.0.0/16"));
	assert_true(covers("10.0.0.0/8", "10.0.0.0/8"));
	assert_true(covers("0.0.0.0/0", "192.0.2.1"));
	assert_true(covers("10.0.0.0/9", "10.127.255.255"));
	assert_false(covers("10.0.0.0/9", "10.128.0.0"));
	assert_false(covers("10.1.0.0/16", "10.0.0.0/8"));
	assert_true(covers("2001:db8::/33", "2001:db8:7fff::1"));
	assert_false(covers("2001:db8::/33", "2001:db8:8000::1"));
	/* The families are apart, though IPv4 lies within ::/0 as it is kept. */
	assert_false(covers("::/0", "10.0.0.1"));
	assert_false(covers("0.0.0.0/0", "2001:db8::1"));
	assert_true(covers("::/0", "2001:db8::1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_and_formats),
		cmocka_unit_test(refuses),
		cmocka_unit_test(tells_what_was_meant),
		cmocka_unit_test(covers_what_is_within),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

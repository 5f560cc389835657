/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ctrl/cli/table.h"
#include "ctrl/cli/value.h"

static char *text;
static size_t len;
static FILE *out;

static int start(void **state)
{
	out = open_memstream(&text, &len);
	return 0;
}

static int stop(void **state)
{
	free(text);
	return 0;
}

static void assert_printed(const char *expected)
{
	fclose(out);
	assert_string_equal(text, expected);
}

static void test_columns(void **state)
{
	static const char *const columns[] = {"NAME", ">COUNT", "REASON"};
	struct table *t = table_new(columns, TABLE_COLUMNS(columns));

	table_cell(t, "a");
	table_cell(t, "%d", 1234567);
	table_cell(t, "%s", "");
	table_cell(t, "longer-name");
	table_cell(t, "%d", 5);
	table_cell(t, "no route");
	table_print(t, out, NULL);
	assert_printed("NAME           COUNT  REASON\n"
		       "a            1234567\n"
		       "longer-name        5  no route\n");
}

static void test_no_heads(void **state)
{
	static const char *const columns[] = {"", ">"};
	struct table *t = table_new(columns, TABLE_COLUMNS(columns));

	table_cell(t, "in");
	table_cell(t, "10");
	table_cell(t, "dropped");
	table_cell(t, "7");
	table_print(t, out, NULL);
	assert_printed("in       10\n"
		       "dropped   7\n");
}

static void test_empty(void **state)
{
	static const char *const columns[] = {"NAME"};

	table_print(table_new(columns, 1), out, "no nodes");
	table_print(table_new(columns, 1), out, NULL);
	assert_printed("no nodes\n");
}

/* More rows than the first allocation, and nothing that moves the cursor. */
static void test_many_and_unprintable(void **state)
{
	static const char *const columns[] = {""};
	struct table *t = table_new(columns, 1);

	for (int i = 0; i < 1000; i++)
		table_cell(t, "%d\033[2J\n\t\x7f", i);
	table_print(t, out, NULL);
	fclose(out);
	assert_memory_equal(text, "0?[2J???\n1?[2J???\n", 18);
}

static void assert_latency(double us, const char *expected)
{
	char buf[VALUE_BUF];

	assert_string_equal(value_latency(us, buf), expected);
}

static void test_values(void **state)
{
	char buf[VALUE_BUF];
	json_t *object =
		json_pack("{s:n, s:s, s:i, s:b}", "null", "text", "", "number", 3, "flag", 1);

	fclose(out);
	assert_latency(0, "-");
	assert_latency(870.4, "870us");
	assert_latency(1250, "1.25ms");
	assert_latency(12500, "12.5ms");
	assert_latency(250000, "250ms");
	assert_latency(3210000, "3.2s");
	assert_string_equal(value_percent(0.12345, buf), "12.3%");
	assert_string_equal(value_duration(59, buf), "00:00:59");
	assert_string_equal(value_duration(86400 * 4 + 3 * 3600 + 12 * 60 + 9, buf), "4d 03:12:09");
	assert_string_equal(value_text(object, "null"), "-");
	assert_string_equal(value_text(object, "text"), "-");
	assert_string_equal(value_text(object, "missing"), "-");
	assert_int_equal(value_int(object, "number"), 3);
	assert_int_equal(value_int(NULL, "number"), 0);
	assert_string_equal(value_yes(object, "flag"), "yes");
	assert_string_equal(value_yes(object, "missing"), "no");
	json_decref(object);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_columns),
		TEST(test_no_heads),
		TEST(test_empty),
		TEST(test_many_and_unprintable),
		TEST(test_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

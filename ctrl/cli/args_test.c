/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ctrl/cli/args.h"
#include "ctrl/cli/commands.h"

static struct cli_call call;
static char why[256];

/* Words parted by one space. */
static int parse(const char *line)
{
	static char copy[256];
	char *argv[16] = {(char *)"kvlanectl"};
	int argc = 1;

	strcpy(copy, line);
	for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " "))
		argv[argc++] = word;
	why[0] = '\0';
	return args_parse(argc, argv, &call, why, sizeof(why));
}

static void test_good(void **state)
{
	unsetenv(CLI_SOCKET_ENV);
	assert_int_equal(parse("nodes"), 0);
	assert_ptr_equal(call.command, &cli_command_nodes);
	assert_string_equal(call.socket, CLI_SOCKET_DEFAULT);
	assert_null(cli_value(&call, "watch"));
	assert_false(call.json);

	setenv(CLI_SOCKET_ENV, "/env", 1);
	assert_int_equal(parse("status"), 0);
	assert_string_equal(call.socket, "/env");

	assert_int_equal(parse("-s /a --json nodes --watch 2 --count=3 --wide"), 0);
	assert_string_equal(call.socket, "/a");
	assert_true(call.json);
	assert_string_equal(cli_value(&call, "watch"), "2");
	assert_string_equal(cli_value(&call, "count"), "3");
	assert_string_equal(cli_value(&call, "wide"), "");

	assert_int_equal(parse("route --service web a:b --socket=/b"), 0);
	assert_string_equal(call.arg, "a:b");
	assert_string_equal(cli_value(&call, "service"), "web");
	assert_string_equal(call.socket, "/b");
	assert_int_equal(parse("-s/c route -- --key"), 0);
	assert_string_equal(call.arg, "--key");
	assert_int_equal(parse("route -"), 0);
	assert_string_equal(call.arg, "-");
	assert_int_equal(parse("set web a=1 --json b=2 -- --c=3"), 0);
	assert_string_equal(call.arg, "web");
	assert_int_equal(call.more_count, 3);
	assert_string_equal(call.more[1], "b=2");
	assert_string_equal(call.more[2], "--c=3");
	assert_int_equal(parse("route --command mn"), 0);
	assert_null(call.arg);
}

static void test_help_needs_no_more(void **state)
{
	assert_int_equal(parse("--help"), 0);
	assert_true(call.help);
	assert_null(call.command);
	assert_int_equal(parse("route -h"), 0);
	assert_true(call.help);
	assert_int_equal(parse("--version"), 0);
	assert_true(call.version);
}

static void test_bad(void **state)
{
	static const struct {
		const char *line, *why;
	} cases[] = {
		{"", "no command"},
		{"nods", "there is no command \"nods\""},
		{"nodes web", "\"web\" is one argument too many for nodes"},
		{"route a b", "\"b\" is one argument too many for route"},
		{"check --json", "check needs its argument: check FILE"},
		{"nodes --all", "--all: no such option"},
		{"--watch 1 nodes", "--watch: no such option before a command"},
		{"nodes --watch", "--watch needs a value: --watch SECONDS"},
		{"nodes --watch=", "--watch: empty value"},
		{"nodes --wide=1", "--wide takes no value"},
		{"nodes --wid", "--wid: no such option"},
		{"nodes -x", "-x: no such option"},
		{"nodes -s", "--socket needs a value: --socket PATH"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(parse(cases[i].line) < 0);
		assert_string_equal(why, cases[i].why);
	}
}

static void test_numbers(void **state)
{
	static const char *const bad[] = {"", "0", "0.09", "101", "-1", "+1", "1e1", "1.", "1.2345",
		".5", "0x1", "nan", "1 "};
	double value;

	assert_int_equal(args_number("watch", "0.1", 0.1, 100, &value, why, sizeof(why)), 0);
	assert_int_equal(args_number("watch", "100", 0.1, 100, &value, why, sizeof(why)), 0);
	assert_true(value == 100);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		why[0] = '\0';
		if (args_number("watch", bad[i], 0.1, 100, &value, why, sizeof(why)) == 0)
			fail_msg("\"%s\" is taken", bad[i]);
		assert_non_null(strstr(why, "is not a number from 0.1 to 100"));
	}
}

/* What the parser and help rely on. */
static void test_table_is_sound(void **state)
{
	for (size_t i = 0; cli_commands[i] != NULL; i++) {
		const struct cli_command *c = cli_commands[i];
		size_t n = 0;

		assert_true(
			c->name != NULL && c->summary != NULL && c->help != NULL && c->run != NULL);
		while (c->options != NULL && c->options[n].name != NULL)
			assert_non_null(c->options[n++].help);
		assert_true(n <= CLI_OPTIONS_MAX);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(c->name, cli_commands[j]->name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_help_needs_no_more),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_table_is_sound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

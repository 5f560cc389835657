/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "lib/ring/internal.h"

/*
 * The walk of SPEC 2.4 on rings small enough to write down. Members are single letters in id
 * order, each with its zone and host; '.' is a host of its own. The first `preferred` letters of
 * the row are the preference list, the rest is for replacement.
 */
struct preference_case {
	const char *what;
	const char *members, *zones, *hosts;
	const char *walk; /* owners of the tokens, from the one looked at */
	uint32_t replication;
	const char *row;
	uint32_t preferred;
};

static const struct preference_case cases[] = {
	{"SPEC 2.4: zones B,C in 1, A in 2, D in 3", "ABCD", "2113", "....", "ABCD", 3, "ABDC", 3},
	{"the same, begun at B", "ABCD", "2113", "....", "BCDA", 3, "BDAC", 3},
	{"all four: the skipped one is admitted", "ABCD", "2113", "....", "ABCD", 4, "ABDC", 4},
	{"N=1: zones play no part behind it", "ABCD", "2113", "....", "ABCD", 1, "ABCD", 1},
	{"N=2: C keeps its place in the walk", "ABCD", "2113", "....", "BCDA", 2, "BDCA", 2},
	{"fewer zones than N", "ABC", "112", "...", "ABC", 3, "ACB", 3},
	{"fewer zones than N, two skipped", "ABCD", "1112", "....", "ABCD", 3, "ADBC", 3},
	{"one zone", "ABCD", "1111", "....", "CADB", 3, "CADB", 3},
	{"fewer nodes than N", "AB", "12", "..", "BA", 3, "BA", 2},
	{"one node", "A", "1", ".", "AAA", 5, "A", 1},
	{"the first N tokens are not it", "ABC", "123", "...", "AABABC", 3, "ABC", 3},
	{"the new zone is far behind", "ABC", "112", "...", "ABABABC", 2, "ACB", 2},
	{"a taken host is skipped", "ABC", "111", "hh.", "ABC", 2, "ACB", 2},
	{"a taken host is skipped though its zone is new", "ABC", "121", "hh.", "ABC", 2, "ACB", 2},
	{"one host: copies are not made on it", "AB", "12", "hh", "AB", 3, "AB", 1},
	{"two hosts for N=3", "ABCD", "1111", "hhii", "ABCD", 3, "ACBD", 2},
	{"two hosts, two zones", "ABCD", "1122", "hhii", "BADC", 2, "BDAC", 2},
	{"a zone's first node will not do, its second will, after another zone's", "ABCD", "1223",
		"hhi.", "ABDC", 3, "ADCB", 3},
	{"a skipped node's host is taken meanwhile", "ABCD", "1123", ".ii.", "ABCD", 4, "ACDB", 3},
	{"a row holds eight", "ABCDEFGHIJ", "1111111111", "..........", "JIHGFEDCBA", 2, "JIHGFEDC",
		2},
};

static size_t members_make(
	const struct preference_case *c, struct kvl_member *members, char text[][3][2])
{
	size_t n = strlen(c->members);

	for (size_t i = 0; i < n; i++) {
		memcpy(text[i], (char[3][2]){{c->members[i]}, {c->zones[i]}, {c->hosts[i]}}, 6);
		members[i] = (struct kvl_member){
			.id = text[i][0],
			.zone = text[i][1],
			.host = c->hosts[i] == '.' ? "" : text[i][2],
			.weight = 100,
			.number = (uint16_t)(1000 + i),
		};
	}
	return n;
}

static void case_run(const struct preference_case *c)
{
	struct kvl_member members[16];
	struct token tokens[16];
	struct kvl_row rows[16];
	char text[16][3][2], got[KVL_ROW_MAX + 1] = "";
	size_t n = members_make(c, members, text), walk = strlen(c->walk);
	uint32_t hosts, preferred;

	for (size_t i = 0; i < walk; i++)
		tokens[i] = (struct token){
			.value = i,
			.owner = (uint32_t)(strchr(c->members, c->walk[i]) - c->members),
		};
	assert_int_equal(
		preference_rows(members, n, tokens, walk, c->replication, rows, &hosts), 0);
	for (size_t i = 0; i < KVL_ROW_MAX && rows[0].node[i] != KVL_NODE_NONE; i++)
		got[i] = c->members[rows[0].node[i] - 1000];
	preferred = hosts < c->replication ? hosts : c->replication;
	if (strcmp(got, c->row) != 0 || preferred != c->preferred)
		fail_msg("%s: %s with %u preferred, not %s with %u", c->what, got, preferred,
			c->row, c->preferred);
	for (size_t i = strlen(got); i < KVL_ROW_MAX; i++)
		assert_int_equal(rows[0].node[i], KVL_NODE_NONE);
}

static void test_cases(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		case_run(&cases[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

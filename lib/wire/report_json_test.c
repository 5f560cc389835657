/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/score/facts.h"
#include "lib/wire/report.h"

static struct kvl_report out;

static enum kvl_report_fault parse(const char *text)
{
	return kvl_report_from_json(text, strlen(text), &out);
}

static void test_round_trip(void **state)
{
	struct kvl_report full;
	json_t *json;
	char *text;

	kvl_report_init(&full, "mc1", 1700000000000);
	for (unsigned int m = 0; m < KVL_METRIC_REPORTED; m++)
		full.figures.value[m] = kvl_metric_most(m) / (m + 2);
	full.figures.flags = KVL_FACT_REPAIRING | KVL_FACT_READ_ONLY;
	full.figures.capability = (struct kvl_capability){KVL_DISK_HDD, 1000, 65536};
	full.prefix_count = 1;
	full.prefixes[0] = (struct kvl_report_prefix){.prefix = "user:", .len = 5, .hit_rate = 0.9};
	json = kvl_report_to_json(&full);
	text = json_dumps(json, 0);
	assert_int_equal(parse(text), KVL_REPORT_OK);
	assert_memory_equal(&out, &full, sizeof(out));
	free(text);
	json_decref(json);
	full.prefixes[0].prefix[0] = 0xff;
	assert_null(kvl_report_to_json(&full));
	assert_int_equal(errno, EILSEQ);
}

static void test_least(void **state)
{
	assert_int_equal(
		parse("{\"node\":\"a\",\"time_ms\":1,\"from_the_future\":[]}"), KVL_REPORT_OK);
	assert_string_equal(out.node, "a");
	assert_true(isnan(out.figures.value[KVL_METRIC_CPU]));
	assert_int_equal(out.figures.capability.disk, KVL_DISK_UNKNOWN);
}

static void test_faults(void **state)
{
	static const struct {
		const char *members;
		enum kvl_report_fault fault;
	} cases[] = {
		{"\"cpu\":1", KVL_REPORT_OK},
		{"\"cpu\":null", KVL_REPORT_OK},
		{"\"cpu\":\"0.3\"", KVL_REPORT_MALFORMED},
		{"\"cpu\":0.3,\"cpu\":0.4", KVL_REPORT_MALFORMED},
		{"\"compacting\":1", KVL_REPORT_MALFORMED},
		{"\"compacting\":false", KVL_REPORT_OK},
		{"\"disk\":\"tape\"", KVL_REPORT_MALFORMED},
		{"\"nic_mbit\":-1", KVL_REPORT_MALFORMED},
		{"\"nic_mbit\":4294967296", KVL_REPORT_MALFORMED},
		{"\"nic_mbit\":4294967295", KVL_REPORT_ABSURD},
		{"\"prefixes\":{}", KVL_REPORT_MALFORMED},
		{"\"prefixes\":[]", KVL_REPORT_OK},
		{"\"prefixes\":[1]", KVL_REPORT_MALFORMED},
		{"\"prefixes\":[{\"prefix\":\"a\"}]", KVL_REPORT_ABSURD},
		{"\"prefixes\":[{\"prefix\":\"\",\"hit_rate\":1}]", KVL_REPORT_ABSURD},
		{"\"prefixes\":[{\"prefix\":\"a\",\"hit_rate\":1}]", KVL_REPORT_OK},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[256];

		snprintf(text, sizeof(text), "{\"node\":\"a\",\"time_ms\":1,%s}", cases[i].members);
		if (parse(text) != cases[i].fault)
			fail_msg("%s: %s", cases[i].members, kvl_report_fault_name(parse(text)));
	}
	assert_int_equal(parse(""), KVL_REPORT_MALFORMED);
	assert_int_equal(parse("[]"), KVL_REPORT_MALFORMED);
	assert_int_equal(parse("{\"node\":\"a\"}"), KVL_REPORT_MALFORMED);
	assert_int_equal(parse("{\"node\":\"a b\",\"time_ms\":1}"), KVL_REPORT_ABSURD);
	assert_int_equal(parse("{\"node\":\"a\",\"time_ms\":0}"), KVL_REPORT_ABSURD);
	assert_int_equal(parse("{\"node\":\"a\",\"time_ms\":1.5}"), KVL_REPORT_MALFORMED);
}

static void test_bad_figures_are_taken_out(void **state)
{
	assert_int_equal(
		parse("{\"node\":\"a\",\"time_ms\":1,\"cpu\":-1,\"memory\":0.5}"), KVL_REPORT_OK);
	assert_int_equal(out.rejected, 1u << KVL_METRIC_CPU);
	assert_true(isnan(out.figures.value[KVL_METRIC_CPU]));
	assert_true(out.figures.value[KVL_METRIC_MEMORY] == 0.5);
}

static void test_too_long(void **state)
{
	static char text[KVL_REPORT_JSON_MAX + 2];

	memset(text, ' ', KVL_REPORT_JSON_MAX + 1);
	assert_int_equal(parse(text), KVL_REPORT_TOO_LONG);
	text[KVL_REPORT_JSON_MAX] = '\0';
	assert_int_equal(parse(text), KVL_REPORT_MALFORMED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_least),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_bad_figures_are_taken_out),
		cmocka_unit_test(test_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

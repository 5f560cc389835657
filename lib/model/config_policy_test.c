/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "lib/model/config.h"
#include "lib/score/weights.h"

/* A service's policies, good and bad; columns count from the service's line. */

#define HEAD                                                 \
	"ports: [{name: p0, device: d0, snat: 192.0.2.1}]\n" \
	"nodes: [{id: a, address: 10.0.0.1}, {id: b, address: 10.0.0.2}]\n"
#define SERVICE(rest) HEAD "services:\n- {name: s, address: 192.0.2.10, " rest "}\n"

static struct kvl_diags diags;

static struct kvl_config *parse(const char *text)
{
	return kvl_config_parse(text, strlen(text), "f", &diags);
}

static struct kvl_config *parse_good(const char *text)
{
	struct kvl_config *c = parse(text);

	if (c == NULL)
		fail_msg("%s", diags.list[0].text);
	assert_int_equal(diags.count, 0);
	return c;
}

static const char *const bad[][2] = {
	{SERVICE("clients: 10.0.0.0/8"), "f:4:43: services[0].clients: 10.0.0.0/8: must be a list"},
	{SERVICE("clients: []"), "f:4:43: services[0].clients: must name at least one prefix; "
				 "without the list all clients are served"},
	{SERVICE("clients: [10.0.0.0/8, 10.0.0.1/33]"),
		"f:4:56: services[0].clients[1]: 10.0.0.1/33: must be a prefix, like 10.0.0.0/8 or "
		"2001:db8::/32, or an address"},
	{SERVICE("clients: [10.1.0.0/8]"),
		"f:4:44: services[0].clients[0]: 10.1.0.0/8: bits are set behind the prefix; is "
		"10.0.0.0/8 meant?"},
	{SERVICE("client_rate: {burst: 5}"),
		"f:4:47: services[0].client_rate: requests is missing"},
	{SERVICE("client_rate: {requests: 0}"),
		"f:4:58: services[0].client_rate.requests: 0: must be 1..1000000"},
	{SERVICE("amplification: {burst_bytes: 100}"),
		"f:4:63: services[0].amplification.burst_bytes: 100: must be 1500..1000000000"},
	{SERVICE("amplification: {}, mode: dsr"),
		"f:4:49: services[0]: amplification needs mode nat: replies of dsr do not pass the "
		"router"},
	{SERVICE("max_in_flight: 5, mode: dsr"),
		"f:4:49: services[0]: max_in_flight needs mode nat: replies of dsr do not pass the "
		"router"},
	{SERVICE("max_in_flight: 0"), "f:4:49: services[0].max_in_flight: 0: must be 1..1000000"},
	{SERVICE("max_version_lag: 5"), "f:4:51: services[0]: max_version_lag needs replication "
					"above 1: nobody else has a copy"},
	{SERVICE("consistency: quorum"),
		"f:4:47: services[0].consistency: quorum: must be eventual or strong"},
	{SERVICE("rules: [{tenant: t}]"), "f:4:42: services[0].rules[0]: prefix is missing"},
	{SERVICE("rules: [{prefix: \"a b\"}]"),
		"f:4:51: services[0].rules[0].prefix: a b: must be 1..64 printable characters "
		"without a space"},
	{SERVICE("rules: [{prefix: a}, {prefix: a}]"),
		"f:4:64: services[0].rules[1]: a: prefix of rules[0] as well"},
	{SERVICE("rules: [{prefix: a, timeout_ms: 0}]"),
		"f:4:66: services[0].rules[0].timeout_ms: 0: must be 1..60000"},
	{SERVICE("rules: [{prefix: a, hash_tag: \"{}\", hash_separator: \":\"}]"),
		"f:4:86: services[0].rules[0]: hash_separator and hash_tag: must be one of them"},
	{SERVICE("rules: [{prefix: a, tenant: acme}]"),
		"f:4:62: services[0].rules[0].tenant: acme: is none of the tenants"},
	{"tenants: [{name: t}]\n" SERVICE("port: 1"), "f:1:11: tenants[0]: rate is missing"},
	{"tenants: [{name: t, rate: 1}, {name: t, rate: 1}]\n" SERVICE("port: 1"),
		"f:1:31: tenants[1]: t: name of tenants[0] as well"},
	{"tenants: [{name: t, rate: 1, node_share: 2}]\n" SERVICE("port: 1"),
		"f:1:42: tenants[0].node_share: 2: must be 0.001..1"},
};

static void refused_by_line_and_column(void **state)
{
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		if (parse(bad[i][0]) != NULL)
			fail_msg("accepted:\n%s", bad[i][0]);
		if (diags.count != 1 || strcmp(diags.list[0].text, bad[i][1]) != 0)
			fail_msg("of\n%s\ngot  %s\nwant %s", bad[i][0], diags.list[0].text,
				bad[i][1]);
	}
}

static void guards(void **state)
{
	struct kvl_config *c = parse_good(
		SERVICE("clients: [10.0.0.0/8, \"2001:db8::/32\"], client_rate: {requests: 7}, "
			"amplification: {factor: 3}"));
	const struct kvl_policy_config *p = &c->services[0].policy;
	char text[KVL_PREFIX_STRLEN];

	assert_int_equal(p->client_count, 2);
	assert_string_equal(kvl_prefix_format(&p->clients[0], text), "10.0.0.0/8");
	assert_string_equal(kvl_prefix_format(&p->clients[1], text), "2001:db8::/32");
	assert_int_equal(p->client_rate.requests, 7);
	assert_int_equal(p->client_rate.burst, 7);
	assert_int_equal(p->amplification.factor, 3);
	assert_int_equal(p->amplification.burst_bytes, KVL_AMPLIFICATION_BURST);
	kvl_config_free(c);
}

static uint32_t factor_at(const char *address, const char *rest)
{
	char text[512];
	struct kvl_config *c;
	uint32_t factor;

	snprintf(text, sizeof(text), HEAD "services: [{name: s, address: %s%s}]\n", address, rest);
	c = parse_good(text);
	factor = c->services[0].policy.amplification.factor;
	kvl_config_free(c);
	return factor;
}

static void amplification_is_on_for_public_addresses(void **state)
{
	assert_int_equal(factor_at("8.8.4.4", ""), KVL_AMPLIFICATION_FACTOR);
	assert_int_equal(factor_at("172.32.0.1", ""), KVL_AMPLIFICATION_FACTOR);
	assert_int_equal(factor_at("172.31.0.1", ""), 0);
	assert_int_equal(factor_at("10.1.0.100", ""), 0);
	assert_int_equal(factor_at("100.64.0.1", ""), 0);
	assert_int_equal(factor_at("8.8.4.4", ", clients: [8.0.0.0/8]"), 0);
	assert_int_equal(factor_at("8.8.4.4", ", mode: dsr"), 0);
	assert_int_equal(factor_at("8.8.4.4", ", amplification: {factor: 1}"), 1);
}

static void rules_and_tenants(void **state)
{
	struct kvl_config *c = parse_good(SERVICE(
		"consistency: strong, max_in_flight: 100, rules: [{prefix: \"user:\", tenant: "
		"acme, consistency: eventual, timeout_ms: 50, retries: 0, choice: best, "
		"hash_separator: \":\"}, {prefix: s}]") "tenants: [{name: acme, rate: 1000, "
							"node_share: 0.25}, {name: b, rate: 1, "
							"burst: 9}]\n");
	const struct kvl_policy_config *p = &c->services[0].policy;
	const struct kvl_rule_config *r = p->rules;

	assert_int_equal(p->consistency, KVL_STRONG);
	assert_int_equal(p->max_in_flight, 100);
	assert_int_equal(p->rule_count, 2);
	assert_string_equal(r[0].prefix, "user:");
	assert_string_equal(r[0].tenant, "acme");
	assert_true(r[0].has_consistency && r[0].consistency == KVL_EVENTUAL);
	assert_true(r[0].has_timeout && r[0].timeout_ms == 50);
	assert_true(r[0].has_retries && r[0].retries == 0);
	assert_true(r[0].has_choice && r[0].choice == KVL_CHOOSE_BEST);
	assert_true(r[0].has_hash && r[0].hash_rule.separator == ':');
	assert_false(r[1].has_consistency || r[1].has_timeout || r[1].has_retries || r[1].has_choice
		     || r[1].has_hash);
	assert_int_equal(c->tenant_count, 2);
	assert_int_equal(c->tenants[0].burst, 1000);
	assert_true(c->tenants[0].node_share == 0.25);
	assert_int_equal(c->tenants[1].burst, 9);
	assert_true(c->tenants[1].node_share == 1);
	kvl_config_free(c);
}

static void same_or_not(void **state)
{
	struct kvl_config *a = parse_good(SERVICE("clients: [10.0.0.0/8], rules: [{prefix: a}]"));
	struct kvl_config *b =
		parse_good("\n" SERVICE("clients: [10.0.0.0/8], rules: [{prefix: a}]"));
	struct kvl_config *c =
		parse_good(SERVICE("clients: [10.0.0.0/8], rules: [{prefix: a, retries: 2}]"));
	struct kvl_config *d = parse_good(SERVICE("clients: [10.0.0.0/9], rules: [{prefix: a}]"));

	assert_true(kvl_policy_same(&a->services[0].policy, &b->services[0].policy));
	assert_false(kvl_policy_same(&a->services[0].policy, &c->services[0].policy));
	assert_false(kvl_policy_same(&a->services[0].policy, &d->services[0].policy));
	kvl_config_free(a);
	kvl_config_free(b);
	kvl_config_free(c);
	kvl_config_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refused_by_line_and_column),
		cmocka_unit_test(guards),
		cmocka_unit_test(amplification_is_on_for_public_addresses),
		cmocka_unit_test(rules_and_tenants),
		cmocka_unit_test(same_or_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

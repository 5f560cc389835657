/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ctrl/core/overrides.h"
#include "lib/model/scoring_fields.h"

static struct kvl_overrides o;
static struct kvl_diags diags;
static const char *cpu_in_file = "0.7";

/* A configuration as it would be read again. */
static struct kvl_config *reload(const char *services, const char *nodes)
{
	struct kvl_config *c;
	char text[1024];

	snprintf(text, sizeof(text),
		"ports: [{name: p0, device: d, snat: 192.0.2.1}]\n"
		"services: [%s]\nnodes: [%s]\n",
		services, nodes);
	c = kvl_config_parse(text, strlen(text), "f", &diags);
	if (c == NULL)
		fail_msg("%s", diags.list[0].text);
	return c;
}

static struct kvl_config *plain(void)
{
	char services[256];

	snprintf(services, sizeof(services),
		"{name: a, address: 192.0.2.10, scoring: {cpu_threshold: %s}}, "
		"{name: b, address: 192.0.2.11}",
		cpu_in_file);
	return reload(services, "{id: n1, address: 10.0.0.1}, {id: n2, address: 10.0.0.2}");
}

static int start(void **state)
{
	memset(&o, 0, sizeof(o));
	cpu_in_file = "0.7";
	return 0;
}

static size_t field(const char *name)
{
	char why[100];

	return (size_t)kvl_scoring_find(name, why, sizeof(why));
}

static void set(struct kvl_service_config *c, const char *name, const char *value)
{
	struct kvl_scoring_config now = c->scoring;
	char why[100];

	assert_int_equal(kvl_scoring_set(&now, field(name), value, why, sizeof(why)), 0);
	kvl_overrides_set(&o, c, 1u << field(name), &now);
	c->scoring = now;
}

static int unset(struct kvl_service_config *c, uint32_t fields)
{
	char why[100];

	return kvl_overrides_unset(&o, c, fields, why, sizeof(why));
}

static void test_survives_a_reload(void **state)
{
	const struct kvl_scoring_config *file;
	struct kvl_config *c = plain();

	set(&c->services[0], "cpu_threshold", "0.9");
	set(&c->services[0], "queue_high", "5");
	kvl_config_free(c);
	cpu_in_file = "0.5";
	c = plain();
	kvl_overrides_apply(&o, c, &diags);
	assert_int_equal(diags.count, 0);
	assert_true(c->services[0].scoring.cpu_threshold == 0.9);
	assert_true(c->services[0].scoring.queue_high == 5);
	assert_true(c->services[1].scoring.queue_high == 20);
	assert_true(kvl_overrides_field(&o, "a", field("cpu_threshold"), &file));
	assert_true(file->cpu_threshold == 0.5); /* what the file says now */
	assert_false(kvl_overrides_field(&o, "a", field("low_score"), &file));
	assert_false(kvl_overrides_field(&o, "b", field("cpu_threshold"), &file));

	assert_int_equal(unset(&c->services[0], 1u << field("cpu_threshold")), 0);
	assert_true(c->services[0].scoring.cpu_threshold == 0.5);
	assert_true(c->services[0].scoring.queue_high == 5);
	assert_int_equal(unset(&c->services[0], UINT32_MAX), 0);
	assert_true(c->services[0].scoring.queue_high == 20);
	assert_string_equal(o.services[0].name, "");
	assert_int_equal(unset(&c->services[0], UINT32_MAX), 0); /* nothing is set: no harm */
	kvl_config_free(c);
}

static void test_goes_with_its_service(void **state)
{
	struct kvl_config *c = plain();

	set(&c->services[0], "cpu_threshold", "0.9");
	set(&c->services[1], "cpu_threshold", "0.8");
	kvl_overrides_node_set(&o, &c->nodes[0], 50);
	kvl_overrides_node_set(&o, &c->nodes[1], 70);
	kvl_config_free(c);
	c = reload("{name: b, address: 192.0.2.11}", "{id: n2, address: 10.0.0.2, weight: 10}");
	kvl_overrides_apply(&o, c, &diags);
	assert_int_equal(diags.count, 2);
	assert_string_equal(diags.list[0].text, "service a is gone, and what was set of it");
	assert_string_equal(
		diags.list[1].text, "node n1 is gone, and the weight that was set of it");
	assert_true(c->services[0].scoring.cpu_threshold == 0.8);
	assert_int_equal(c->nodes[0].weight, 70);
	assert_int_equal(kvl_overrides_node(&o, "n2")->file, 10);
	assert_null(kvl_overrides_node(&o, "n1"));
	kvl_config_free(c);
}

/* A node that keeps its former definition has what was set in that: it is not the file's word. */
static void test_unconfirmed(void **state)
{
	struct kvl_config *c = plain();

	kvl_overrides_node_set(&o, &c->nodes[0], 50);
	c->nodes[0].weight = 50;
	c->nodes[0].unconfirmed = true;
	kvl_overrides_apply(&o, c, &diags);
	assert_int_equal(c->nodes[0].weight, 50);
	assert_int_equal(kvl_overrides_node(&o, "n1")->file, 100);
	kvl_config_free(c);
}

/* All four weights 0 between what is set and what is in the file: the file counts. */
static void test_must_fit_the_file(void **state)
{
	struct kvl_config *c = plain();

	set(&c->services[1], "weights.load", "0");
	set(&c->services[1], "weights.hit", "0");
	kvl_config_free(c);
	c = reload("{name: b, address: 192.0.2.11, scoring: {weights: {load: 1, latency: 0, "
		   "capacity_free: 0, hit: 1}}}",
		"{id: n2, address: 10.0.0.2}");
	kvl_overrides_apply(&o, c, &diags);
	assert_int_equal(diags.count, 1);
	assert_non_null(strstr(diags.list[0].text, "does not go with the file"));
	assert_true(c->services[0].scoring.weights.load == 1);
	kvl_config_free(c);
}

/* Two were set together; the file's value of one does not go with the other. */
static void test_unset_must_fit_what_stays(void **state)
{
	const struct kvl_scoring_config *file;
	struct kvl_config *c = reload("{name: b, address: 192.0.2.11, scoring: {weights: {load: 0, "
				      "latency: 0, capacity_free: 0, hit: 1}}}",
		"{id: n2, address: 10.0.0.2}");
	struct kvl_service_config *b = &c->services[0];

	set(b, "weights.load", "1");
	set(b, "weights.hit", "0");
	assert_int_equal(unset(b, 1u << field("weights.load")), -EINVAL);
	assert_true(b->scoring.weights.load == 1);
	assert_true(kvl_overrides_field(&o, "b", field("weights.load"), &file));
	assert_int_equal(unset(b, 1u << field("weights.hit")), 0);
	assert_int_equal(unset(b, 1u << field("weights.load")), 0);
	assert_true(b->scoring.weights.load == 0 && b->scoring.weights.hit == 1);
	kvl_config_free(c);
}

static void test_nodes_are_bounded(void **state)
{
	struct kvl_node_config node = {.weight = 100};

	for (int i = 0; i < KVL_OVERRIDES_NODES; i++) {
		snprintf(node.id, sizeof(node.id), "n%d", i);
		assert_int_equal(kvl_overrides_node_set(&o, &node, 50), 0);
	}
	assert_int_equal(kvl_overrides_node_set(&o, &node, 60), 0); /* it again */
	assert_int_equal(kvl_overrides_node(&o, node.id)->now, 60);
	assert_int_equal(kvl_overrides_node(&o, node.id)->file, 100);
	strcpy(node.id, "more");
	assert_int_equal(kvl_overrides_node_set(&o, &node, 50), -ENOSPC);
	kvl_overrides_node_unset(&o, "n0");
	assert_int_equal(kvl_overrides_node_set(&o, &node, 50), 0);
	kvl_overrides_node_unset(&o, "nobody");
	assert_int_equal(o.node_count, KVL_OVERRIDES_NODES);
}

/* Every service there can be, every field; places are given back. */
static void test_services_are_bounded(void **state)
{
	struct kvl_service_config c = {.scoring.weights.load = 1};
	struct kvl_scoring_config now;

	for (int round = 0; round < 3; round++)
		for (int i = 0; i < KVL_SERVICES_MAX; i++) {
			snprintf(c.name, sizeof(c.name), "s%d-%d", round, i);
			now = c.scoring;
			kvl_overrides_set(&o, &c, 1, &now);
			if (round < 2)
				assert_int_equal(unset(&c, 1), 0);
		}
	assert_string_equal(o.services[KVL_SERVICES_MAX - 1].name, "s2-63");
}

#define TEST(f) cmocka_unit_test_setup(f, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_survives_a_reload),
		TEST(test_goes_with_its_service),
		TEST(test_unconfirmed),
		TEST(test_must_fit_the_file),
		TEST(test_unset_must_fit_what_stays),
		TEST(test_nodes_are_bounded),
		TEST(test_services_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

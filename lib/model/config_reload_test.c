/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/model/config.h"

/* What a bad node of a new file keeps of the configuration before (SPEC 5.3, 10.3). */
static char path[] = "/tmp/kvlane-reload-XXXXXX";
static struct kvl_diags diags;
static struct kvl_config *config; /* in force */

#define PORTS "ports: [{name: p0, device: d, snat: 192.0.2.1}]\n"
#define SERVICES \
	"services: [{name: s, address: 192.0.2.9}, {name: t, address: 192.0.2.8, pool: q}]\n"
#define A "- {id: a, address: 10.0.0.1}\n"
#define B "- {id: b, address: 10.0.0.2, weight: 300, zone: z, pool: q}\n"
#define C "- {id: c, address: 10.0.0.3, nexthop: {mac: 02:00:00:00:00:03, port: p0}}\n"

static void reload_refused(const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	assert_null(kvl_config_reload(path, config, &diags));
	assert_int_equal(errno, EINVAL);
}

/* NULL at first, then what was in force before. */
static void reload(const char *text)
{
	struct kvl_config *next;
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	next = kvl_config_reload(path, config, &diags);
	if (next == NULL)
		fail_msg("%s", diags.list[0].text);
	kvl_config_free(config);
	config = next;
}

static void said(size_t which, const char *want)
{
	assert_true(which < diags.count);
	if (strcmp(diags.list[which].text + strlen(path), want) != 0)
		fail_msg("got  %s\nwant %s", diags.list[which].text + strlen(path), want);
	assert_int_equal(diags.list[which].severity, KVL_DIAG_NODE);
}

static const struct kvl_node_config *node(const char *id)
{
	return kvl_config_node(config, id);
}

static int start(void **state)
{
	strcpy(path, "/tmp/kvlane-reload-XXXXXX");
	close(mkstemp(path));
	reload(PORTS SERVICES "nodes:\n" A B C);
	assert_int_equal(diags.count, 0);
	assert_int_equal(config->nodes_kept, 0);
	return 0;
}

static int stop(void **state)
{
	kvl_config_free(config);
	config = NULL;
	return unlink(path);
}

static void counts(size_t nodes, size_t kept, size_t rejected)
{
	assert_int_equal(config->node_count, nodes);
	assert_int_equal(config->nodes_kept, kept);
	assert_int_equal(config->nodes_rejected, rejected);
}

/* All of the former definition, until a file says better. */
static void test_keeps(void **state)
{
	for (int i = 0; i < 2; i++) {
		reload(PORTS SERVICES "nodes:\n" A
				      "- {id: b, address: 10.9.9.9, port: 70000, weight: 1}\n" C);
		assert_int_equal(diags.count, 1);
		said(0, ":5:36: nodes[1].port: 70000: must be 1..65535; node b keeps its former "
			"definition");
		counts(3, 1, 0);
		assert_true(node("b")->unconfirmed);
		assert_false(node("a")->unconfirmed || node("c")->unconfirmed);
		assert_string_equal(node("b")->host, "10.0.0.2");
		assert_string_equal(node("b")->ketama_name, "10.0.0.2");
		assert_string_equal(node("b")->zone, "z");
		assert_string_equal(node("b")->pool, "q");
		assert_int_equal(node("b")->port, 11211);
		assert_int_equal(node("b")->weight, 300);
		assert_int_equal(node("b")->line, 5);
	}
	reload(PORTS SERVICES "nodes:\n" A B C);
	counts(3, 0, 0);
	assert_false(node("b")->unconfirmed);
}

/* A change that is good is one; a node that is not named goes. */
static void test_confirmed_or_removed(void **state)
{
	reload(PORTS SERVICES "nodes:\n" A "- {id: b, address: 10.0.0.2, weight: none}\n" C);
	counts(3, 1, 0);
	reload(PORTS SERVICES "nodes:\n" A "- {id: b, address: 10.0.0.7}\n" C);
	counts(3, 0, 0);
	assert_string_equal(node("b")->pool, "default");
	reload(PORTS SERVICES "nodes:\n" A "- {id: b, address: 10.0.0.300}\n" C);
	counts(3, 1, 0);
	reload(PORTS SERVICES "nodes:\n" A C);
	counts(2, 0, 0);
	/* And does not come back by an entry that is bad. */
	reload(PORTS SERVICES "nodes:\n" A "- {id: b, address: 10.0.0.300}\n" C);
	said(0, ":5:20: nodes[1].address: 10.0.0.300: must be a numeric IP address; node b is "
		"left out");
	counts(2, 0, 1);
}

static void test_no_id_to_go_by(void **state)
{
	reload(PORTS SERVICES
		"nodes:\n" A "- {id: [b], address: 10.0.0.2}\n"
		"- {id: \"b\\0\", address: 10.0.0.2}\n- {address: 10.0.0.2}\n- b\n" C);
	counts(2, 0, 4);
	assert_null(node("b"));
	assert_non_null(strstr(diags.list[0].text, "; this node is left out"));
}

/* Faults that only the whole shows: each time the former definition has to pass, too. */
static void test_checked_with_the_whole(void **state)
{
	reload(PORTS SERVICES
		"nodes:\n" A B
		"- {id: c, address: 10.0.0.3, nexthop: {mac: 02:00:00:00:00:03, port: p9}}\n");
	assert_int_equal(diags.count, 1);
	said(0, ":6:39: nodes[2].nexthop: p9: must be the name of a port; node c keeps its former "
		"definition");
	counts(3, 1, 0);
	assert_string_equal(node("c")->nexthop_port, "p0");
	/* A service on a kept node's address. */
	reload(PORTS "services: [{name: s, address: 10.0.0.3}, {name: t, address: 192.0.2.8, pool: "
		     "q}]\nnodes:\n" A B "- {id: c, address: 10.0.0.3, port: 0}\n");
	assert_int_equal(diags.count, 2);
	said(0, ":6:36: nodes[2].port: 0: must be 1..65535; node c keeps its former definition");
	said(1, ":6:20: nodes[2].address: 10.0.0.3: address of service s; node c is left out");
	counts(2, 0, 1);
}

static void test_service_on_both_addresses(void **state)
{
	reload(PORTS "services: [{name: s, address: 10.0.0.1}, {name: t, address: 10.0.0.9}]\n"
		     "nodes:\n- {id: a, address: 10.0.0.9}\n- {id: c, address: 10.0.0.3}\n");
	assert_int_equal(diags.count, 2);
	said(0, ":4:20: nodes[0].address: 10.0.0.9: address of service t; node a keeps its former "
		"definition");
	said(1, ":4:20: nodes[0].address: 10.0.0.1: address of service s; node a is left out");
	counts(1, 0, 1);
}

static void test_dsr_port(void **state)
{
	reload(PORTS "services: [{name: s, address: 192.0.2.9, mode: dsr}]\n"
		     "nodes:\n- {id: a, address: 10.0.0.1, port: 11212}\n- {id: c, address: "
		     "10.0.0.3}\n");
	said(0, ":4:36: nodes[0].port: 11212: must be 11211, the port of dsr service s; node a "
		"keeps its former definition");
	counts(2, 1, 0);
	assert_int_equal(node("a")->port, 11211);
}

/* A good entry outranks a former one: of the same id, wherever it stands; on the same endpoint. */
static void test_good_ones_first(void **state)
{
	reload(PORTS SERVICES "nodes:\n" A "- {id: b, address: 10.0.0.2, weight: 0}\n" B C);
	counts(3, 0, 1);
	said(1, ":5:8: nodes[1].id: b: id of nodes[2] in line 6 as well, which stays; node b is "
		"left out");
	assert_false(node("b")->unconfirmed);

	reload(PORTS SERVICES "nodes:\n" A "- {id: b, address: 10.0.0.2, weight: 0}\n"
			      "- {id: d, address: 10.0.0.2}\n" C);
	assert_int_equal(diags.count, 2 + 1); /* and that pool q is empty */
	said(1, ":5:20: nodes[1].address: 10.0.0.2: its former address and port are those of node "
		"d now; node b is left out");
	counts(3, 0, 1);
	assert_null(node("b"));
}

/* The same node twice, each time bad; and two that have had one address before. */
static void test_former_ones_among_themselves(void **state)
{
	reload(PORTS SERVICES "nodes:\n" A "- {id: b, weight: 0}\n- {id: b}\n" C);
	counts(3, 1, 1);
	reload(PORTS SERVICES "nodes:\n" A "- {id: b, address: 10.0.0.1, pool: q}\n" C);
	counts(3, 0, 0);
	reload(PORTS SERVICES "nodes:\n- {id: a}\n- {id: b}\n" C);
	counts(3, 2, 0);
	assert_true(kvl_addr_eq(&node("a")->address, &node("b")->address));
}

/* SPEC 10.3: a list of which none is good is a bad whole, kept or not. */
static void test_none_good(void **state)
{
	reload_refused(PORTS SERVICES "nodes:\n- {id: a}\n- {id: b}\n- {id: x}\n");
	assert_non_null(strstr(diags.list[diags.count - 1].text, "nodes: none of the 3 is usable"));
	reload_refused(PORTS SERVICES "nodes:\n- {id: a, address: 192.0.2.9}\n");
}

/* Nothing was in force: as at a start. */
static void test_load(void **state)
{
	reload(PORTS SERVICES "nodes:\n" A "- {id: b, address: 10.0.0.2, weight: 0}\n" C);
	kvl_config_free(config);
	config = kvl_config_load(path, &diags);
	assert_non_null(config);
	counts(2, 0, 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_keeps),
		TEST(test_confirmed_or_removed),
		TEST(test_no_id_to_go_by),
		TEST(test_checked_with_the_whole),
		TEST(test_service_on_both_addresses),
		TEST(test_dsr_port),
		TEST(test_good_ones_first),
		TEST(test_former_ones_among_themselves),
		TEST(test_none_good),
		TEST(test_load),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

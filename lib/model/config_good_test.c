/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/model/config.h"

static struct kvl_diags diags;

static struct kvl_config *parse(const char *text)
{
	struct kvl_config *c;

	memset(&diags, 0xa5, sizeof(diags)); /* need not be initialised */
	c = kvl_config_parse(text, strlen(text), "f", &diags);
	if (c == NULL)
		fail_msg("%s", diags.list[0].text);
	return c;
}

static void address_expect(const struct kvl_addr *a, const char *want)
{
	char text[KVL_ADDR_STRLEN];

	assert_string_equal(kvl_addr_format(a, text), want);
}

static void test_profile(void **state)
{
	struct kvl_config *c = parse(
		"ports: [{name: p0, device: d, snat: 192.0.2.1}]\n"
		"services:\n- {name: s, address: 192.0.2.10, scoring: {profile: {schedule: "
		"[{from: 08:00, profile: read-heavy}, {from: \"20:30\", profile: write-heavy}]}, "
		"weights: {load: 0.5, hit: profile}}}\n"
		"- {name: t, address: 192.0.2.11, scoring: {profile: auto, capability: on}}\n"
		"nodes: [{id: a, address: 10.0.0.1}]\n");
	const struct kvl_scoring_config *s = &c->services[0].scoring, *t = &c->services[1].scoring;

	assert_int_equal(diags.count, 0);
	assert_int_equal(s->profile.by, KVL_PROFILE_SCHEDULE);
	assert_int_equal(s->profile.schedule.count, 2);
	assert_int_equal(s->profile.schedule.entries[1].from_minute, 20 * 60 + 30);
	assert_int_equal(s->profile.schedule.entries[1].profile, KVL_PROFILE_WRITE_HEAVY);
	assert_true(s->weights.load == 0.5);
	assert_true(s->weights.hit != s->weights.hit); /* NAN: the profile's */
	assert_false(s->capability);
	assert_int_equal(t->profile.by, KVL_PROFILE_AUTO);
	assert_true(t->capability);
	kvl_config_free(c);
}

static void test_http(void **state)
{
	static const char rest[] = "ports: [{name: p0, device: d, snat: 192.0.2.1}]\n"
				   "services: [{name: s, address: 192.0.2.10}]\n"
				   "nodes: [{id: a, address: 10.0.0.1}]\n";
	static const struct {
		const char *section, *address;
	} cases[] = {
		{"http: {port: 8080}\n", "127.0.0.1"},
		{"http: {port: 8080, address: 0.0.0.0}\n", "0.0.0.0"},
		{"http: {port: 8080, address: \"::\"}\n", "::"},
		{"http: {port: 8080, address: \"fd00::1\"}\n", "fd00::1"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[512];
		struct kvl_config *c;

		snprintf(text, sizeof(text), "%s%s", cases[i].section, rest);
		c = parse(text);
		assert_true(c->http.on);
		assert_int_equal(c->http.port, 8080);
		address_expect(&c->http.address, cases[i].address);
		kvl_config_free(c);
	}
}

/* As little as can be said; all else is the default that config.h names. */
static void test_defaults(void **state)
{
	struct kvl_config *c = parse("ports: [{name: p0, device: 0000:03:00.0, snat: 192.0.2.1}]\n"
				     "services: [{name: s, address: 192.0.2.10}]\n"
				     "nodes: [{id: a, address: 10.0.0.1}]\n");
	const struct kvl_service_config *s = &c->services[0];
	const struct kvl_node_config *n = &c->nodes[0];

	assert_int_equal(diags.count, 0);
	assert_string_equal(c->topology, "");
	assert_string_equal(c->router.control_socket, "/run/kvlane/kvlane.sock");
	assert_false(c->http.on);
	assert_int_equal(c->router.workers, 1);
	assert_int_equal(c->router.pending_slots, 65536);
	assert_int_equal(c->router.snat_first, 16384);
	assert_int_equal(c->router.snat_last, 32767);
	assert_int_equal(c->router.mbufs, 8192);
	assert_int_equal(c->router.poll, KVL_POLL_BUSY);
	assert_int_equal(c->router.hugepages, KVL_HUGE_AUTO);
	assert_int_equal(c->router.max_nodes, 1024);
	assert_int_equal(c->health.timeouts_to_down, 3);
	assert_int_equal(c->health.probe_interval_ms, 500);
	assert_int_equal(c->health.probe_timeout_ms, 200);
	assert_int_equal(c->health.passive_fresh_ms, 30000);
	assert_int_equal(c->health.topology_fresh_ms, 60000);

	assert_int_equal(c->port_count, 1);
	assert_string_equal(c->ports[0].exception, "kvl-p0");
	assert_string_equal(c->ports[0].interface, "kvl-p0");
	assert_true(c->ports[0].has_snat[KVL_IPV4]);
	assert_false(c->ports[0].has_snat[KVL_IPV6]);
	address_expect(&c->ports[0].snat[KVL_IPV4], "192.0.2.1");

	assert_int_equal(c->service_count, 1);
	address_expect(&s->address, "192.0.2.10");
	assert_int_equal(s->port, 11211);
	assert_int_equal(s->mode, KVL_MODE_NAT);
	assert_string_equal(s->pool, "default");
	assert_int_equal(s->placement.kind, KVL_PLACE_RING);
	assert_int_equal(s->placement.replication, 1);
	assert_int_equal(s->placement.vnodes, 160);
	assert_int_equal(s->placement.seed, 0);
	assert_int_equal(s->timeout_ms, 1000);
	assert_int_equal(s->keyless, KVL_KEYLESS_LOCAL);
	assert_int_equal(s->partial, KVL_PARTIAL_MISS);
	assert_int_equal(s->hash_rule.on, 0);
	assert_int_equal(s->line, 2);

	assert_int_equal(c->node_count, 1);
	assert_int_equal(n->port, 11211);
	assert_string_equal(n->host, "10.0.0.1");
	assert_string_equal(n->zone, "default");
	assert_string_equal(n->pool, "default");
	assert_int_equal(n->weight, 100);
	assert_false(n->has_nexthop);
	assert_int_equal(n->line, 3);
	assert_int_equal(c->nodes_rejected, 0);
	kvl_config_free(c);
}

static void test_everything(void **state)
{
	struct kvl_config *c = parse(
		"router: {workers: 4, cores: \"7,0-2,5\", control_socket: /tmp/k.sock, "
		"pending_slots: 1024,\n"
		"  snat_ports: 32768-65535, mbufs: 262144, poll: adaptive, hugepages: off,\n"
		"  max_nodes: 4096}\n"
		"health: {timeouts_to_down: 5, probe_interval_ms: 1000, probe_timeout_ms: 1000,\n"
		"  passive_fresh_ms: 5000, topology_fresh_ms: 3600000}\n"
		"ports:\n"
		"- {name: p0, device: \"net_af_xdp0,iface=eth1,start_queue=0\", snat: 192.0.2.1}\n"
		"- {name: p1, device: \"net_tap1,iface=x\", interface: tap7, mtu: 9000, snat6: "
		"\"2001:db8::fe\"}\n"
		"services:\n"
		"- {name: s, address: 192.0.2.10, port: 65535, mode: dsr, pool: one,\n"
		"   placement: hash_modulo, replication: 1, vnodes: 1000,\n"
		"   seed: 18446744073709551615, timeout_ms: 60000, keyless: round_robin,\n"
		"   partial: error, hash_tag: \"{}\"}\n"
		"nodes:\n"
		"- {id: mc2, address: 10.0.0.2, port: 65535, pool: one}\n"
		"- {id: \"mc1:x\", address: \"10.0.0.1\", port: \"65535\", host: h, zone: z, pool: "
		"one,\n"
		"   weight: 10000, nexthop: {mac: \"02:00:00:00:00:0a\", port: p1}}\n");
	const struct kvl_service_config *s = &c->services[0];
	const struct kvl_node_config *n = &c->nodes[0];

	if (diags.count != 0)
		fail_msg("%s", diags.list[0].text);
	assert_int_equal(c->router.core_count, 5);
	assert_int_equal(c->router.cores[0], 7);
	assert_int_equal(c->router.cores[3], 2);
	assert_int_equal(c->router.cores[4], 5);
	assert_int_equal(c->router.workers, 4);
	assert_string_equal(c->router.control_socket, "/tmp/k.sock");
	assert_int_equal(c->router.pending_slots, 1024);
	assert_int_equal(c->router.snat_first, 32768);
	assert_int_equal(c->router.snat_last, 65535);
	assert_int_equal(c->router.mbufs, 262144);
	assert_int_equal(c->router.poll, KVL_POLL_ADAPTIVE);
	assert_int_equal(c->router.hugepages, KVL_HUGE_OFF);
	assert_int_equal(c->router.max_nodes, 4096);
	assert_int_equal(c->health.timeouts_to_down, 5);
	assert_int_equal(c->health.probe_interval_ms, 1000);
	assert_int_equal(c->health.probe_timeout_ms, 1000);
	assert_int_equal(c->health.passive_fresh_ms, 5000);
	assert_int_equal(c->health.topology_fresh_ms, 3600000);
	assert_int_equal(c->port_count, 2);
	assert_string_equal(c->ports[0].device, "net_af_xdp0,iface=eth1,start_queue=0");
	assert_string_equal(c->ports[0].interface, "eth1");
	assert_string_equal(c->ports[1].interface, "tap7");
	assert_false(c->ports[1].has_snat[KVL_IPV4]);
	address_expect(&c->ports[1].snat[KVL_IPV6], "2001:db8::fe");
	assert_int_equal(c->ports[0].mtu, 0);
	assert_int_equal(c->ports[1].mtu, 9000);
	assert_int_equal(s->port, 65535);
	assert_int_equal(s->mode, KVL_MODE_DSR);
	assert_string_equal(s->pool, "one");
	assert_int_equal(s->placement.kind, KVL_PLACE_MODULO);
	assert_int_equal(s->placement.vnodes, 1000);
	assert_true(s->placement.seed == UINT64_MAX);
	assert_int_equal(s->timeout_ms, 60000);
	assert_int_equal(s->keyless, KVL_KEYLESS_ROUND_ROBIN);
	assert_int_equal(s->partial, KVL_PARTIAL_ERROR);
	assert_int_equal(s->hash_rule.on, 1);
	assert_int_equal(s->hash_rule.open, '{');
	assert_int_equal(s->hash_rule.close, '}');
	assert_int_equal(s->hash_rule.separator, 0);
	/* Sorted by id. */
	assert_string_equal(n[0].id, "mc1:x");
	assert_string_equal(n[1].id, "mc2");
	address_expect(&n[0].address, "10.0.0.1");
	assert_string_equal(n[0].host, "h");
	assert_string_equal(n[0].zone, "z");
	assert_int_equal(n[0].weight, 10000);
	assert_true(n[0].has_nexthop);
	assert_memory_equal(n[0].nexthop_mac, ((uint8_t[]){2, 0, 0, 0, 0, 10}), 6);
	assert_string_equal(n[0].nexthop_port, "p1");
	kvl_config_free(c);
}

/* Aliases are the same value once more. */
static void test_alias(void **state)
{
	struct kvl_config *c = parse("ports: [{name: p0, device: d, snat: 192.0.2.1}]\n"
				     "services: [{name: s, address: 192.0.2.9, pool: &p one}]\n"
				     "nodes: [{id: a, address: 10.0.0.1, pool: *p}]\n");

	assert_int_equal(diags.count, 0);
	assert_string_equal(c->nodes[0].pool, "one");
	kvl_config_free(c);
}

/* A bad node goes, by name; the others stay in id order, whatever theirs in the file. */
static void test_bad_node_rest_stays(void **state)
{
	struct kvl_config *c = parse("ports: [{name: p0, device: d, snat: 192.0.2.1}]\n"
				     "services: [{name: s, address: 192.0.2.9}]\n"
				     "nodes:\n"
				     "- {id: d, address: 10.0.0.4}\n"
				     "- {id: b, address: 10.0.0.2, port: 0}\n"
				     "- {id: c, address: 192.0.2.9}\n"
				     "- {id: a, address: 10.0.0.1}\n"
				     "- {id: d, address: 10.0.0.5}\n");

	assert_int_equal(c->node_count, 2);
	assert_int_equal(c->nodes_rejected, 3);
	assert_int_equal(diags.count, 3);
	assert_int_equal(diags.errors, 0);
	assert_string_equal(c->nodes[0].id, "a");
	assert_string_equal(c->nodes[1].id, "d");
	address_expect(&c->nodes[1].address, "10.0.0.4"); /* the first stays */
	kvl_config_free(c);
}

/* The tap of a port that the kernel does not see is its interface. */
static void test_exception(void **state)
{
	struct kvl_config *c =
		parse("ports:\n"
		      "- {name: \"a:b\", device: \"0000:03:00.0,x=1\"}\n"
		      "- {name: given, device: \"net_tap0,iface=wire0\", exception: kvl0}\n"
		      "- {name: off, device: 0000:03:00.1, exception: none}\n"
		      "- {name: known, device: 0000:03:00.2, interface: eth9}\n"
		      "- {name: plain, device: \"net_pcap0,iface=x\"}\n"
		      "services: [{name: s, address: 192.0.2.10, mode: dsr}]\n"
		      "nodes: [{id: a, address: 10.0.0.1}]\n");
	static const char *const expected[][2] = {
		{"kvl-a-b", "kvl-a-b"}, {"kvl0", "kvl0"}, {"", ""}, {"", "eth9"}, {"", "x"}};

	for (size_t i = 0; i < 5; i++) {
		assert_string_equal(c->ports[i].exception, expected[i][0]);
		assert_string_equal(c->ports[i].interface, expected[i][1]);
	}
	kvl_config_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_http),
		cmocka_unit_test(test_profile),
		cmocka_unit_test(test_everything),
		cmocka_unit_test(test_exception),
		cmocka_unit_test(test_alias),
		cmocka_unit_test(test_bad_node_rest_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "lib/model/config.h"

/*
 * Files and every message they get, in order; E refuses the whole, N leaves a node out, w is a
 * warning. Columns count from the line's first character.
 */
struct bad_case {
	const char *text;
	const char *messages[8];
};

#define PORTS    "ports: [{name: p0, device: d0, snat: 192.0.2.1}]\n"
#define SERVICES "services: [{name: s, address: 192.0.2.10}]\n"
#define NODES    "nodes: [{id: a, address: 10.0.0.1}]\n"
#define ALL      PORTS SERVICES NODES
#define NODE_B   PORTS SERVICES "nodes:\n- {id: a, address: 10.0.0.1}\n- "
#define NAMES    "must be 1..63 of A-Z a-z 0-9 . _ : -"
#define SNAT     "must be FIRST-LAST: 2^k ports, at least 1024, from a multiple of 2^k " EXAMPLE
#define TAP      "must be the name of a tap, 1..15 of A-Z a-z 0-9 . _ -, or \"none\""
#define EXAMPLE  "(16384-32767)"
#define CORES    "must be CPUs, each once, as \"0,2-5\": the control core's, then the workers'"
#define LEFT_B   "; node b is left out"

static const struct bad_case yaml_cases[] = {
	{"", {"E f:1:1: the document is empty"}},
	{"# nothing\n", {"E f:1:1: the document is empty"}},
	{"just words\n", {"E f:1:1: just words: must be a mapping"}},
	{"- a\n", {"E f:1:1: must be a mapping"}},
	{PORTS "\trouter: {}\n", {"E f:2:1: YAML does not take a tab here: use spaces"}},
	{"ports: [\n", {"E f:2:1: not YAML: did not find expected node content, while parsing a "
			"flow node"}},
	{"ports: *nobody\n", {"E f:1:8: not YAML: found undefined alias"}},
	{"a: b\nports: \xff\n", {"E f:2:8: must be UTF-8 text: invalid leading UTF-8 octet"}},
	{"a: \x01\n", {"E f:1:4: must be UTF-8 text: control characters are not allowed"}},
	{ALL "---\nports: []\n", {"E f:5:1: a second document: only one is read"}},
	{"a: [[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]\n", {"E f:1:19: nested too deeply"}},
	{"\"\\0\": 1\n" ALL, {"E f:1:1: unknown key"}},
	{ALL "[a]: b\n", {"E f:4:1: a key must be one word, not a list"}},
};

static const struct bad_case router_cases[] = {
	{ALL "router: 5\n", {"E f:4:9: router: 5: must be a mapping"}},
	{ALL "router: {worker: 1}\n",
		{"E f:4:10: router.worker: unknown key; did you mean workers?"}},
	{ALL "router: {colour: 1}\n", {"E f:4:10: router.colour: unknown key"}},
	{ALL "router: {<<: {workers: 2}}\n", {"E f:4:10: router.<<: unknown key"}},
	{ALL "router: {workers: 1,\n  workers: 2}\n",
		{"E f:5:3: router.workers: given twice, first in line 4"}},
	{ALL "router: {workers: 0}\n", {"E f:4:19: router.workers: 0: must be 1..32"}},
	{ALL "router: {workers: 33}\n", {"E f:4:19: router.workers: 33: must be 1..32"}},
	{ALL "router: {workers: -1}\n", {"E f:4:19: router.workers: -1: must be 1..32"}},
	{ALL "router: {workers: 010}\n", {"E f:4:19: router.workers: 010: must be 1..32"}},
	{ALL "router: {workers: 0x2}\n", {"E f:4:19: router.workers: 0x2: must be 1..32"}},
	{ALL "router: {workers: 2.0}\n", {"E f:4:19: router.workers: 2.0: must be 1..32"}},
	{ALL "router: {workers: }\n", {"E f:4:19: router.workers: \"\": must be 1..32"}},
	{ALL "router: {workers: [1]}\n",
		{"E f:4:19: router.workers: must be one value, not a list"}},
	{ALL "router: {workers: {a: b}}\n",
		{"E f:4:19: router.workers: must be one value, not a mapping"}},
	{ALL "router: {workers: \"1\\0\"}\n",
		{"E f:4:19: router.workers: 1: must not contain a zero byte"}},
	{ALL "router: {workers: 18446744073709551617}\n",
		{"E f:4:19: router.workers: 18446744073709551617: must be 1..32"}},
	{ALL "router: {pending_slots: 1000}\n",
		{"E f:4:25: router.pending_slots: 1000: must be a power of two, 1024..1048576"}},
	{ALL "router: {pending_slots: 512}\n",
		{"E f:4:25: router.pending_slots: 512: must be a power of two, 1024..1048576"}},
	{ALL "router: {mbufs: 4095}\n", {"E f:4:17: router.mbufs: 4095: must be 4096..262144"}},
	{ALL "router: {poll: fast}\n", {"E f:4:16: router.poll: fast: must be busy or adaptive"}},
	{ALL "router: {hugepages: yes}\n",
		{"E f:4:21: router.hugepages: yes: must be auto, on or off"}},
	{ALL "router: {max_nodes: 4097}\n", {"E f:4:21: router.max_nodes: 4097: must be 1..4096"}},
	{ALL "router: {cores: \"0,0\"}\n", {"E f:4:17: router.cores: 0,0: " CORES}},
	{ALL "router: {cores: \"3-1\"}\n", {"E f:4:17: router.cores: 3-1: " CORES}},
	{ALL "router: {cores: \"0,\"}\n", {"E f:4:17: router.cores: 0,: " CORES}},
	{ALL "router: {cores: \"0-\"}\n", {"E f:4:17: router.cores: 0-: " CORES}},
	{ALL "router: {cores: 1024}\n", {"E f:4:17: router.cores: 1024: " CORES}},
	{ALL "router: {cores: \"0-40\"}\n", {"E f:4:17: router.cores: 0-40: " CORES}},
	{ALL "router: {cores: x}\n", {"E f:4:17: router.cores: x: " CORES}},
	{ALL "router: {cores: \"0\", workers: 1}\n",
		{"E f:4:9: router: cores names 1 CPUs, but 1 workers and the control core need 2"}},
	{ALL "router: {snat_ports: 16384}\n", {"E f:4:22: router.snat_ports: 16384: " SNAT}},
	{ALL "router: {snat_ports: 16384-32768}\n",
		{"E f:4:22: router.snat_ports: 16384-32768: " SNAT}},
	{ALL "router: {snat_ports: 8192-24575}\n",
		{"E f:4:22: router.snat_ports: 8192-24575: " SNAT}},
	{ALL "router: {snat_ports: 1024-1535}\n",
		{"E f:4:22: router.snat_ports: 1024-1535: " SNAT}},
	{ALL "router: {snat_ports: 0-1023}\n", {"E f:4:22: router.snat_ports: 0-1023: " SNAT}},
	{ALL "router: {snat_ports: 65536-131071}\n",
		{"E f:4:22: router.snat_ports: 65536-131071: " SNAT}},
	{ALL "router: {snat_ports: 2048-1024}\n",
		{"E f:4:22: router.snat_ports: 2048-1024: " SNAT}},
	{ALL "router: {control_socket: \"a\\nb\"}\n",
		{"E f:4:26: router.control_socket: a?b: must be 1..107 bytes without control "
		 "characters"}},
	{ALL "health: {probe_interval_ms: 100, probe_timeout_ms: 101}\n",
		{"E f:4:9: health: probe_timeout_ms (101) must not exceed probe_interval_ms "
		 "(100)"}},
	{ALL "health: {timeouts_to_down: 0}\n",
		{"E f:4:28: health.timeouts_to_down: 0: must be 1..1000000"}},
	{ALL "health: {passive_fresh_ms: 99}\n",
		{"E f:4:28: health.passive_fresh_ms: 99: must be 100..3600000"}},
	{ALL "health: {topology_fresh_ms: 99}\n",
		{"E f:4:29: health.topology_fresh_ms: 99: must be 100..3600000"}},
};

#define LISTEN "must be a numeric IP address of this host, or 0.0.0.0 for all"

static const struct bad_case http_cases[] = {
	{ALL "http: {}\n", {"E f:4:7: http: port is missing"}},
	{ALL "http: {port: 0}\n", {"E f:4:14: http.port: 0: must be 1..65535"}},
	{ALL "http: {port: 80, address: localhost}\n",
		{"E f:4:27: http.address: localhost: " LISTEN}},
	{ALL "http: {port: 80, address: 224.0.0.1}\n",
		{"E f:4:27: http.address: 224.0.0.1: " LISTEN}},
	{ALL "http: {port: 80, address: 255.255.255.255}\n",
		{"E f:4:27: http.address: 255.255.255.255: " LISTEN}},
	{ALL "http: {port: 80, address: \"ff02::1\"}\n",
		{"E f:4:27: http.address: ff02::1: " LISTEN}},
	{ALL "http: {prt: 80, port: 81}\n", {"E f:4:8: http.prt: unknown key; did you mean port?"}},
};

#define SCORED(scoring) \
	PORTS NODES "services:\n- {name: s, address: 192.0.2.10, scoring: {" scoring "}}\n"
#define PROFILE                                                                    \
	"must be read-heavy, write-heavy, auto, or a schedule with rising times: " \
	"08:00=read-heavy,20:00=write-heavy"
#define AT_SCORING "E f:4:43: services[0].scoring"

static const struct bad_case scoring_cases[] = {
	{SCORED("cpu_threshold: 85"),
		{"E f:4:59: services[0].scoring.cpu_threshold: 85: must be 0..1"}},
	{SCORED("profile: heavy"), {"E f:4:53: services[0].scoring.profile: heavy: " PROFILE}},
	{SCORED("profile: \"20:00=read-heavy,08:00=read-heavy\""),
		{"E f:4:53: services[0].scoring.profile: "
		 "20:00=read-heavy,08:00=read-heavy: " PROFILE}},
	{SCORED("profile: [auto]"), {"E f:4:53: services[0].scoring.profile: must be a mapping"}},
	{SCORED("profile: {}"), {"E f:4:53: services[0].scoring.profile: schedule is missing"}},
	{SCORED("profile: {schedule: []}"),
		{"E f:4:64: services[0].scoring.profile.schedule: must have at least one entry"}},
	{SCORED("profile: {schedule: [{from: 8:00, profile: auto}]}"),
		{"E f:4:72: services[0].scoring.profile.schedule[0].from: 8:00: must be a time of "
		 "day, 00:00..23:59",
			"E f:4:87: services[0].scoring.profile.schedule[0].profile: auto: must be "
			"read-heavy or write-heavy"}},
	{SCORED("profile: {schedule: [{from: 08:00, profile: read-heavy}, {from: 08:00, profile: "
		"write-heavy}]}"),
		{"E f:4:101: services[0].scoring.profile.schedule[1]: from: must be later than "
		 "that of the entry before"}},
	{SCORED("weights: {load: 11}"),
		{"E f:4:60: services[0].scoring.weights.load: 11: must be 0..10, or profile"}},
	{SCORED("weights: {lod: 1}"),
		{"E f:4:54: services[0].scoring.weights.lod: unknown key; did you mean load?"}},
	{SCORED("weights: {load: 0, capacity_free: 0, latency: 0, hit: 0}"),
		{AT_SCORING ": weights: capacity_free, load, latency and hit: one must be above "
			    "0"}},
	{SCORED("capability: yes"),
		{"E f:4:56: services[0].scoring.capability: yes: must be on or off"}},
};

static const struct bad_case port_cases[] = {
	{SERVICES NODES, {"E f:1:1: ports is missing", "E f:1:12: services[0]: mode nat needs a "
						       "port with a snat address, and none has"}},
	{"ports: []\n" NODES, {"E f:1:8: ports: no port"}},
	{"ports: {a: b}\n" NODES, {"E f:1:8: ports: must be a list"}},
	{"ports: [p0]\n" NODES, {"E f:1:9: ports[0]: p0: must be a mapping"}},
	{"ports: [{}]\n" NODES,
		{"E f:1:9: ports[0]: name is missing", "E f:1:9: ports[0]: device is missing"}},
	{"ports: [{name: \"a b\", device: d}]\n" NODES, {"E f:1:16: ports[0].name: a b: " NAMES}},
	{"ports: [{name: a, device: d, interface: sixteen-letters-}]\n" NODES,
		{"E f:1:41: ports[0].interface: sixteen-letters-: must be 1..15 of A-Z a-z 0-9 . _ "
		 ": -"}},
	{"ports: [{name: a, device: d, snat: 0.0.0.0}]\n" NODES,
		{"E f:1:36: ports[0].snat: 0.0.0.0: must be a host's address, not the unspecified "
		 "one"}},
	{"ports: [{name: a, device: d, snat: \"2001:db8::1\"}]\n" NODES,
		{"E f:1:36: ports[0].snat: 2001:db8::1: must be an IPv4 address: snat6 is for the "
		 "other family"}},
	{"ports: [{name: a, device: d, snat6: 10.0.0.1}]\n" NODES,
		{"E f:1:37: ports[0].snat6: 10.0.0.1: must be an IPv6 address: snat is for the "
		 "other family"}},
	{"ports:\n- {name: a, device: \"x,iface=e0\", snat: 192.0.2.1}\n"
	 "- {name: a, device: \"y,iface=e0,z=1\", snat: 192.0.2.1}\n" SERVICES NODES,
		{"E f:3:10: ports[1]: a: name of ports[0] as well",
			"E f:3:3: ports[1]: e0: interface of ports[0] as well",
			"E f:3:45: ports[1]: snat address of ports[0] as well"}},
	{"ports:\n- {name: a, device: x}\n- {name: b, device: x}\n" NODES,
		{"E f:3:21: ports[1]: x: device of ports[0] as well"}},
	{"ports: [{name: a, device: d, exception: sixteen-letters-}]\n" NODES,
		{"E f:1:41: ports[0].exception: sixteen-letters-: " TAP}},
	{"ports: [{name: a, device: d, exception: \"kvl:0\"}]\n" NODES,
		{"E f:1:41: ports[0].exception: kvl:0: " TAP}},
	{"ports: [{name: a, device: d, exception: ..}]\n" NODES,
		{"E f:1:41: ports[0].exception: ..: " TAP}},
	{"ports: [{name: a, device: \"net_af_xdp0,iface=e0\", exception: t}]\n" NODES,
		{"E f:1:62: ports[0]: t: this device is an interface of the kernel's, which gets "
		 "its share there"}},
	{"ports: [{name: a, device: d, interface: e0, exception: t}]\n" NODES,
		{"E f:1:41: ports[0]: e0: the kernel's interface of this port is its exception "
		 "tap, t"}},
	{"ports: [{name: a, device: d, mtu: 1447}]\n" NODES,
		{"E f:1:35: ports[0].mtu: 1447: must be 1448..9216"}},
	{"ports: [{name: a, device: d, mtu: 9217}]\n" NODES,
		{"E f:1:35: ports[0].mtu: 9217: must be 1448..9216"}},
	{"ports: [{name: clients-one, device: 0:1:0.0}, {name: clients-one-more, device: "
	 "0:2:0.0}]\n" NODES,
		{"E f:1:47: ports[1]: kvl-clients-one: interface of ports[0] as well"}},
};

static const struct bad_case service_cases[] = {
	{PORTS NODES "services: [{name: s}]\n", {"E f:3:12: services[0]: address is missing"}},
	{PORTS NODES "services: [{address: 192.0.2.9}]\n",
		{"E f:3:12: services[0]: name is missing"}},
	{PORTS NODES "services: [{name: s, address: \"fe80::1\"}]\n",
		{"E f:3:31: services[0].address: fe80::1: must be a host's address, not a "
		 "link-local one"}},
	{PORTS NODES "services: [{name: s, address: localhost}]\n",
		{"E f:3:31: services[0].address: localhost: must be a numeric IP address"}},
	{PORTS NODES "services: [{name: s, address: 255.255.255.255}]\n",
		{"E f:3:31: services[0].address: 255.255.255.255: must be a host's address, not "
		 "the "
		 "broadcast one"}},
	{PORTS NODES "services: [{name: s, address: 192.0.2.9, port: 0}]\n",
		{"E f:3:48: services[0].port: 0: must be 1..65535"}},
	{PORTS NODES "services: [{name: s, address: 192.0.2.9, mode: tun}]\n",
		{"E f:3:48: services[0].mode: tun: must be nat or dsr"}},
	{PORTS NODES "services: [{name: s, address: 192.0.2.9, encapsulation: gue}]\n",
		{"E f:3:57: services[0]: encapsulation is for mode dsr: nat changes the addresses, "
		 "which crosses routers by itself"}},
	{"ports: [{name: a, device: d}]\n" NODES
	 "services: [{name: s, address: 192.0.2.9, mode: dsr, encapsulation: ipip}]\n",
		{"E f:3:68: services[0]: encapsulation needs a port with a snat address to send "
		 "from, and none has"}},
	{PORTS NODES "services: [{name: s, address: 192.0.2.9, mode: dsr, encapsulation: vxlan}]\n",
		{"E f:3:68: services[0].encapsulation: vxlan: must be none, ipip or gue"}},
	{PORTS NODES "services: [{name: s, address: 192.0.2.9, placement: range}]\n",
		{"E f:3:53: services[0].placement: range: must be ring (consistent_hashing), "
		 "modulo (hash_modulo), rendezvous, maglev, jump, ketama or "
		 "ketama_unweighted"}},
	{PORTS NODES "services: [{name: s, address: 192.0.2.9, replication: 6}]\n",
		{"E f:3:55: services[0].replication: 6: must be 1..5"}},
	{PORTS NODES "services: [{name: s, address: 192.0.2.9, vnodes: 1001}]\n",
		{"E f:3:50: services[0].vnodes: 1001: must be 1..1000"}},
	{PORTS NODES "services: [{name: s, address: 192.0.2.9, seed: 18446744073709551616}]\n",
		{"E f:3:48: services[0].seed: 18446744073709551616: must be "
		 "0..18446744073709551615"}},
	{PORTS NODES "services: [{name: s, address: 192.0.2.9, hash_tag: \"{\"}]\n",
		{"E f:3:52: services[0].hash_tag: {: must be two printable characters, like "
		 "\"{}\""}},
	{PORTS NODES "services: [{name: s, address: 192.0.2.9, hash_separator: \" \"}]\n",
		{"E f:3:58: services[0].hash_separator:  : must be one printable character, like "
		 "\":\""}},
	{PORTS NODES "services: [{name: s, address: 192.0.2.9, hash_tag: $$, hash_separator: x}]\n",
		{"E f:3:72: services[0]: hash_separator and hash_tag: must be one of them"}},
	{PORTS NODES "services: [{name: s, address: 192.0.2.9, keyless: both}]\n",
		{"E f:3:51: services[0].keyless: both: must be local or round_robin"}},
	{PORTS NODES "services: [{name: s, address: 192.0.2.9, timeout_ms: 60001}]\n",
		{"E f:3:54: services[0].timeout_ms: 60001: must be 1..60000"}},
	{PORTS NODES
		"services:\n- {name: s, address: 192.0.2.8}\n- {name: s, address: 192.0.2.9}\n",
		{"E f:5:10: services[1]: s: name of services[0] as well"}},
	{PORTS NODES
		"services:\n- {name: s, address: 192.0.2.9}\n- {name: t, address: 192.0.2.9}\n",
		{"E f:5:22: services[1]: address and port of services[0] as well"}},
	{"ports: [{name: p, device: d}]\n" NODES SERVICES,
		{"E f:3:12: services[0]: mode nat needs a port with a snat address, and none has"}},
	{PORTS NODES "services: [{name: s, address: 192.0.2.1, port: 20000}]\n",
		{"E f:3:48: services[0]: 20000: within router.snat_ports on the snat address of "
		 "port "
		 "p0"}},
	{PORTS "services:\n- {name: s, address: 192.0.2.8, mode: dsr}\n"
	       "- {name: t, address: 192.0.2.9, mode: dsr, port: 11212}\n",
		{"E f:4:50: services[1]: dsr on port 11212, and services[0] is dsr on port 11211 "
		 "of the "
		 "same pool default"}},
	{PORTS "services: [{name: s, address: 192.0.2.9, vnodes: 1000}]\n"
	       "nodes:\n- {id: a, address: 10.0.0.1, weight: 10000}\n"
	       "- {id: b, address: 10.0.0.2, weight: 10000}\n",
		{"w f:2:50: services[0]: 200000 tokens: each NUMA node's copy takes 7 MB"}},
};

static const struct bad_case node_cases[] = {
	{PORTS SERVICES "nodes: {a: b}\n", {"E f:3:8: nodes: must be a list"}},
	/* The example of the design. */
	{NODE_B "{id: b, address: 10.0.0.2, port: 70000}\n",
		{"N f:5:36: nodes[1].port: 70000: must be 1..65535" LEFT_B}},
	{NODE_B "{id: b}\n", {"N f:5:3: nodes[1]: address is missing" LEFT_B}},
	{NODE_B "{address: 10.0.0.2}\n",
		{"N f:5:3: nodes[1]: id is missing; this node is left out"}},
	{NODE_B "just-a-word\n",
		{"N f:5:3: nodes[1]: just-a-word: must be a mapping; this node is left out"}},
	{NODE_B "{id: b/c, address: 10.0.0.2}\n",
		{"N f:5:8: nodes[1].id: b/c: " NAMES "; this node is left out"}},
	{NODE_B "{id: \"\", address: 10.0.0.2}\n",
		{"N f:5:8: nodes[1].id: \"\": " NAMES "; this node is left out"}},
	{NODE_B "{id: b, address: 224.0.0.1}\n", {"N f:5:20: nodes[1].address: 224.0.0.1: must be "
						  "a host's address, not a multicast one" LEFT_B}},
	{NODE_B "{id: b, address: \"::\"}\n", {"N f:5:20: nodes[1].address: ::: must be a host's "
					       "address, not the unspecified one" LEFT_B}},
	{NODE_B "{id: b, address: \"ff02::1\"}\n",
		{"N f:5:20: nodes[1].address: ff02::1: must be a host's address, not a multicast "
		 "one" LEFT_B}},
	{NODE_B "{id: b, address: \"::\"}\n",
		{"N f:5:20: nodes[1].address: ::: must be a host's address, not the unspecified "
		 "one" LEFT_B}},
	{NODE_B "{id: b, address: 10.0.0.2, weight: 0}\n",
		{"N f:5:38: nodes[1].weight: 0: must be 1..10000" LEFT_B}},
	{NODE_B "{id: b, address: 10.0.0.2, wieght: 1}\n",
		{"N f:5:30: nodes[1].wieght: unknown key; did you mean weight?" LEFT_B}},
	{NODE_B "{id: b, address: 10.0.0.2, id: c}\n",
		{"N f:5:30: nodes[1].id: given twice, first in line 5" LEFT_B}},
	{NODE_B "{id: b, address: 10.0.0.2, nexthop: {mac: \"01:00:00:00:00:01\", port: p0}}\n",
		{"N f:5:45: nodes[1].nexthop.mac: 01:00:00:00:00:01: must be a unicast MAC "
		 "address, "
		 "aa:bb:cc:dd:ee:ff" LEFT_B}},
	{NODE_B "{id: b, address: 10.0.0.2, nexthop: {mac: \"02:00:00:00:00:01\"}}\n",
		{"N f:5:39: nodes[1].nexthop: port is missing" LEFT_B}},
	{NODE_B "{id: b, address: 10.0.0.2, nexthop: {mac: \"02:00:00:00:00:01\", port: p9}}\n",
		{"N f:5:39: nodes[1].nexthop: p9: must be the name of a port" LEFT_B}},
	{NODE_B "{id: b, address: 10.0.0.2, nexthop: gateway}\n",
		{"N f:5:39: nodes[1].nexthop: gateway: must be a mapping" LEFT_B}},
	{NODE_B "{id: b, address: 192.0.2.10}\n",
		{"N f:5:20: nodes[1].address: 192.0.2.10: address of service s" LEFT_B}},
	{NODE_B "{id: b, address: 192.0.2.1}\n",
		{"N f:5:20: nodes[1].address: 192.0.2.1: snat address of port p0" LEFT_B}},
	{NODE_B "{id: a, address: 10.0.0.2}\n", {"N f:5:8: nodes[1].id: a: id of nodes[0] in line "
						 "4 as well, which stays; node a is "
						 "left out"}},
	{NODE_B "{id: b, address: 10.0.0.1}\n",
		{"w f:5:20: nodes[1]: node b has the address and port of node a"}},
	{PORTS "services: [{name: s, address: 192.0.2.9, mode: dsr}]\nnodes:\n"
	       "- {id: a, address: 10.0.0.1}\n- {id: b, address: 10.0.0.2, port: 11212}\n",
		{"N f:5:36: nodes[1].port: 11212: must be 11211, the port of dsr service "
		 "s" LEFT_B}},
	{PORTS SERVICES "nodes: [{id: a}, {id: b}]\n",
		{"N f:3:9: nodes[0]: address is missing; node a is left out",
			"N f:3:18: nodes[1]: address is missing" LEFT_B,
			"E f:3:8: nodes: none of the 2 is usable"}},
	{"router: {max_nodes: 1}\n" NODE_B "{id: b, address: 10.0.0.2}\n",
		{"E f:5:1: nodes: 2 nodes: router.max_nodes is 1"}},
};

static const struct bad_case special_cases[] = {
	{PORTS NODES "services: [{name: s, address: 127.0.0.1}]\n",
		{"E f:3:31: services[0].address: 127.0.0.1: must be a host's address, not a "
		 "loopback one"}},
	{PORTS NODES "services: [{name: s, address: \"::1\"}]\n",
		{"E f:3:31: services[0].address: ::1: must be a host's address, not a loopback "
		 "one"}},
	{PORTS NODES "services: [{name: s, address: 224.0.0.9}]\n",
		{"E f:3:31: services[0].address: 224.0.0.9: must be a host's address, not a "
		 "multicast one"}},
	{PORTS NODES "services: [{name: s, address: 0.0.0.0}]\n",
		{"E f:3:31: services[0].address: 0.0.0.0: must be a host's address, not the "
		 "unspecified one"}},
	{NODE_B "{id: b, address: 127.1.2.3}\n",
		{"N f:5:20: nodes[1].address: 127.1.2.3: must be a host's address, not a loopback "
		 "one" LEFT_B}},
	{"ports: [{name: a, device: d, snat: 127.0.0.1}]\n" NODES,
		{"E f:1:36: ports[0].snat: 127.0.0.1: must be a host's address, not a loopback "
		 "one"}},
};

static const struct bad_case pool_cases[] = {
	{PORTS SERVICES, {"w f:2:12: services[0]: no node in pool default"}},
	{PORTS NODES,
		{"w f:1:1: no services: nothing is served",
			"w f:2:9: nodes[0]: no service uses pool default (node a and 0 more)"}},
	{NODE_B "{id: b, address: 10.0.0.2, pool: x}\n- {id: c, address: 10.0.0.3, pool: x}\n",
		{"w f:5:36: nodes[1]: no service uses pool x (node b and 1 more)"}},
	{PORTS NODES "services: [{name: s, address: 192.0.2.9, replication: 2}]\n",
		{"w f:3:55: services[0]: replication 2: in this version writes go to the first "
		 "healthy "
		 "holder only",
			"w f:3:55: services[0]: replication 2: pool default has 1 node on 1 host"}},
	{PORTS "services: [{name: s, address: 192.0.2.9, replication: 2}]\nnodes:\n"
	       "- {id: a, address: 10.0.0.1, host: h}\n- {id: b, address: 10.0.0.2, host: h}\n",
		{"w f:2:55: services[0]: replication 2: in this version writes go to the first "
		 "healthy "
		 "holder only",
			"w f:2:55: services[0]: replication 2: pool default has 2 nodes on 1 "
			"host"}},
	{ALL "topology: nodes.yaml\n", {"E f:4:11: topology: nodes are given here as well"}},
	{PORTS SERVICES "topology: nodes.yaml\n",
		{"E f:3:11: topology: nodes.yaml: only a file on disk can name another"}},
};

static void message_expect(const struct kvl_diag *d, const char *want, const char *text)
{
	char got[sizeof(d->text) + 2];

	snprintf(got, sizeof(got), "%c %s", "wNE"[d->severity], d -> text);
	if (strcmp(got, want) != 0)
		fail_msg("of\n%s\ngot  %s\nwant %s", text, got, want);
}

static void case_run(const struct bad_case *c)
{
	static struct kvl_diags diags;
	struct kvl_config *config;
	bool refused = false;
	size_t n = 0;

	errno = 0;
	config = kvl_config_parse(c->text, strlen(c->text), "f", &diags);
	for (; n < 8 && c->messages[n] != NULL; n++) {
		if (n >= diags.count)
			fail_msg("of\n%s\nnot said: %s", c->text, c->messages[n]);
		message_expect(&diags.list[n], c->messages[n], c->text);
		refused |= c->messages[n][0] == 'E';
	}
	if (diags.count != n)
		fail_msg("of\n%s\nalso said: %s", c->text, diags.list[n].text);
	assert_int_equal(config == NULL, refused);
	if (refused)
		assert_int_equal(errno, EINVAL);
	kvl_config_free(config);
}

#define RUN(cases)                                                              \
	static void test_##cases(void **state)                                  \
	{                                                                       \
		for (size_t i = 0; i < sizeof(cases) / sizeof((cases)[0]); i++) \
			case_run(&(cases)[i]);                                  \
	}

RUN(yaml_cases)
RUN(router_cases)
RUN(http_cases)
RUN(scoring_cases)
RUN(port_cases)
RUN(service_cases)
RUN(node_cases)
RUN(special_cases)
RUN(pool_cases)

/* All faults of a file are told, and counted beyond the number kept. */
static void test_many_faults(void **state)
{
	static struct kvl_diags diags;
	static char text[20000] = PORTS "services:\n";

	for (int i = 0; i < 100; i++)
		strcat(text, "- {name: s, port: 0}\n");
	assert_null(kvl_config_parse(text, strlen(text), "f", &diags));
	assert_int_equal(diags.count, KVL_DIAGS_MAX);
	/* One about the length; of each of the first 64: no address, port 0; of 63: the name. */
	assert_int_equal(diags.errors, diags.count + diags.dropped);
	assert_int_equal(diags.errors, 1 + 3 * KVL_SERVICES_MAX - 1);
	assert_string_equal(
		diags.list[0].text, "f:3:1: services: 100 elements: must be at most 64");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_yaml_cases),
		cmocka_unit_test(test_router_cases),
		cmocka_unit_test(test_http_cases),
		cmocka_unit_test(test_scoring_cases),
		cmocka_unit_test(test_port_cases),
		cmocka_unit_test(test_service_cases),
		cmocka_unit_test(test_node_cases),
		cmocka_unit_test(test_special_cases),
		cmocka_unit_test(test_pool_cases),
		cmocka_unit_test(test_many_faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

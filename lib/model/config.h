/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/model/addr.h"
#include "lib/model/policy.h"
#include "lib/ring/placement.h"
#include "lib/ring/tag.h"
#include "lib/score/profile_rule.h"

/*
 * The configuration as the operator wrote it, typed and validated: the router's own settings, the
 * services, and the nodes (the topology), from one YAML file or two (`topology: nodes.yaml`, a
 * path relative to the first file).
 *
 * What is refused and what is kept (SPEC 10.3): a bad *node* is left out by name and the rest
 * stays; anything else that is bad refuses the whole, and the caller keeps what it had. So does a
 * list of nodes of which none is good.
 *   - At a reload a bad node that was in force before is not left out: a typo would move its keys.
 *     It keeps its former definition, unconfirmed (SPEC 5.3), if that goes with the new file: it is
 *     checked like any other, and a good node of the same id, or on its address and port, has
 *     precedence.
 *   - Of two nodes of one id the one that stands first stays.
 *   - A node on a service's or a snat address, or (dsr) on another port than the service's, is left
 *     out.
 *   - Integers are decimal digits without a leading 0 (YAML 1.1 would read 010 as eight).
 *   - Bounds of a file: 16 MiB, 16 levels, 64 anchors, 200000 values.
 */
#define KVL_NODES_MAX    4096 /* node numbers are below this */
#define KVL_SERVICES_MAX 64
#define KVL_PORTS_MAX    16
#define KVL_WORKERS_MAX  32
#define KVL_NAME_MAX     64 /* ids and names, with the NUL: [A-Za-z0-9._:-]+ */
#define KVL_DEVICE_MAX   512
#define KVL_PATH_MAX     108  /* sizeof(sun_path) */
#define KVL_GUE_PORT     6080 /* IANA's */
#define KVL_MTU_MIN      1448 /* memcached's own datagrams, over IPv6 */
#define KVL_MTU_MAX      9216 /* what switches call jumbo */

enum kvl_mode {
	KVL_MODE_NAT,
	KVL_MODE_DSR,
};

/* dsr: how a request travels to its node. */
enum kvl_encapsulation {
	KVL_ENCAP_NONE, /* as it came, on the same segment */
	KVL_ENCAP_IPIP, /* within IP (RFC 2003, 2473, 4213), across routers */
	KVL_ENCAP_GUE, /* within IP and UDP (draft-ietf-intarea-gue-09), across routers with ECMP */
};

/* Who answers commands without a key: version, mn, noop, stats, verbosity (SPEC 1.5). */
enum kvl_keyless {
	KVL_KEYLESS_LOCAL,       /* the router itself */
	KVL_KEYLESS_ROUND_ROBIN, /* the nodes in turn */
};

/* What a client is told of a key of a split request whose node does not answer (SPEC 1.4). */
enum kvl_partial {
	KVL_PARTIAL_MISS,
	KVL_PARTIAL_ERROR, /* the command's whole reply is a SERVER_ERROR */
};

enum kvl_poll {
	KVL_POLL_BUSY,     /* a worker never gives its core away */
	KVL_POLL_ADAPTIVE, /* a worker that found nothing for a while sleeps up to 50 us */
};

enum kvl_hugepages {
	KVL_HUGE_AUTO, /* when there are enough; else without, with a warning */
	KVL_HUGE_ON,   /* not without */
	KVL_HUGE_OFF,
};

/* Whether a device string is a PCI address, "0000:03:00.0" with or without arguments: a NIC that
 * DPDK takes from the kernel. */
bool kvl_device_is_pci(const char *device);

/* `ports:` */
struct kvl_port_config {
	char name[KVL_NAME_MAX];
	char device[KVL_DEVICE_MAX];  /* DPDK device: "net_af_xdp0,iface=eth1", PCI address */
	char interface[KVL_NAME_MAX]; /* kernel's name; "" = none. Default: the device's iface= */
	/*
	 * The tap by which the kernel gets its share of a device that it does not see (SPEC 1.7), then
	 * the interface as well; "" = none. Default: "kvl-NAME" for a PCI address without interface.
	 */
	char exception[KVL_NAME_MAX];
	/* Source addresses toward nodes, one of each family. */
	struct kvl_addr snat[KVL_FAMILIES];
	bool has_snat[KVL_FAMILIES];
	uint16_t mtu; /* KVL_MTU_MIN..KVL_MTU_MAX; 0, the default: the interface's own, or 1500 */
};

/* Whether a port's device is of this driver: "net_af_xdp". */
bool kvl_device_is(const struct kvl_port_config *port, const char *driver);

static inline bool kvl_port_has_snat(
	const struct kvl_port_config *port, const struct kvl_addr *address)
{
	const enum kvl_family f = kvl_addr_family(address);

	return port->has_snat[f] && kvl_addr_eq(&port->snat[f], address);
}

/* `health:`; all times in milliseconds */
struct kvl_health_config {
	uint32_t timeouts_to_down;  /* in a row, that take a node out; 1..1000000, default 3 */
	uint32_t probe_interval_ms; /* 10..60000, default 500 */
	uint32_t probe_timeout_ms;  /* 1..probe_interval_ms, default 200 */
	uint32_t
		passive_fresh_ms; /* trust in passive data: then probe; 100..3600000, default 30000 */
	/* After the last good reload a failed one leaves the topology trusted for so long;
	 * 100..3600000, default 60000 (SPEC 6.4) */
	uint32_t topology_fresh_ms;
};

/* `router:` */
struct kvl_router_config {
	char control_socket[KVL_PATH_MAX]; /* default /run/kvlane/kvlane.sock */
	uint32_t workers;                  /* 1..KVL_WORKERS_MAX, default 1 */
	uint32_t pending_slots; /* per worker, a power of two, 1024..1048576; default 65536 */
	/* 2^k ports, k >= 10, on a 2^k boundary; default 16384-32767. */
	uint16_t snat_first, snat_last;
	uint32_t mbufs; /* per port and queue; 4096..262144, default 8192 */
	/* CPUs: the control core's, then one for each worker; count 0: chosen from those allowed. */
	uint16_t cores[KVL_WORKERS_MAX + 1];
	uint16_t core_count;
	enum kvl_poll poll;           /* default busy */
	enum kvl_hugepages hugepages; /* default auto */
	uint32_t max_nodes;           /* default 1024, at most KVL_NODES_MAX */
};

/*
 * `scoring:` of a service: how its nodes are judged and chosen among (SPEC 4, 5). Figures, their
 * meaning and defaults: lib/score/score.h, weights.h, scorer.h. Of the services that share a pool
 * the first one's counts, but for choice, which is each service's own, and min_share, of which the
 * largest does.
 */
struct kvl_scoring_config {
	uint8_t model;                   /* enum kvl_score_model; default penalty */
	uint8_t choice;                  /* enum kvl_choice; default least */
	struct kvl_profile_rule profile; /* default read-heavy for good */
	bool capability; /* nodes' disk and NIC classes count (SPEC 4.4); default off */
	/* Of the weighted model; NAN: the profile's. */
	struct kvl_scoring_weights {
		double capacity_free, load, latency, hit, network;
	} weights;
	double temperature, min_share;
	double ceiling_ms, baseline_ms; /* 0: from the fleet */
	double cpu_threshold, io_threshold, queue_high, reject_threshold;
	double low_score;
};

/* One element of `services:` */
struct kvl_service_config {
	char name[KVL_NAME_MAX];
	struct kvl_addr address;
	uint16_t port;                        /* default 11211 */
	enum kvl_mode mode;                   /* default nat */
	enum kvl_encapsulation encapsulation; /* default none; dsr only */
	uint16_t gue_port;                    /* default 6080 */
	char pool[KVL_NAME_MAX];              /* default "default" */
	struct kvl_placement_params placement;
	uint32_t timeout_ms; /* of one request; 1..60000, default 1000 */
	struct kvl_scoring_config scoring;
	enum kvl_keyless keyless; /* default local */
	enum kvl_partial partial; /* default miss */
	uint32_t retries;         /* of reads at further holders, when N > 1; 0..5, default 2 */
	struct kvl_hash_rule
		hash_rule; /* `hash_tag: "{}"` or `hash_separator: ":"`; default none */
	struct kvl_policy_config policy;
	unsigned int line; /* where it stands, for later messages */
};

/* One element of `nodes:` */
struct kvl_node_config {
	char id[KVL_NAME_MAX];
	struct kvl_addr address;
	uint16_t port;           /* default 11211 */
	char host[KVL_NAME_MAX]; /* default: the address as text */
	char zone[KVL_NAME_MAX]; /* default "default" */
	char pool[KVL_NAME_MAX]; /* default "default" */
	/* For ketama placements: the server's name in the clients' lists; default: the address,
	 * and ":PORT" when that is not 11211. */
	char ketama_name[KVL_NAME_MAX];
	uint32_t weight; /* 100 = one share; 1..10000, default 100 */
	/* Static next hop, for ports that the kernel does not know (`nexthop: {mac:, port:}`). */
	bool has_nexthop;
	uint8_t nexthop_mac[6];
	char nexthop_port[KVL_NAME_MAX];
	unsigned int line;
	bool unconfirmed; /* what the newest file says of it is bad: this is its former definition */
};

/* `reports:` (SPEC 6.1); without the section none are taken. */
#define KVL_REPORT_KEYS_MAX 8

struct kvl_report_secret {
	uint32_t id;
	char secret[65]; /* 16..64 characters */
};

struct kvl_reports_config {
	bool on;
	struct kvl_addr address; /* default: any */
	uint16_t port;           /* default 11290 */
	uint32_t interval_ms;    /* how often nodes report; default 2000 */
	struct kvl_report_secret keys[KVL_REPORT_KEYS_MAX];
	size_t key_count;
};

/* `http:` (SPEC 11.2); without the section nothing listens. */
struct kvl_http_config {
	bool on;
	struct kvl_addr address; /* default 127.0.0.1; all zero (v4 or v6): any */
	uint16_t port;
};

struct kvl_config {
	char topology[4096]; /* path of the second file, "" when nodes stand in the first */
	struct kvl_router_config router;
	struct kvl_health_config health;
	struct kvl_reports_config reports;
	struct kvl_http_config http;
	struct kvl_port_config *ports;
	size_t port_count;
	struct kvl_service_config *services;
	size_t service_count;
	struct kvl_tenant_config tenants[KVL_TENANTS_MAX];
	size_t tenant_count;
	struct kvl_node_config *nodes; /* sorted by id */
	size_t node_count;
	size_t nodes_rejected; /* left out */
	size_t nodes_kept;     /* of node_count: unconfirmed */
};

enum kvl_severity {
	KVL_DIAG_WARNING, /* said, and kept */
	KVL_DIAG_NODE,    /* this node is left out or keeps its former definition, the rest stays */
	KVL_DIAG_ERROR,   /* the whole is refused */
};

/* One message: `nodes.yaml:3:33: nodes[1].port: 70000: must be 1..65535`; of a bad node it ends in
 * `; node mc2 is left out` or `; node mc2 keeps its former definition`. */
struct kvl_diag {
	enum kvl_severity severity;
	char text[400];
};

#define KVL_DIAGS_MAX 64 /* further ones are counted, not kept */

struct kvl_diags {
	size_t count; /* kept */
	size_t dropped;
	size_t errors; /* KVL_DIAG_ERROR seen, kept or not */
	struct kvl_diag list[KVL_DIAGS_MAX];
};

/*
 * Reads and validates. Returns a configuration that kvl_config_free() releases, or NULL with
 * errno (ENOENT..., EINVAL for content, ENOMEM) and at least one KVL_DIAG_ERROR in *diags.
 * Warnings and left-out nodes may be in *diags on success too. *diags need not be initialised: it
 * is reset first. Thread-safe, touches no global.
 */
struct kvl_config *kvl_config_load(const char *path, struct kvl_diags *diags);

/* The same at a reload: bad nodes keep the definition that they have in `former`, which is only read
 * (NULL: there is none). */
struct kvl_config *kvl_config_reload(
	const char *path, const struct kvl_config *former, struct kvl_diags *diags);

/* The same from memory; `name` stands for the path in messages. No `topology:` file is followed
 * (it is an error there): this is what the fuzzer drives. */
struct kvl_config *kvl_config_parse(
	const char *text, size_t len, const char *name, struct kvl_diags *diags);

void kvl_config_free(struct kvl_config *config);

/* NULL when there is none of this name. */
struct kvl_service_config *kvl_config_service(struct kvl_config *config, const char *name);
struct kvl_node_config *kvl_config_node(struct kvl_config *config, const char *id);

/* A node's weight as the file takes it: 0, or -EINVAL with what it must be in why. */
int kvl_node_weight_parse(const char *text, uint32_t *weight, char *why, size_t size);

/* Appends a message, counting what does not fit. Also for later stages (ports, next hops). */
__attribute__((format(printf, 3, 4))) void kvl_diag_add(
	struct kvl_diags *diags, enum kvl_severity severity, const char *format, ...);

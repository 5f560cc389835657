/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/model/draft.h"
#include "lib/score/fresh.h"

#include <errno.h>
#include <stdlib.h>

/* `router:` and `health:` */

/* A worker's part of the ports is cut off by their high bits, so the range is 2^k ports on a 2^k
 * boundary; below 1024 ports the slot numbers on the wire get too short. */
#define SNAT_PORTS_MIN 1024

static int snat_parse(const char *text, unsigned long *first, unsigned long *last)
{
	char *end;

	if (*text < '1' || *text > '9')
		return -EINVAL;
	*first = strtoul(text, &end, 10);
	if (*end != '-' || end[1] < '1' || end[1] > '9')
		return -EINVAL;
	*last = strtoul(end + 1, &end, 10);
	if (*end != '\0' || *last > UINT16_MAX || *first > *last)
		return -EINVAL;
	return 0;
}

static int set_snat_ports(const struct field *f, const char *text, void *to, char *why, size_t size)
{
	uint16_t *range = to; /* snat_first, snat_last */
	unsigned long first, last, n;

	if (snat_parse(text, &first, &last) == 0) {
		n = last - first + 1;
		if (n >= SNAT_PORTS_MIN && (n & (n - 1)) == 0 && first % n == 0) {
			range[0] = (uint16_t)first;
			range[1] = (uint16_t)last;
			return 0;
		}
	}
	snprintf(why, size,
		"must be FIRST-LAST: 2^k ports, at least %d, from a multiple of 2^k (16384-32767)",
		SNAT_PORTS_MIN);
	return -EINVAL;
}

_Static_assert(offsetof(struct kvl_router_config, snat_last)
		       == offsetof(struct kvl_router_config, snat_first) + sizeof(uint16_t),
	"set_snat_ports() stores both at once");

#define CORE_MAX 1023 /* CPU_SETSIZE */

/* "2", "2-5", "0,2-5": appends the CPUs of one part; false when it is none. */
static bool cores_add(struct kvl_router_config *router, const char *text, char **end)
{
	unsigned long first, last;

	if (*text < '0' || *text > '9')
		return false;
	first = last = strtoul(text, end, 10);
	if (**end == '-' && (*end)[1] >= '0' && (*end)[1] <= '9')
		last = strtoul(*end + 1, end, 10);
	if (first > last || last > CORE_MAX || last - first > KVL_WORKERS_MAX)
		return false;
	for (unsigned long cpu = first; cpu <= last; cpu++) {
		if (router->core_count == KVL_WORKERS_MAX + 1)
			return false;
		for (uint16_t i = 0; i < router->core_count; i++)
			if (router->cores[i] == cpu)
				return false;
		router->cores[router->core_count++] = (uint16_t)cpu;
	}
	return true;
}

static int set_cores(const struct field *f, const char *text, void *to, char *why, size_t size)
{
	struct kvl_router_config *router = to;
	char *end = NULL;
	bool ok;

	router->core_count = 0;
	ok = cores_add(router, text, &end);
	while (ok && *end == ',')
		ok = cores_add(router, end + 1, &end);
	if (ok && *end == '\0')
		return 0;
	router->core_count = 0; /* one fault is told once */
	snprintf(why, size,
		"must be CPUs, each once, as \"0,2-5\": the control core's, then the workers'");
	return -EINVAL;
}

static const struct choice polls[] = {
	{"busy", KVL_POLL_BUSY},
	{"adaptive", KVL_POLL_ADAPTIVE},
	{0},
};

/* YAML 1.1 calls on and off booleans; here they are words. */
static const struct choice hugepages[] = {
	{"auto", KVL_HUGE_AUTO},
	{"on", KVL_HUGE_ON},
	{"off", KVL_HUGE_OFF},
	{0},
};

static const struct field router_fields[] = {
	{"control_socket", set_text, AT(struct kvl_router_config, control_socket)},
	{"workers", set_uint, AT(struct kvl_router_config, workers), .min = 1,
		.max = KVL_WORKERS_MAX},
	{"cores", set_cores, .offset = 0, .size = sizeof(struct kvl_router_config)},
	{"pending_slots", set_power, AT(struct kvl_router_config, pending_slots), .min = 1024,
		.max = 1048576},
	{"snat_ports", set_snat_ports, AT(struct kvl_router_config, snat_first)},
	{"mbufs", set_uint, AT(struct kvl_router_config, mbufs), .min = 4096, .max = 262144},
	{"poll", set_choice, AT(struct kvl_router_config, poll), .choices = polls},
	{"hugepages", set_choice, AT(struct kvl_router_config, hugepages), .choices = hugepages},
	{"max_nodes", set_uint, AT(struct kvl_router_config, max_nodes), .min = 1,
		.max = KVL_NODES_MAX},
};

static const struct field health_fields[] = {
	{"timeouts_to_down", set_uint, AT(struct kvl_health_config, timeouts_to_down), .min = 1,
		.max = 1000000},
	{"probe_interval_ms", set_uint, AT(struct kvl_health_config, probe_interval_ms), .min = 10,
		.max = 60000},
	{"probe_timeout_ms", set_uint, AT(struct kvl_health_config, probe_timeout_ms), .min = 1,
		.max = 60000},
	{"passive_fresh_ms", set_uint, AT(struct kvl_health_config, passive_fresh_ms), .min = 100,
		.max = 3600000},
	{"topology_fresh_ms", set_uint, AT(struct kvl_health_config, topology_fresh_ms), .min = 100,
		.max = 3600000},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

void router_walk(struct walk *w, yaml_node_t *value, const char *path, void *object)
{
	struct draft *d = object;
	struct kvl_router_config *r = &d->config->router;

	walk_map(w, value, path, router_fields, COUNT(router_fields), r, NULL);
	if (r->core_count != 0 && r->core_count < r->workers + 1)
		walk_fault(w, walk_pos(value), path, NULL,
			"cores names %u CPUs, but %u workers and the control core need %u",
			r->core_count, r->workers, r->workers + 1);
}

void health_walk(struct walk *w, yaml_node_t *value, const char *path, void *object)
{
	struct draft *d = object;
	struct kvl_health_config *h = &d->config->health;

	walk_map(w, value, path, health_fields, COUNT(health_fields), h, NULL);
	/* One probe of a node is under way at a time. */
	if (h->probe_timeout_ms > h->probe_interval_ms)
		walk_fault(w, walk_pos(value), path, NULL,
			"probe_timeout_ms (%u) must not exceed probe_interval_ms (%u)",
			h->probe_timeout_ms, h->probe_interval_ms);
}

void router_defaults(struct kvl_config *config)
{
	config->router = (struct kvl_router_config){
		.control_socket = "/run/kvlane/kvlane.sock",
		.workers = 1,
		.pending_slots = 65536,
		.snat_first = 16384,
		.snat_last = 32767,
		.mbufs = 8192,
		.poll = KVL_POLL_BUSY,
		.hugepages = KVL_HUGE_AUTO,
		.max_nodes = 1024,
	};
	config->reports = (struct kvl_reports_config){.port = 11290, .interval_ms = 2000};
	kvl_addr_parse("127.0.0.1", &config->http.address);
	config->health = (struct kvl_health_config){
		.timeouts_to_down = 3,
		.probe_interval_ms = 500,
		.probe_timeout_ms = 200,
		.passive_fresh_ms = 30000,
		.topology_fresh_ms = KVL_FRESH_TOPOLOGY_MS,
	};
}

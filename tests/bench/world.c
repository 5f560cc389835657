/* SPDX-License-Identifier: BSD-3-Clause */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_eal.h>
#include <rte_lcore.h>
#include <rte_malloc.h>

#include "dataplane/clients.h"
#include "dataplane/port/port.h"
#include "lib/ring/lookup.h"
#include "tests/bench/world.h"

#define SNAT          RTE_BE32(0x0a0200fe)
#define PENDING_SLOTS 65536
#define MEMORY_MB     256 /* 64 of them the table of clients */
#define RULES         33

struct kvl_worker *bench_worker;
const struct kvl_root *bench_root;
unsigned int bench_policy;
uint8_t bench_choice;
struct rte_mbuf *bench_mbufs[BENCH_MBUFS];

static const struct kvl_placement *placement;

static unsigned int last_cpu(void)
{
	unsigned int last = 0;
	cpu_set_t allowed;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		abort();
	for (unsigned int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &allowed))
			last = cpu;
	return last;
}

static bool hugepages_free(void)
{
	unsigned long pages = 0;
	char line[128];
	FILE *f = fopen("/proc/meminfo", "r");

	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		sscanf(line, "HugePages_Free: %lu", &pages);
	if (f != NULL)
		fclose(f);
	return pages * 2 >= MEMORY_MB;
}

static void eal_begin(void)
{
	char lcores[32], memory[16];
	char *huge[] = {"bench", lcores, "--no-pci", "--no-telemetry", "--log-level=3", "-m",
		memory, "--in-memory", NULL};
	char *small[] = {"bench", lcores, "--no-pci", "--no-telemetry", "--log-level=3", "-m",
		memory, "--no-huge", "--no-shconf", NULL};
	bool use_huge = hugepages_free();

	snprintf(lcores, sizeof(lcores), "--lcores=0@%u", last_cpu());
	snprintf(memory, sizeof(memory), "%u", MEMORY_MB);
	if (!use_huge)
		fprintf(stderr, "no free hugepages: figures are higher without them\n");
	if (rte_eal_init(use_huge ? 8 : 9, use_huge ? huge : small) < 0)
		abort();
}

static void worker_begin(void)
{
	struct kvl_lane lanes[2] = {
		{.mtu = 1500}, {.mtu = 1500, .has_snat = {true}, .snat = {kvl_addr_from_v4(SNAT)}}};
	struct kvl_worker_params params = {
		.worker_count = 1,
		.lcore = rte_lcore_id(),
		.node_max = BENCH_NODES,
		.pending_slots = PENDING_SLOTS,
		.snat_first = 16384,
		.snat_count = 16384,
		.lanes = lanes,
		.lane_count = 2,
	};

	kvl_mac_parse(BENCH_LANE_MAC, lanes[0].mac);
	kvl_mac_parse("02:00:00:00:00:d0", lanes[1].mac);
	bench_worker = kvl_worker_new(&params);
	if (bench_worker == NULL)
		abort();
	kvl_workers_connect(&bench_worker, 1);
}

void bench_begin(void)
{
	struct rte_mempool *pool;

	eal_begin();
	pool = kvl_pool_new("bench", 2 * BENCH_MBUFS, KVL_ROOM_MIN, (int)rte_socket_id());
	if (pool == NULL || rte_pktmbuf_alloc_bulk(pool, bench_mbufs, BENCH_MBUFS) != 0)
		abort();
	worker_begin();
}

static void placement_new(unsigned int nodes, unsigned int vnodes, unsigned int replication)
{
	const struct kvl_placement_params params = {
		.kind = KVL_PLACE_RING, .replication = replication, .vnodes = vnodes};
	static struct kvl_member members[BENCH_NODES];
	static char ids[BENCH_NODES][16];
	struct kvl_placement *built;
	void *copy;

	for (unsigned int i = 0; i < nodes; i++) {
		snprintf(ids[i], sizeof(ids[i]), "node%u", i);
		members[i] = (struct kvl_member){
			.id = ids[i], .host = ids[i], .zone = "z", .weight = 100, .number = i};
	}
	built = kvl_placement_build(&params, members, nodes);
	if (built == NULL)
		abort();
	/* As kvlaned does: a copy in hugepages. */
	rte_free((void *)(uintptr_t)placement);
	copy = rte_malloc(NULL, kvl_placement_size(built), KVL_PLACEMENT_ALIGN);
	if (copy == NULL)
		abort();
	placement = memcpy(copy, built, kvl_placement_size(built));
	free(built);
}

static struct kvl_root_node node_make(unsigned int number)
{
	return (struct kvl_root_node){
		.address = kvl_addr_from_v4(rte_cpu_to_be_32(0x0a020000 + number + 1)),
		.snat = kvl_addr_from_v4(SNAT),
		.port = 11211,
		.egress = 1,
		.payload_max = 1472,
		.mac = {2, 0, 0, 2, number >> 8, number},
		.source_mac = {2, 0, 0, 0, 0, 0xd0},
		.flags = KVL_NODE_PRESENT | KVL_NODE_NEXTHOP | KVL_NODE_SNAT,
	};
}

static struct kvl_root_service service_make(
	unsigned int number, enum kvl_mode mode, unsigned int replication)
{
	return (struct kvl_root_service){
		.address = kvl_addr_from_v4(rte_cpu_to_be_32(0x0a010064 + number)),
		.port = 11211,
		.number = number,
		.mode = mode,
		.replication = replication,
		.choice = bench_choice,
		.timeout_ms = BENCH_TIMEOUT,
		.placement = placement,
	};
}

static const struct kvl_clients *clients_make(void)
{
	static struct kvl_clients *clients;
	struct kvl_prefix prefix;
	const struct kvl_client_list lists[] = {{&prefix, 1}, {&prefix, 1}};

	if (clients == NULL && kvl_prefix_parse("10.0.0.0/8", &prefix) == 0)
		clients = kvl_clients_new(kvl_client_sets_new(lists, 2), SOCKET_ID_ANY);
	if (clients == NULL)
		abort();
	return clients;
}

/* Of services 0 and 1, and of the rules of each. */
static void policies_make(struct kvl_root_spec *spec, struct kvl_root_service *services)
{
	static struct kvl_root_policy policies[2 + 2 * RULES];
	static struct kvl_root_rule rules[2 * RULES];
	static const struct kvl_root_tenant tenant = {100000000, 100000000, 100000000};
	bool ruled = bench_policy & KVL_POLICY_RULES, choosy = bench_policy & KVL_POLICY_CHOICE;

	for (unsigned int i = 0; i < 2 + 2 * RULES; i++)
		policies[i] = (struct kvl_root_policy){.clients_listed = 1,
			.client_bit = i % 2,
			.tenant = choosy ? 0 : KVL_TENANT_NONE,
			.lag_most = choosy ? 10 : KVL_LAG_ANY,
			.client_rate = {KVL_CLIENT_RATE_MAX, KVL_CLIENT_RATE_MAX},
			.amplification = {100000, 1000000000}};
	for (unsigned int i = 0; i < 2; i++)
		services[i].policy = bench_policy;
	for (unsigned int i = 0; ruled && i < 2 * RULES; i++) {
		char prefix[KVL_RULE_PREFIX_MAX];
		int len =
			snprintf(prefix, sizeof(prefix), i % RULES == 0 ? "s" : "session:r%u:", i);

		services[2 + i] = services[i / RULES];
		services[2 + i].policy &= ~KVL_POLICY_RULES;
		rules[i] = (struct kvl_root_rule){i / RULES, {.len = len, .target = 2 + i}};
		memcpy(rules[i].rule.prefix, prefix, len);
		spec->variant_count = spec->rule_count = i + 1;
	}
	spec->policies = policies;
	spec->rules = rules;
	spec->tenants = &tenant;
	spec->tenant_count = 1;
	spec->clients = clients_make();
}

void bench_topology(unsigned int nodes, unsigned int vnodes, unsigned int replication)
{
	static struct kvl_root_node list[BENCH_NODES];
	static uint16_t weights[KVL_CLASSES * BENCH_NODES];
	static struct kvl_root_service services[2 + 2 * RULES];
	struct kvl_root_spec spec = {.revision = 1,
		.generation = 1,
		.services = services,
		.service_count = 2,
		.nodes = list,
		.node_count = nodes,
		.weights = weights};
	struct kvl_root *root;

	placement_new(nodes, vnodes, replication);
	services[0] = service_make(0, KVL_MODE_NAT, replication);
	services[1] = service_make(1, KVL_MODE_DSR, replication);
	for (unsigned int i = 0; i < nodes; i++)
		list[i] = node_make(i);
	for (unsigned int i = 0; i < KVL_CLASSES * nodes; i++)
		weights[i] = 1000;

	if (bench_policy != 0)
		policies_make(&spec, services);

	rte_free((void *)(uintptr_t)bench_root);
	root = rte_malloc(NULL, kvl_root_size(&spec), RTE_CACHE_LINE_SIZE);
	if (root == NULL || kvl_root_init(root, &spec, 2) != 0)
		abort();
	bench_root = root;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <rte_eal.h>
#include <rte_malloc.h>

#include "dataplane/port/port.h"
#include "dataplane/test_world.h"
#include "lib/ring/lookup.h"

struct kvl_worker *world_workers[WORLD_WORKERS];
uint16_t world_weights[WORLD_NODES];
struct kvl_root_service world_service;
uint16_t world_try_ms;
bool world_nodes_v6;
struct kvl_root_policy world_policy[1 + WORLD_RULES];
const char *world_rules[WORLD_RULES];
struct kvl_root_service world_terms[WORLD_RULES];
struct kvl_root_tenant world_tenants[WORLD_TENANTS];
const struct kvl_clients *world_clients;
uint32_t world_lag[WORLD_NODES];
bool world_read_only[WORLD_NODES];

static const struct kvl_merge_params world_merge = {
	.merges = WORLD_MERGES, .parts = WORLD_PARTS, .chunks = WORLD_CHUNKS};
static struct rte_rcu_qsbr *rcu;
static struct rte_mempool *pool;
static struct kvl_placement *placement;
static struct kvl_root *root;
static uint64_t received; /* mbufs given to pipelines */
static uint64_t sent;     /* mbufs taken from transmit buffers */

static void eal_begin(void)
{
	char *args[] = {"test", "--no-huge", "--no-shconf", "--no-pci", "--no-telemetry", "-m",
		"384", "--lcores=0@0", "--log-level=3", NULL};

	if (rte_eal_init(9, args) < 0)
		abort();
}

static void placement_begin(void)
{
	const struct kvl_placement_params params = {
		.kind = KVL_PLACE_RING, .replication = 1, .vnodes = 160};
	struct kvl_member members[WORLD_NODES];
	char ids[WORLD_NODES][8];

	for (uint16_t i = 0; i < WORLD_NODES; i++) {
		snprintf(ids[i], sizeof(ids[i]), "n%u", i + 1);
		members[i] = (struct kvl_member){
			.id = ids[i], .host = ids[i], .zone = "z", .weight = 100, .number = i};
	}
	placement = kvl_placement_build(&params, members, WORLD_NODES);
	assert_non_null(placement);
}

static void mac_set(const char *text, uint8_t mac[6])
{
	assert_int_equal(kvl_mac_parse(text, mac), 0);
}

static void worker_begin(uint16_t id)
{
	struct kvl_lane lanes[2] = {
		{.mtu = WORLD_MTU}, {.mtu = WORLD_MTU, .has_snat = {true, true}}};
	struct kvl_worker_params params = {
		.id = id,
		.worker_count = WORLD_WORKERS,
		.node_max = WORLD_NODES,
		.pending_slots = 1024,
		.snat_first = 16384,
		.snat_count = 16384,
		.made_mbufs = 1023,
		.merge = world_merge,
		.lanes = lanes,
		.lane_count = 2,
		.rcu = rcu,
	};

	kvl_addr_parse(SNAT, &lanes[1].snat[KVL_IPV4]);
	kvl_addr_parse(SNAT6, &lanes[1].snat[KVL_IPV6]);
	mac_set(LANE0_MAC, lanes[0].mac);
	mac_set(LANE1_MAC, lanes[1].mac);
	world_workers[id] = kvl_worker_new(&params);
	assert_non_null(world_workers[id]);
}

int world_begin(void **state)
{
	eal_begin();
	rcu = calloc(1, rte_rcu_qsbr_get_memsize(WORLD_WORKERS) + RTE_CACHE_LINE_SIZE);
	rcu = RTE_PTR_ALIGN(rcu, RTE_CACHE_LINE_SIZE);
	rte_rcu_qsbr_init(rcu, WORLD_WORKERS);
	pool = kvl_pool_new("test", 4096, KVL_ROOM_MIN, 0);
	assert_non_null(pool);
	placement_begin();
	for (uint16_t i = 0; i < WORLD_WORKERS; i++)
		worker_begin(i);
	kvl_workers_connect(world_workers, WORLD_WORKERS);
	return 0;
}

int world_end(void **state)
{
	for (uint16_t i = 0; i < WORLD_WORKERS; i++)
		kvl_worker_free(world_workers[i]);
	rte_free(root);
	free(placement);
	rte_mempool_free(pool);
	rte_eal_cleanup();
	return 0;
}

static struct kvl_root_node node_make(unsigned int number)
{
	struct kvl_root_node node = {.port = 11211,
		.egress = 1,
		.payload_max = WORLD_MTU - 28,
		.flags = KVL_NODE_PRESENT | KVL_NODE_NEXTHOP | KVL_NODE_SNAT,
		.try_ms = world_try_ms};
	char text[32];

	snprintf(text, sizeof(text), world_nodes_v6 ? "2001:db8:2::%u" : "10.2.0.%u", number + 1);
	kvl_addr_parse(text, &node.address);
	kvl_addr_parse(world_nodes_v6 ? SNAT6 : SNAT, &node.snat);
	snprintf(text, sizeof(text), "02:00:00:00:02:%02x", number + 1);
	mac_set(text, node.mac);
	mac_set(LANE1_MAC, node.source_mac);
	return node;
}

/* The service of rule i, behind the two others. */
static struct kvl_root_service rule_service(const struct kvl_root_service *of, unsigned int i)
{
	const struct kvl_root_service *terms = &world_terms[i];
	struct kvl_root_service s = *of;

	s.members = NULL;
	s.member_count = 0;
	s.policy = terms->policy;
	if (terms->timeout_ms != 0)
		s.timeout_ms = terms->timeout_ms;
	if (terms->hash_rule.on)
		s.hash_rule = terms->hash_rule;
	if (terms->choice != 0)
		s.choice = terms->choice;
	return s;
}

static void rules_make(struct kvl_root_spec *spec, struct kvl_root_service *services,
	struct kvl_root_policy *policies, struct kvl_root_rule *rules)
{
	policies[0] = world_policy[0];
	for (unsigned int i = 1; i < 4; i++)
		policies[i] = (struct kvl_root_policy){
			.tenant = KVL_TENANT_NONE, .lag_most = KVL_LAG_ANY};
	policies[2] = policies[0]; /* IPv6's; rules are the first one's only */
	services[0].policy = world_service.policy;
	services[2].policy = world_service.policy & ~KVL_POLICY_RULES;
	for (unsigned int i = 0; i < WORLD_RULES && world_rules[i] != NULL; i++) {
		services[4 + i] = rule_service(&services[0], i);
		policies[4 + i] = world_policy[1 + i];
		rules[i] = (struct kvl_root_rule){
			.service = 0, .rule = {.len = strlen(world_rules[i]), .target = 4 + i}};
		memcpy(rules[i].rule.prefix, world_rules[i], rules[i].rule.len);
		spec->variant_count = spec->rule_count = i + 1;
	}
	spec->policies = policies;
	spec->rules = rules;
	spec->tenants = world_tenants;
	spec->tenant_count = WORLD_TENANTS;
	spec->clients = world_clients;
}

void world_publish(void)
{
	static const uint16_t members[WORLD_NODES] = {0, 1, 2, 3, 4, 5};
	static const char *const vips[] = {
		"10.1.0.100", "10.1.0.101", "2001:db8:1::100", "2001:db8:1::101"};
	struct kvl_root_service services[4 + WORLD_RULES];
	struct kvl_root_policy policies[4 + WORLD_RULES];
	struct kvl_root_rule rules[WORLD_RULES];
	struct kvl_root_node nodes[WORLD_NODES];
	uint16_t weights[KVL_CLASSES][WORLD_NODES];
	struct kvl_root_spec spec = {.revision = 1,
		.generation = 1,
		.services = services,
		.service_count = 4,
		.nodes = nodes,
		.node_count = WORLD_NODES,
		.weights = weights[0],
		.rows_known = root != NULL};

	for (unsigned int i = 0; i < 4; i++) {
		services[i] = (struct kvl_root_service){.port = 11211,
			.number = i,
			.mode = i % 2 == 0 ? KVL_MODE_NAT : KVL_MODE_DSR,
			.replication =
				world_service.replication != 0 ? world_service.replication : 1,
			.choice = world_service.choice,
			.retries = world_service.retries,
			.timeout_ms = WORLD_TIMEOUT,
			.placement = placement,
			.keyless = world_service.keyless,
			.partial = world_service.partial,
			.hash_rule = world_service.hash_rule,
			.encapsulation = i % 2 == 0 ? KVL_ENCAP_NONE : world_service.encapsulation,
			.gue_port = world_service.gue_port,
			.members = members,
			.member_count = WORLD_NODES};
		kvl_addr_parse(vips[i], &services[i].address);
	}
	for (unsigned int n = 0; n < WORLD_NODES; n++) {
		nodes[n] = node_make(n);
		nodes[n].version_lag = world_lag[n];
		for (unsigned int c = 0; c < KVL_CLASSES; c++)
			weights[c][n] =
				(c & KVL_CLASS_WRITE) && world_read_only[n] ? 0 : world_weights[n];
	}
	rules_make(&spec, services, policies, rules);
	rte_free(root);
	root = rte_malloc(NULL, kvl_root_size(&spec), RTE_CACHE_LINE_SIZE);
	assert_int_equal(kvl_root_init(root, &spec, 2), 0);
}

const struct kvl_root *world_root(void)
{
	return root;
}

static void worker_reset(struct kvl_worker *w)
{
	struct kvl_pending_params params = {.slots = 1024,
		.port_first = 16384,
		.port_count = 16384,
		.worker = w->id,
		.workers = WORLD_WORKERS};
	void *memory = w->pending.slots;

	memset(memory, 0, kvl_pending_size(&params));
	assert_int_equal(kvl_pending_init(&w->pending, memory, &params), 0);
	kvl_merge_table_init(&w->merges, w->merges.merges, &world_merge);
	memset(&w->counters, 0, sizeof(w->counters));
	memset(w->clients.clients, 0, KVL_CLIENTS * sizeof(*w->clients.clients));
	memset(w->nodes, 0, WORLD_NODES * sizeof(*w->nodes));
	memset(w->latency, 0, WORLD_NODES * sizeof(*w->latency));
	for (unsigned int n = 0; n < WORLD_NODES; n++)
		kvl_pulse_init(&w->pulses[n]);
	w->sweep_left = w->refused_count = 0;
	w->now = 0;
	w->tick = 0;
}

int world_reset(void **state)
{
	for (unsigned int w = 0; w < WORLD_WORKERS; w++) {
		for (unsigned int lane = 0; lane < 2; lane++)
			for (struct rte_mbuf *m; (m = world_sent(w, lane)) != NULL;)
				rte_pktmbuf_free(m);
		for (void *m; rte_ring_sc_dequeue(world_workers[w]->inbox, &m) == 0;)
			rte_pktmbuf_free(m);
		worker_reset(world_workers[w]);
	}
	for (unsigned int n = 0; n < WORLD_NODES; n++) {
		world_weights[n] = 1000;
		world_read_only[n] = false;
		world_lag[n] = 0;
	}
	world_service = (struct kvl_root_service){0};
	world_nodes_v6 = false;
	for (unsigned int i = 0; i < 1 + WORLD_RULES; i++)
		world_policy[i] = (struct kvl_root_policy){
			.tenant = KVL_TENANT_NONE, .lag_most = KVL_LAG_ANY};
	memset(world_rules, 0, sizeof(world_rules));
	memset(world_terms, 0, sizeof(world_terms));
	memset(world_tenants, 0, sizeof(world_tenants));
	world_clients = NULL;
	world_publish();
	received = sent = 0;
	return 0;
}

void world_holders(const char *key, unsigned int holders[WORLD_NODES])
{
	const struct kvl_root_service *s = &kvl_root_services(world_root())[0];
	uint64_t hash = kvl_service_hash(s, (const uint8_t *)key, strlen(key));
	const struct kvl_row *row =
		kvl_placement_row(s->placement, kvl_placement_find(s->placement, hash));

	for (unsigned int i = 0; i < WORLD_NODES; i++)
		holders[i] = row->node[i] + 1;
}

struct rte_mbuf *world_mbuf(const struct packet *p)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
	uint8_t bytes[PACKET_MAX];
	size_t len = packet_write(p, bytes);

	assert_non_null(mbuf);
	memcpy(rte_pktmbuf_append(mbuf, len), bytes, len);
	return mbuf;
}

void world_run(unsigned int w, unsigned int lane, const struct packet *packets, unsigned int count)
{
	struct rte_mbuf *mbufs[KVL_BURST];

	for (unsigned int i = 0; i < count; i++)
		mbufs[i] = world_mbuf(&packets[i]);
	received += count;
	kvl_pipeline(world_workers[w], root, mbufs, count, lane);
}

void world_run_mbuf(unsigned int w, unsigned int lane, struct rte_mbuf *mbuf)
{
	received++;
	kvl_pipeline(world_workers[w], root, &mbuf, 1, lane);
}

unsigned int world_inbox(unsigned int w)
{
	struct rte_mbuf *mbufs[KVL_BURST];
	unsigned int n =
		rte_ring_dequeue_burst(world_workers[w]->inbox, (void **)mbufs, KVL_BURST, NULL);

	kvl_pipeline(world_workers[w], root, mbufs, n, KVL_LANE_ANY);
	return n;
}

void world_wait(unsigned int w, unsigned int ms)
{
	world_workers[w]->tick += ms;
	world_workers[w]->now += ms * world_workers[w]->tsc_per_tick;
	while (kvl_expire(world_workers[w], root) != 0)
		;
	kvl_merge_run(world_workers[w], root);
}

struct rte_mbuf *world_sent(unsigned int w, unsigned int lane)
{
	struct kvl_tx_buffer *tx = &world_workers[w]->tx[lane];
	struct rte_mbuf *first;

	if (tx->count == 0)
		return NULL;
	first = tx->mbufs[0];
	memmove(tx->mbufs, tx->mbufs + 1, --tx->count * sizeof(tx->mbufs[0]));
	sent++;
	return first;
}

void world_expect(struct rte_mbuf *mbuf, const struct packet *p)
{
	uint8_t bytes[PACKET_MAX];
	size_t len = packet_write(p, bytes);

	assert_non_null(mbuf);
	assert_int_equal(rte_pktmbuf_pkt_len(mbuf), len);
	assert_memory_equal(rte_pktmbuf_mtod(mbuf, void *), bytes, len);
	rte_pktmbuf_free(mbuf);
}

unsigned int world_node_of(struct rte_mbuf *mbuf, struct kvl_wire_id *wire)
{
	const struct kvl_frame *frame;
	struct kvl_packet p;
	struct kvl_addr to;
	unsigned int node;

	assert_non_null(mbuf);
	kvl_packet_begin(&p, mbuf, 0);
	kvl_packet_locate(&p, kvl_packet_ether(&p)->ether_type == RTE_BE16(RTE_ETHER_TYPE_IPV6));
	to = kvl_packet_destination(&p, p.v6);
	node = to.bytes[15];
	frame = (const void *)kvl_packet_payload(&p);
	if (wire != NULL) {
		wire->port = rte_be_to_cpu_16(kvl_packet_udp(&p)->src_port);
		wire->id = rte_be_to_cpu_16(frame->id);
	}
	rte_pktmbuf_free(mbuf);
	return node;
}

void world_asked_fill(struct world_asked *a)
{
	snprintf(a->mac, sizeof(a->mac), "02:00:00:00:02:%02x", a->node);
	snprintf(a->node_text, sizeof(a->node_text),
		world_nodes_v6 ? "[2001:db8:2::%u]:11211" : "10.2.0.%u:11211", a->node);
	snprintf(a->snat_text, sizeof(a->snat_text), world_nodes_v6 ? "[" SNAT6 "]:%u" : SNAT ":%u",
		a->wire.port);
}

void world_asked(unsigned int w, struct world_asked *a)
{
	a->node = world_node_of(world_sent(w, 1), &a->wire);
	world_asked_fill(a);
}

struct packet world_reply(const struct world_asked *a, const char *payload)
{
	return (struct packet){.from_mac = a->mac,
		.to_mac = LANE1_MAC,
		.from = a->node_text,
		.to = a->snat_text,
		.id = a->wire.id,
		.payload = payload};
}

/* Nobody's request is in flight but those that a slot waits for. */
static void check_in_flight(const struct kvl_worker *w)
{
	uint32_t waiting[WORLD_NODES] = {0};

	for (uint32_t i = 0; i < w->pending.size; i++) {
		const struct kvl_slot *s = &w->pending.slots[i];

		if ((s->flags & (KVL_SLOT_ACTIVE | KVL_SLOT_QUIET)) == KVL_SLOT_ACTIVE)
			waiting[s->node]++;
	}
	for (unsigned int n = 0; n < WORLD_NODES; n++)
		assert_int_equal(kvl_pulse_in_flight(&w->pulses[n]), waiting[n]);
}

void world_check_conservation(void)
{
	uint64_t drops = 0, held = 0, created = 0, absorbed = 0;

	for (unsigned int w = 0; w < WORLD_WORKERS; w++) {
		for (unsigned int i = 0; i < KVL_DROP_COUNT; i++)
			drops += world_workers[w]->counters.drops[i];
		for (unsigned int lane = 0; lane < 2; lane++)
			held += world_workers[w]->tx[lane].count;
		held += rte_ring_count(world_workers[w]->inbox);
		created += world_workers[w]->counters.created;
		held += world_workers[w]->counters.tx; /* flushed: to no port, but for a fuzzer's */
		absorbed += world_workers[w]->counters.absorbed;
		check_in_flight(world_workers[w]);
	}
	assert_int_equal(received + created, sent + absorbed + drops + held);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/score/pick.h"
#include "tests/sim/sim.h"

/*
 * Every policy chooses among the nodes that health leaves in; so what is compared is the choice,
 * not that a policy of the literature has no failure detector.
 */
static unsigned int candidates(
	const struct sim_router *r, const struct kvl_row *row, struct kvl_draw *list)
{
	return kvl_candidates(row, r->weights, SIM_REPLICATION, list);
}

static uint32_t in_flight(const struct sim_router *r, uint16_t node)
{
	return kvl_pulse_in_flight(&r->pulses[node]);
}

static uint16_t choose_static(struct sim *sim, struct sim_router *r, const struct kvl_row *row)
{
	return kvl_draw_first(row, r->weights).node;
}

static uint16_t choose_random(struct sim *sim, struct sim_router *r, const struct kvl_row *row)
{
	struct kvl_draw list[KVL_REPLICATION_MAX];
	unsigned int n = candidates(r, row, list);

	return n == 0 ? KVL_NODE_NONE : list[rng_below(&r->rng, n)].node;
}

static uint16_t choose_turn(struct sim *sim, struct sim_router *r, const struct kvl_row *row)
{
	struct kvl_draw list[KVL_REPLICATION_MAX];
	unsigned int n = candidates(r, row, list);

	return n == 0 ? KVL_NODE_NONE : list[r->turn++ % n].node;
}

/* The candidate of the least cost; of equal ones, any. */
static uint16_t least_of(struct sim *sim, struct sim_router *r, const struct kvl_row *row,
	double (*cost)(struct sim *sim, struct sim_router *r, uint16_t node))
{
	struct kvl_draw list[KVL_REPLICATION_MAX];
	unsigned int n = candidates(r, row, list), equal = 0;
	uint16_t best = KVL_NODE_NONE;
	double least = 0;

	for (unsigned int i = 0; i < n; i++) {
		double c = cost(sim, r, list[i].node);

		if (best == KVL_NODE_NONE || c < least) {
			best = list[i].node;
			least = c;
			equal = 1;
		} else if (c == least && rng_below(&r->rng, ++equal) == 0) {
			best = list[i].node;
		}
	}
	return best;
}

static double cost_in_flight(struct sim *sim, struct sim_router *r, uint16_t node)
{
	return in_flight(r, node);
}

static uint16_t choose_least(struct sim *sim, struct sim_router *r, const struct kvl_row *row)
{
	return least_of(sim, r, row, cost_in_flight);
}

/* Power of two choices (Mitzenmacher 2001), on the requests in flight that the router knows of. */
static uint16_t choose_two(struct sim *sim, struct sim_router *r, const struct kvl_row *row)
{
	struct kvl_draw list[KVL_REPLICATION_MAX];
	unsigned int n = candidates(r, row, list), a, b;

	if (n < 2)
		return n == 0 ? KVL_NODE_NONE : list[0].node;
	a = rng_below(&r->rng, n);
	b = (a + 1 + rng_below(&r->rng, n - 1)) % n;
	return in_flight(r, list[b].node) < in_flight(r, list[a].node) ? list[b].node
								       : list[a].node;
}

/*
 * C3's replica ranking (Suresh et al., NSDI'15): R - 1/mu + q^3/mu, with q = 1 + outstanding *
 * clients + the server's queue. The servers send queue and service time with each reply, as C3
 * asks of them. Without its rate control.
 */
static double rank_c3(const struct sim_router *r, uint16_t node, double queue)
{
	const struct sim_peer *p = &r->peers[node];
	double q = 1 + (double)in_flight(r, node) * SIM_ROUTERS + queue;

	return p->ewma_us - p->ewma_service_us + q * q * q * p->ewma_service_us;
}

static double cost_c3(struct sim *sim, struct sim_router *r, uint16_t node)
{
	return rank_c3(r, node, r->peers[node].ewma_queue);
}

static uint16_t choose_c3(struct sim *sim, struct sim_router *r, const struct kvl_row *row)
{
	return least_of(sim, r, row, cost_c3);
}

/* The same, of servers that do not send their queue: a memcached does not. */
static double cost_c3_local(struct sim *sim, struct sim_router *r, uint16_t node)
{
	return rank_c3(r, node, 0);
}

static uint16_t choose_c3_local(struct sim *sim, struct sim_router *r, const struct kvl_row *row)
{
	return least_of(sim, r, row, cost_c3_local);
}

/*
 * Prequal (Wydrowski et al., NSDI'24): each query sends 3 probes to random servers, which answer
 * with their true number of requests in flight and their latency. Hot above the 84th percentile of
 * what was probed: then the fewest in flight, else the fastest. Each use counts one more.
 */
static void probes_arrive(struct sim *sim, struct sim_router *r)
{
	while (r->probe_head != r->probe_tail
		&& r->probes[r->probe_head % SIM_PROBES].at <= sim->now) {
		const struct sim_probe *probe = &r->probes[r->probe_head++ % SIM_PROBES];
		struct sim_peer *p = &r->peers[probe->node];

		p->probed_rif = probe->rif;
		p->probed_us = probe->us;
	}
}

static void probes_send(struct sim *sim, struct sim_router *r)
{
	for (int i = 0; i < 3; i++) {
		uint16_t node = (uint16_t)rng_below(&r->rng, SIM_NODES);
		const struct sim_node *n = &sim->nodes[node];

		if (!n->alive || r->probe_tail - r->probe_head == SIM_PROBES)
			continue;
		r->probes[r->probe_tail++ % SIM_PROBES] = (struct sim_probe){
			.at = sim->now + 2 * SIM_HOP,
			.node = node,
			.rif = n->busy + n->queued,
			.us = r->peers[node].ewma_us,
		};
	}
}

static uint32_t rif_limit(const struct sim_router *r)
{
	uint32_t list[SIM_NODES];

	for (unsigned int i = 0; i < SIM_NODES; i++) {
		unsigned int at = i;

		for (; at > 0 && list[at - 1] > r->peers[i].probed_rif; at--)
			list[at] = list[at - 1];
		list[at] = r->peers[i].probed_rif;
	}
	return list[(unsigned int)(0.84 * (SIM_NODES - 1) + 0.5)];
}

static double cost_prequal(struct sim *sim, struct sim_router *r, uint16_t node)
{
	const struct sim_peer *p = &r->peers[node];

	/* Hot ones behind all cold ones. */
	return p->probed_rif > r->rif_limit ? 1e12 + p->probed_rif : p->probed_us;
}

static uint16_t choose_prequal(struct sim *sim, struct sim_router *r, const struct kvl_row *row)
{
	uint16_t node;

	probes_arrive(sim, r);
	probes_send(sim, r);
	r->rif_limit = rif_limit(r);
	node = least_of(sim, r, row, cost_prequal);
	if (node != KVL_NODE_NONE)
		r->peers[node].probed_rif++;
	return node;
}

static uint16_t choose_best(struct sim *sim, struct sim_router *r, const struct kvl_row *row)
{
	return kvl_draw_best(row, r->weights, SIM_REPLICATION).node;
}

static uint16_t choose_softmax(struct sim *sim, struct sim_router *r, const struct kvl_row *row)
{
	uint32_t random = (uint32_t)rng_next(&r->rng);

	return kvl_draw_weighted(row, r->weights, SIM_REPLICATION, random).node;
}

static uint16_t choose_p2c(struct sim *sim, struct sim_router *r, const struct kvl_row *row)
{
	return kvl_draw_p2c(
		row, r->weights, SIM_REPLICATION, rng_next(&r->rng), r->pulses, sim->params->hot)
		.node;
}

static uint16_t choose_kvlane(struct sim *sim, struct sim_router *r, const struct kvl_row *row)
{
	uint32_t explore = kvl_weights_explore(&sim->params->scorer.weights);

	return kvl_draw_least(
		row, r->handicaps, SIM_REPLICATION, rng_next(&r->rng), r->pulses, explore)
		.node;
}

/* What nobody has: every node's true queue, speed and fault, and all that is on its way to it. The
 * cost is the expected time until the request would be done. */
static double cost_true(struct sim *sim, struct sim_router *r, uint16_t node)
{
	const struct sim_node *n = &sim->nodes[node];
	double before = (double)sim_node_all(n) + 1 - SIM_SERVERS;

	if (!n->alive)
		return 1e9;
	return (1 + (before > 0 ? before : 0) / SIM_SERVERS) / n->speed + 1e6 * n->reject;
}

static uint16_t choose_oracle(struct sim *sim, struct sim_router *r, const struct kvl_row *row)
{
	return least_of(sim, r, row, cost_true);
}

const struct sim_policy sim_policies[] = {
	{"static", false, choose_static},
	{"random", false, choose_random},
	{"roundrobin", false, choose_turn},
	{"leastinflight", false, choose_least},
	{"p2c", false, choose_two},
	{"c3", false, choose_c3},
	{"c3-local", false, choose_c3_local},
	{"prequal", false, choose_prequal},
	{"kvl-best", true, choose_best},
	{"kvl-softmax", true, choose_softmax},
	{"kvl-p2c", true, choose_p2c},
	{"kvlane", true, choose_kvlane},
	{"oracle", false, choose_oracle},
};

const size_t sim_policy_count = sizeof(sim_policies) / sizeof(*sim_policies);

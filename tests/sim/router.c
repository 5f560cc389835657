/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "lib/score/pick.h"
#include "tests/sim/sim.h"

#define OLD 0.9 /* C3's weight of the past */

static uint64_t ms_of(uint64_t ns)
{
	return ns / SIM_MS + 1; /* the library's clocks never show 0 */
}

void sim_router_start(struct sim *sim, struct sim_router *r, unsigned int number)
{
	memset(r, 0, sizeof(*r));
	r->rng.state = sim->params->seed * 1000 + number;
	r->scorer = kvl_scorer_new(SIM_NODES, &sim->params->scorer);
	if (r->scorer == NULL)
		abort();
	for (uint16_t i = 0; i < SIM_NODES; i++) {
		kvl_scorer_join(r->scorer, i, 1);
		kvl_pulse_init(&r->pulses[i]);
		r->weights[i] = KVL_WEIGHT_MOST;
		r->handicaps[i] = kvl_handicap(KVL_WEIGHT_MOST);
	}
}

void sim_router_stop(struct sim_router *r)
{
	kvl_scorer_free(r->scorer);
}

/* Takes the scorer's weights; policies without scores keep of them who is in. */
static void weights_take(struct sim *sim, struct sim_router *r)
{
	uint16_t fresh[SIM_NODES];

	kvl_scorer_weights(r->scorer, 0, ms_of(sim->now), fresh, SIM_NODES);
	for (unsigned int i = 0; i < SIM_NODES; i++) {
		if (!sim->params->policy->scores && fresh[i] > 0)
			fresh[i] = KVL_WEIGHT_MOST;
		if ((fresh[i] == 0) != (r->weights[i] == 0) && sim->now >= sim->params->warm_up)
			r->changes++;
		r->weights[i] = fresh[i];
		r->handicaps[i] = kvl_handicap(fresh[i]);
	}
}

static void peer_observe(struct sim *sim, struct sim_router *r, uint16_t node)
{
	struct sim_peer *p = &r->peers[node];
	struct kvl_seen seen = {
		.outcomes = {.replies = p->replies, .rejects = p->rejects, .timeouts = p->timeouts},
		.timeouts_in_a_row = p->run,
		.latency = &p->latency,
	};

	/* Policies without scores: health sees answers, and is blind to what they say. */
	if (!sim->params->policy->scores)
		seen.outcomes.rejects = 0;
	kvl_scorer_passive(r->scorer, node, &seen, ms_of(sim->now));
	p->replies = p->rejects = p->timeouts = 0;
	memset(&p->latency, 0, sizeof(p->latency));
}

static void peer_probe(struct sim *sim, struct sim_router *r, uint16_t node)
{
	struct sim_peer *p = &r->peers[node];
	struct kvl_scored_node *n = kvl_scorer_node(r->scorer, node);
	uint64_t now = ms_of(sim->now);

	if (p->probe_due != 0 && sim->now >= p->probe_due) {
		p->probe_due = 0;
		kvl_scorer_probe(r->scorer, node, p->probe_ok, now);
	}
	if (p->probe_due != 0 || kvl_health_probe_at(&n->health, &sim->params->scorer.health) > now)
		return;
	kvl_health_probe_sent(&n->health, now);
	p->probe_ok = sim->nodes[node].alive;
	p->probe_due = sim->now + (p->probe_ok ? 2 * SIM_HOP : SIM_TIMEOUT);
}

/* As a worker does it, once a second. */
static void pulses_age(struct sim *sim, struct sim_router *r)
{
	if (sim->now / SIM_SECOND == (sim->now - SIM_TICK) / SIM_SECOND)
		return;
	for (uint16_t i = 0; i < SIM_NODES; i++)
		kvl_pulse_age(&r->pulses[i], (uint32_t)ms_of(sim->now));
}

void sim_router_tick(struct sim *sim, struct sim_router *r)
{
	pulses_age(sim, r);
	for (uint16_t i = 0; i < SIM_NODES; i++) {
		peer_observe(sim, r, i);
		peer_probe(sim, r, i);
	}
	if (kvl_scorer_tick(r->scorer, ms_of(sim->now)))
		weights_take(sim, r);
}

void sim_router_sent(struct sim *sim, struct sim_router *r, uint16_t node)
{
	kvl_pulse_sent(&r->pulses[node]);
}

static void average(double *mean, double value)
{
	*mean = *mean == 0 ? value : OLD * *mean + (1 - OLD) * value;
}

void sim_router_reply(struct sim *sim, struct sim_router *r, const struct sim_request *q)
{
	struct sim_peer *p = &r->peers[q->node];
	struct kvl_pulse *pulse = &r->pulses[q->node];
	double us = (double)(sim->now - q->start) / 1000;

	kvl_pulse_left(pulse);
	p->replies++;
	p->run = 0;
	average(&p->ewma_us, us);
	average(&p->ewma_queue, q->queue_seen);
	if (q->rejected) {
		pulse->answered = (uint32_t)ms_of(sim->now);
		p->rejects++;
		average(&p->ewma_service_us, 1);
		return;
	}
	average(&p->ewma_service_us, (double)q->served_ns / 1000);
	kvl_hist_add(&p->latency, (uint32_t)us);
	kvl_pulse_latency(pulse, (uint32_t)us, (uint32_t)ms_of(sim->now));
	pulse->answered = (uint32_t)ms_of(sim->now);
}

void sim_router_timeout(struct sim *sim, struct sim_router *r, uint16_t node)
{
	struct sim_peer *p = &r->peers[node];

	kvl_pulse_left(&r->pulses[node]);
	p->timeouts++;
	p->run++;
	average(&p->ewma_us, (double)SIM_TIMEOUT / 1000);
	kvl_pulse_latency(
		&r->pulses[node], (uint32_t)(SIM_TIMEOUT / 1000), (uint32_t)ms_of(sim->now));
}

void sim_report(struct sim *sim, struct sim_router *r, uint16_t node,
	const struct kvl_report_figures *figures)
{
	if (sim->params->policy->scores)
		kvl_scorer_report(r->scorer, node, figures, ms_of(sim->now));
}

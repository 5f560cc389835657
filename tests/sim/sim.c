/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "lib/score/pick.h"
#include "tests/sim/queue.h"
#include "tests/sim/sim.h"
#include "tests/sim/tally.h"
#include "tests/sim/traffic.h"

#define PLAY_EVERY (10 * SIM_MS)
#define LATE_MOST  256

struct late_report {
	uint64_t at;
	uint8_t router;
	uint16_t node;
	struct kvl_report_figures figures;
};

struct sim_queues {
	struct fifo to_node, to_router, timeouts;
	struct heap service;
	struct late_report late[LATE_MOST]; /* in order of time: the delay is constant */
	uint32_t late_head, late_tail;
};

static uint32_t request_new(struct sim *sim)
{
	uint32_t at = sim->request_free;

	if (at == SIM_NONE) {
		uint32_t count = sim->request_count == 0 ? 4096 : sim->request_count * 2;

		sim->requests = realloc(sim->requests, count * sizeof(*sim->requests));
		if (sim->requests == NULL)
			abort();
		for (uint32_t i = sim->request_count; i < count; i++)
			sim->requests[i] =
				(struct sim_request){.next = i + 1 < count ? i + 1 : SIM_NONE};
		at = sim->request_count;
		sim->request_count = count;
	}
	sim->request_free = sim->requests[at].next;
	return at;
}

static void request_free(struct sim *sim, uint32_t at)
{
	sim->requests[at].id = 0;
	sim->requests[at].next = sim->request_free;
	sim->request_free = at;
}

/* Nobody will hear of it any more; the router finds out by its timeout. */
static void request_lose(struct sim *sim, uint32_t at)
{
	if (!sim->requests[at].open)
		request_free(sim, at);
	else
		sim->requests[at].next = SIM_NONE - 1; /* lost: the timeout frees it */
}

static void account(struct sim *sim, uint64_t start, uint64_t latency, bool ok)
{
	if (start < sim->params->warm_up)
		return;
	tally_add(sim->tally, ok ? latency : SIM_TIMEOUT);
	sim->tally->failed += !ok;
}

static void arrive(struct sim *sim, const struct kvl_row *row, uint64_t service)
{
	unsigned int number = rng_below(&sim->arrivals, SIM_ROUTERS);
	struct sim_router *r = &sim->routers[number];
	uint16_t node = sim->params->policy->choose(sim, r, row);
	uint32_t at;

	if (node == KVL_NODE_NONE) {
		account(sim, sim->now, 0, false);
		return;
	}
	at = request_new(sim);
	sim->requests[at] = (struct sim_request){.start = sim->now,
		.service = service,
		.id = ++sim->next_id,
		.node = node,
		.router = (uint8_t)number,
		.open = true};
	sim->nodes[node].transit++;
	sim_router_sent(sim, r, node);
	fifo_push(&sim->queues->to_node,
		(struct event){.at = sim->now + SIM_HOP, .request = at, .id = sim->next_id});
	fifo_push(&sim->queues->timeouts,
		(struct event){.at = sim->now + SIM_TIMEOUT, .request = at, .id = sim->next_id});
}

static void busy_change(struct sim *sim, struct sim_node *n, int by)
{
	n->busy_ns += n->busy * (sim->now - n->busy_since);
	n->busy_since = sim->now;
	n->busy = (uint32_t)((int)n->busy + by);
}

static void serve(struct sim *sim, struct sim_node *n, uint32_t at)
{
	struct sim_request *q = &sim->requests[at];

	busy_change(sim, n, 1);
	q->served_ns = (uint64_t)((double)q->service / n->speed);
	heap_push(&sim->queues->service, (struct event){.at = sim->now + q->served_ns,
						 .request = at,
						 .id = q->id,
						 .epoch = n->epoch});
}

static void reply_send(struct sim *sim, uint32_t at)
{
	struct sim_request *q = &sim->requests[at];
	struct sim_node *n = &sim->nodes[q->node];

	q->queue_seen = n->busy + n->queued;
	fifo_push(&sim->queues->to_router,
		(struct event){.at = sim->now + SIM_HOP, .request = at, .id = q->id});
}

static void reach_node(struct sim *sim, struct event e)
{
	struct sim_request *q = &sim->requests[e.request];
	struct sim_node *n = &sim->nodes[q->node];

	n->transit--;
	if (!n->alive || n->queued >= SIM_QUEUE_MOST) {
		request_lose(sim, e.request);
		return;
	}
	if (n->reject > 0 && rng_unit(&sim->chance) < n->reject) {
		q->rejected = true;
		reply_send(sim, e.request);
		return;
	}
	if (n->busy < SIM_SERVERS) {
		serve(sim, n, e.request);
		return;
	}
	q->next = SIM_NONE;
	if (n->queued++ == 0)
		n->head = e.request;
	else
		sim->requests[n->tail].next = e.request;
	n->tail = e.request;
}

static void finish(struct sim *sim, struct event e)
{
	struct sim_node *n = &sim->nodes[sim->requests[e.request].node];

	if (e.epoch != n->epoch) { /* it died meanwhile: see bury() */
		request_lose(sim, e.request);
		return;
	}
	busy_change(sim, n, -1);
	n->served += sim->now >= sim->params->warm_up;
	reply_send(sim, e.request);
	if (n->queued > 0) {
		uint32_t first = n->head;

		n->head = sim->requests[first].next;
		n->queued--;
		serve(sim, n, first);
	}
}

/* What a node that died had waiting is lost; what it was serving is, when its time comes. */
static void bury(struct sim *sim, struct sim_node *n)
{
	while (n->queued > 0) {
		uint32_t first = n->head;

		n->head = sim->requests[first].next;
		n->queued--;
		request_lose(sim, first);
	}
	busy_change(sim, n, -(int)n->busy);
}

static void reach_router(struct sim *sim, struct event e)
{
	struct sim_request *q = &sim->requests[e.request];

	if (q->open) {
		sim_router_reply(sim, &sim->routers[q->router], q);
		account(sim, q->start, sim->now - q->start, !q->rejected);
	}
	request_free(sim, e.request);
}

static void time_out(struct sim *sim, struct event e)
{
	struct sim_request *q = &sim->requests[e.request];

	if (q->id != e.id)
		return;
	q->open = false;
	sim_router_timeout(sim, &sim->routers[q->router], q->node);
	account(sim, q->start, 0, false);
	if (q->next == SIM_NONE - 1)
		request_free(sim, e.request);
}

static void play(struct sim *sim)
{
	uint32_t epochs[SIM_NODES];

	for (unsigned int i = 0; i < SIM_NODES; i++)
		epochs[i] = sim->nodes[i].epoch;
	sim->params->scenario->play(sim, sim->now);
	for (unsigned int i = 0; i < SIM_NODES; i++)
		if (sim->nodes[i].epoch != epochs[i])
			bury(sim, &sim->nodes[i]);
}

static struct kvl_report_figures figures_of(struct sim *sim, struct sim_node *n)
{
	struct kvl_report_figures f = {.time_ms = sim->now / SIM_MS + 1};

	for (unsigned int m = 0; m < KVL_METRIC_REPORTED; m++)
		f.value[m] = KVL_UNKNOWN;
	busy_change(sim, n, 0);
	f.value[KVL_METRIC_CPU] =
		fmin((double)(n->busy_ns - n->reported_ns) / ((double)SIM_REPORT * SIM_SERVERS), 1);
	f.value[KVL_METRIC_QUEUE] = n->queued;
	f.value[KVL_METRIC_IN_FLIGHT] = n->busy;
	f.flags = n->compacting ? KVL_FACT_COMPACTING : 0;
	n->reported_ns = n->busy_ns;
	return f;
}

/* Node i reports at its own moment in each interval, to all routers. */
static void report(struct sim *sim, unsigned int node)
{
	struct sim_queues *q = sim->queues;
	struct kvl_report_figures f = figures_of(sim, &sim->nodes[node]);

	for (unsigned int r = 0; r < SIM_ROUTERS; r++) {
		if (!sim->nodes[node].alive
			|| rng_unit(&sim->chance) < sim->params->scenario->report_loss)
			continue;
		if (q->late_tail - q->late_head == LATE_MOST)
			abort();
		q->late[q->late_tail++ % LATE_MOST] = (struct late_report){
			.at = sim->now + SIM_HOP + sim->params->scenario->report_delay,
			.router = (uint8_t)r,
			.node = (uint16_t)node,
			.figures = f};
	}
}

static void reports_deliver(struct sim *sim)
{
	struct sim_queues *q = sim->queues;

	while (q->late_head != q->late_tail && q->late[q->late_head % LATE_MOST].at <= sim->now) {
		const struct late_report *l = &q->late[q->late_head++ % LATE_MOST];

		sim_report(sim, &sim->routers[l->router], l->node, &l->figures);
	}
}

/* Everything periodic, every 10 ms: the scenario, reports, the routers' ticks at their own
 * offsets. */
static void periodic(struct sim *sim)
{
	const uint64_t step = sim->now / PLAY_EVERY, tick = SIM_TICK / PLAY_EVERY;
	const uint64_t interval = SIM_REPORT / PLAY_EVERY;

	play(sim);
	for (unsigned int i = 0; i < SIM_NODES; i++)
		if (step % interval == i * interval / SIM_NODES)
			report(sim, i);
	reports_deliver(sim);
	for (unsigned int r = 0; r < SIM_ROUTERS; r++)
		if (step % tick == r % tick)
			sim_router_tick(sim, &sim->routers[r]);
}

static void start(struct sim *sim, const struct sim_params *params)
{
	memset(sim, 0, sizeof(*sim));
	sim->params = params;
	sim->request_free = SIM_NONE;
	sim->arrivals.state = params->seed;
	sim->chance.state = params->seed + 1;
	sim->queues = calloc(1, sizeof(*sim->queues));
	sim->tally = calloc(1, sizeof(*sim->tally));
	if (sim->queues == NULL || sim->tally == NULL)
		abort();
	for (unsigned int i = 0; i < SIM_NODES; i++) {
		double speed = params->scenario->classes[i % 3];

		sim->nominal[i] = speed > 0 ? speed : 1;
		sim->nodes[i] = (struct sim_node){.speed = sim->nominal[i], .alive = true};
	}
	for (unsigned int r = 0; r < SIM_ROUTERS; r++)
		sim_router_start(sim, &sim->routers[r], r);
}

static void stop(struct sim *sim)
{
	for (unsigned int r = 0; r < SIM_ROUTERS; r++)
		sim_router_stop(&sim->routers[r]);
	free(sim->queues->to_node.ring);
	free(sim->queues->to_router.ring);
	free(sim->queues->timeouts.ring);
	free(sim->queues->service.list);
	free(sim->queues);
	free(sim->requests);
	free(sim->tally);
}

static void result_read(const struct sim *sim, struct sim_result *result)
{
	const struct sim_tally *t = sim->tally;
	uint64_t most = 0, all = 0, changes = 0;
	double minutes = (double)(sim->params->end - sim->params->warm_up) / (60.0 * SIM_SECOND);

	for (unsigned int i = 0; i < SIM_NODES; i++) {
		most = sim->nodes[i].served > most ? sim->nodes[i].served : most;
		all += sim->nodes[i].served;
	}
	for (unsigned int r = 0; r < SIM_ROUTERS; r++)
		changes += sim->routers[r].changes;
	*result = (struct sim_result){
		.p50_ms = tally_quantile_ms(t, 0.50),
		.p99_ms = tally_quantile_ms(t, 0.99),
		.p999_ms = tally_quantile_ms(t, 0.999),
		.mean_ms = t->sum_ns / 1e6 / (double)t->total,
		.success = 1 - (double)t->failed / (double)t->total,
		.node_share = (double)most / (double)all,
		.changes = (double)changes / SIM_ROUTERS / minutes,
		.requests = t->total,
		.events = sim->seen,
	};
}

static uint64_t earliest(const uint64_t *times, unsigned int count, unsigned int *which)
{
	*which = 0;
	for (unsigned int i = 1; i < count; i++)
		if (times[i] < times[*which])
			*which = i;
	return times[*which];
}

enum source {
	PERIODIC,
	TO_ROUTER,
	SERVICE,
	TO_NODE,
	TIMEOUT,
	ARRIVAL,
	SOURCES
};

static void loop(struct sim *sim, struct traffic *traffic)
{
	struct sim_queues *q = sim->queues;
	uint64_t periodic_at = 0;

	for (;; sim->seen++) {
		uint64_t times[SOURCES] = {
			[PERIODIC] = periodic_at,
			[TO_ROUTER] = fifo_next(&q->to_router),
			[SERVICE] = heap_next(&q->service),
			[TO_NODE] = fifo_next(&q->to_node),
			[TIMEOUT] = fifo_next(&q->timeouts),
			[ARRIVAL] = traffic->next,
		};
		unsigned int which;

		sim->now = earliest(times, SOURCES, &which);
		if (sim->now >= sim->params->end)
			return;
		switch (which) {
		case PERIODIC:
			periodic_at += PLAY_EVERY;
			periodic(sim);
			break;
		case TO_ROUTER:
			reach_router(sim, fifo_pop(&q->to_router));
			break;
		case SERVICE:
			finish(sim, heap_pop(&q->service));
			break;
		case TO_NODE:
			reach_node(sim, fifo_pop(&q->to_node));
			break;
		case TIMEOUT:
			time_out(sim, fifo_pop(&q->timeouts));
			break;
		case ARRIVAL:
			arrive(sim, traffic_row(traffic, &sim->arrivals),
				(uint64_t)rng_exponential(&sim->arrivals, (double)SIM_MEAN));
			traffic_advance(traffic, &sim->arrivals);
			break;
		}
	}
}

struct sim_params sim_defaults(void)
{
	struct sim_params params = {
		.load = 0.7,
		.seed = 1,
		.warm_up = 5 * SIM_SECOND,
		.end = 40 * SIM_SECOND,
		.scorer = kvl_scorer_defaults(SIM_REPLICATION),
		.hot = KVL_PICK_HOT,
	};

	params.scorer.health.settle_ms = SIM_TIMEOUT / SIM_MS;
	return params;
}

void sim_run(const struct sim_params *params, struct sim_result *result)
{
	static struct sim sim; /* large; one at a time */
	struct traffic traffic;
	double capacity = 0;

	start(&sim, params);
	for (unsigned int i = 0; i < SIM_NODES; i++)
		capacity += sim.nominal[i] * SIM_SERVERS / (double)SIM_MEAN;
	traffic_start(
		&traffic, params->load * capacity, params->scenario->hot_share, &sim.arrivals);
	loop(&sim, &traffic);
	result_read(&sim, result);
	stop(&sim);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include "ctrl/core/clock.h"
#include "ctrl/core/exception.h"
#include "ctrl/core/health_watch.h"
#include "ctrl/core/log.h"
#include "ctrl/core/policy.h"
#include "ctrl/core/port_watch.h"
#include "ctrl/core/reports.h"
#include "ctrl/core/router.h"
#include "ctrl/core/slow_path.h"
#include "ctrl/core/steer.h"
#include "lib/ring/lookup.h"

/* A number may be given to another id when nothing of the old one can be in flight: the longest
 * request timeout that may be configured, and a grace period. */
#define QUARANTINE_MS (60000 + 5000)

static uint32_t explore_share(const struct kvl_service_config *config)
{
	struct kvl_weights_params params = kvl_weights_defaults(config->placement.replication);

	params.min_share = config->scoring.min_share;
	return kvl_weights_explore(&params);
}

/* The nodes of a pool, by number, behind `members`; returns their number. */
static uint32_t members_list(const struct kvl_topology *t, const char *pool, uint16_t *members)
{
	uint32_t count = 0;

	for (uint32_t n = 0; n < t->node_count; n++)
		if (t->nodes[n].id[0] != '\0' && strcmp(t->nodes[n].pool, pool) == 0)
			members[count++] = n;
	return count;
}

/* With one holder another node would only miss; dsr replies do not come this way. */
static uint8_t retries_of(const struct kvl_service_config *config)
{
	if (config->placement.replication == 1 || config->mode == KVL_MODE_DSR)
		return 0;
	return (uint8_t)config->retries;
}

static void root_describe(void *context, uint16_t replica, struct kvl_root_spec *spec)
{
	static struct kvl_root_service services[KVL_POLICY_SERVICES];
	static uint16_t members[KVL_SERVICES_MAX][KVL_NODES_MAX];
	struct kvl_router *r = context;
	const struct kvl_topology *t = r->topology;

	if (replica == 0)
		kvl_nodes_describe(&r->nodes, kvl_now_ms());
	for (uint32_t i = 0; i < t->service_count; i++) {
		const struct kvl_topology_service *s = &t->services[i];
		const struct kvl_placement *placement = t->replicas[replica * t->service_count + i];

		services[i] = (struct kvl_root_service){
			.address = s->config.address,
			.port = s->config.port,
			.number = s->number,
			.mode = s->config.mode,
			.encapsulation = s->config.encapsulation,
			.gue_port = s->config.gue_port,
			/* With fewer hosts than N the list is shorter; an empty pool has none. */
			.replication = RTE_MAX(kvl_placement_preferred(placement), 1u),
			.choice = s->config.scoring.choice,
			.explore = explore_share(&s->config),
			.timeout_ms = s->config.timeout_ms,
			.keyless = s->config.keyless,
			.partial = s->config.partial,
			.retries = retries_of(&s->config),
			.hash_rule = s->config.hash_rule,
			.seed = s->config.placement.seed,
			.placement = placement,
			.members = members[i],
			.member_count = members_list(t, s->config.pool, members[i]),
		};
	}
	spec->revision = t->revision;
	spec->services = services;
	spec->service_count = t->service_count;
	spec->nodes = r->nodes.root_nodes;
	spec->node_count = r->nodes.count;
	spec->weights = r->nodes.weights;
	kvl_policy_describe(t, &r->tenants, r->worker_count, services, spec);
}

static struct kvl_topology *root_topology(void *context)
{
	return ((struct kvl_router *)context)->topology;
}

static void root_published(void *context, const struct kvl_root *root)
{
	kvl_slow_path_publish(((struct kvl_router *)context)->slow, root);
}

static void slow_services_open(struct kvl_router *r)
{
	struct kvl_endpoint list[KVL_SERVICES_MAX];

	for (uint32_t i = 0; i < r->topology->service_count; i++)
		list[i] = (struct kvl_endpoint){r->topology->services[i].config.address,
			r->topology->services[i].config.port};
	kvl_slow_path_services(r->slow, list, r->topology->service_count);
}

/* Publish, then open steering for what is new: no worker can meet a service it does not know. */
static void root_settled(void *context, uint64_t generation)
{
	struct kvl_router *r = context;

	slow_services_open(r);
	kvl_steer_open(r->ports, r->port_count, r->topology);
}

static void neighbours_changed(void *context)
{
	kvl_router_reconsider(context);
}

void kvl_router_reconsider(struct kvl_router *r)
{
	if (kvl_nodes_resolve(&r->nodes, r->neighbours))
		kvl_publisher_request(r->publisher);
}

static int ports_open(struct kvl_router *r, char *error, size_t size)
{
	const struct kvl_router_config *config = &r->config->router;
	struct kvl_port_params params = {
		.workers = config->workers,
		.mbufs = config->mbufs,
		.snat_first = config->snat_first,
		.snat_last = config->snat_last,
	};

	for (size_t i = 0; i < r->config->port_count; i++) {
		int rc = kvl_port_open(&r->ports[i], &r->config->ports[i], &params, error, size);

		r->port_count = i + 1; /* closed by stop, opened or not */
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int exceptions_new(struct kvl_router *r)
{
	r->exceptions = kvl_exceptions_new(r->ports, r->port_count, r->config->router.workers);
	return r->exceptions == NULL ? -errno : 0;
}

static int rcu_new(struct kvl_router *r)
{
	/* The workers, and the slow path's thread as the last one. */
	uint32_t readers = r->config->router.workers + 1;
	size_t size = rte_rcu_qsbr_get_memsize(readers);

	r->rcu = aligned_alloc(RTE_CACHE_LINE_SIZE, RTE_ALIGN(size, RTE_CACHE_LINE_SIZE));
	if (r->rcu == NULL)
		return -ENOMEM;
	return rte_rcu_qsbr_init(r->rcu, readers) == 0 ? 0 : -EINVAL;
}

static int workers_new(struct kvl_router *r, char *error, size_t size)
{
	const struct kvl_router_config *config = &r->config->router;
	struct kvl_lane lanes[KVL_PORTS_MAX];
	unsigned int lcore = rte_get_next_lcore(-1, 1, 0);

	for (uint16_t w = 0; w < config->workers; w++, lcore = rte_get_next_lcore(lcore, 1, 0)) {
		struct kvl_worker_params params = {
			.id = w,
			.worker_count = config->workers,
			.lcore = lcore,
			.adaptive = config->poll == KVL_POLL_ADAPTIVE,
			.node_max = config->max_nodes,
			.pending_slots = config->pending_slots,
			.snat_first = config->snat_first,
			.snat_count = (uint32_t)config->snat_last - config->snat_first + 1,
			.lanes = lanes,
			.lane_count = r->port_count,
			.rcu = r->rcu,
		};

		for (uint16_t i = 0; i < r->port_count; i++) {
			lanes[i] = kvl_port_lane(&r->ports[i], w);
			lanes[i].exception = kvl_exceptions_lane(r->exceptions, i, w);
		}
		r->workers[w] = kvl_worker_new(&params);
		if (r->workers[w] == NULL) {
			int rc = -rte_errno;

			snprintf(error, size, "worker %u: cannot set up: %s%s", w, strerror(-rc),
				rc == -EINVAL
					? ": router.pending_slots and router.workers leave no "
					  "room for a generation in router.snat_ports"
					: ": give more memory (hugepages) or lower "
					  "router.pending_slots, router.max_nodes");
			return rc;
		}
		r->sockets[w] = r->workers[w]->socket;
		r->worker_count = w + 1;
	}
	kvl_workers_connect(r->workers, r->worker_count);
	return 0;
}

static struct kvl_topology *topology_build(
	struct kvl_router *r, const struct kvl_config *config, struct kvl_diags *diags)
{
	struct kvl_topology_params params = {
		.revision = r->topology == NULL ? 1 : r->topology->revision + 1,
		.now_ms = kvl_now_ms(),
		.replica_count = r->worker_count,
		.sockets = r->sockets,
		.node_max = r->config->router.max_nodes,
		.node_numbers = r->node_numbers,
		.service_numbers = r->service_numbers,
		.former = r->topology,
	};

	return kvl_topology_new(config, &params, diags);
}

/* Numbers that a topology took which did not come about. */
static void numbers_restore(struct kvl_router *r, const struct kvl_config *config)
{
	uint64_t now = kvl_now_ms();

	for (size_t i = 0; i < config->node_count; i++) {
		uint16_t n = kvl_numbers_find(r->node_numbers, config->nodes[i].id);

		if (n != KVL_NUMBER_NONE
			&& (n >= r->topology->node_count
				|| strcmp(r->topology->nodes[n].id, config->nodes[i].id) != 0))
			kvl_numbers_release(r->node_numbers, config->nodes[i].id, now);
	}
	for (size_t i = 0; i < config->service_count; i++)
		if (kvl_topology_service(r->topology, config->services[i].name) == NULL)
			kvl_numbers_release(r->service_numbers, config->services[i].name, now);
}

static void watch_update(struct kvl_router *r)
{
	struct kvl_addr *list = calloc(r->nodes.count + 1, sizeof(*list));
	int rc = list == NULL ? -ENOMEM : 0;

	if (rc == 0)
		rc = kvl_neighbours_watch(r->neighbours, list, kvl_nodes_watched(&r->nodes, list));
	if (rc < 0)
		kvl_log(KVL_LOG_ERROR, "cannot watch the nodes' next hops: %s", strerror(-rc));
	free(list);
}

/* Ids that the new topology no longer has start their quarantine. */
static void numbers_release(struct kvl_router *r, const struct kvl_topology *old)
{
	uint64_t now = kvl_now_ms();

	for (uint32_t n = 0; n < old->node_count; n++)
		if (old->nodes[n].id[0] != '\0'
			&& (n >= r->topology->node_count || r->topology->nodes[n].id[0] == '\0'))
			kvl_numbers_release(r->node_numbers, old->nodes[n].id, now);
	for (uint32_t i = 0; i < old->service_count; i++)
		if (kvl_topology_service(r->topology, old->services[i].config.name) == NULL)
			kvl_numbers_release(r->service_numbers, old->services[i].config.name, now);
}

static void number_changed(void *context, uint16_t number)
{
	struct kvl_router *r = context;

	if (r->health != NULL)
		kvl_health_watch_follow(r->health, number);
}

static void topology_switch(
	struct kvl_router *r, const struct kvl_config *config, struct kvl_topology *t)
{
	struct kvl_topology *old = r->topology;

	r->topology = t;
	for (uint32_t i = 0; old != NULL && i < t->service_count; i++)
		t->services[i].moved = kvl_topology_moved(old, &t->services[i]);
	kvl_tenants_follow(
		&r->tenants, config->tenants, config->tenant_count, r->workers, r->worker_count);
	if (kvl_scoring_follow(
		    r->nodes.scoring, t, &r->config->health, r->config->reports.interval_ms)
		< 0)
		kvl_log(KVL_LOG_ERROR,
			"not enough memory for the scores of a new pool: its nodes stay out");
	kvl_nodes_follow(
		&r->nodes, t, r->workers, r->worker_count, kvl_now_ms(), number_changed, r);
	watch_update(r);
	kvl_nodes_resolve(&r->nodes, r->neighbours);
	if (old != NULL)
		numbers_release(r, old);
	kvl_topology_put(old);
}

static int core_new(struct kvl_router *r, struct kvl_diags *diags)
{
	const struct kvl_publisher_ops ops = {
		.describe = root_describe,
		.topology = root_topology,
		.published = root_published,
		.settled = root_settled,
		.context = r,
	};
	struct kvl_topology *t;

	r->node_numbers = kvl_numbers_new(r->config->router.max_nodes, QUARANTINE_MS);
	r->service_numbers = kvl_numbers_new(KVL_SERVICES_MAX * 4, QUARANTINE_MS);
	r->neighbours = kvl_neighbours_new(r->base, neighbours_changed, r);
	r->publisher = kvl_publisher_new(
		r->base, r->workers, r->worker_count, r->port_count, r->rcu, &ops);
	r->slow = kvl_slow_path_new(r->rcu, r->worker_count);
	if (r->slow == NULL || r->node_numbers == NULL || r->service_numbers == NULL
		|| r->neighbours == NULL || r->publisher == NULL
		|| kvl_nodes_init(&r->nodes, r->config->router.max_nodes, r->ports, r->port_count)
			   < 0)
		return -ENOMEM;
	t = topology_build(r, r->config, diags);
	if (t == NULL)
		return -errno;
	topology_switch(r, r->config, t);
	r->reports = kvl_reports_new(r);
	if (r->reports == NULL && errno != 0) {
		int rc = -errno;

		kvl_diag_add(diags, KVL_DIAG_ERROR, "reports: cannot listen on port %u: %s",
			r->config->reports.port, strerror(-rc));
		return rc;
	}
	r->health = kvl_health_watch_new(r);
	r->port_watch = kvl_port_watch_new(r);
	return r->health == NULL || r->port_watch == NULL ? -errno
							  : kvl_publisher_now(r->publisher);
}

static int workers_launch(struct kvl_router *r)
{
	for (uint16_t w = 0; w < r->worker_count; w++) {
		int rc = rte_eal_remote_launch(kvl_worker_run, r->workers[w], r->workers[w]->lcore);

		if (rc < 0)
			return rc;
		r->workers_running = true;
	}
	return 0;
}

int kvl_router_start(struct kvl_router *r, struct event_base *base, const char *config_path,
	struct kvl_config *config, char *error, size_t error_size)
{
	struct kvl_diags diags = {0};
	int rc;

	*r = (struct kvl_router){.base = base,
		.config_path = config_path,
		.config = config,
		.started_ms = kvl_now_ms()};
	kvl_source_confirmed(&r->source, r->started_ms);
	error[0] = '\0';
	rc = ports_open(r, error, error_size);
	if (rc == 0)
		rc = exceptions_new(r);
	if (rc == 0)
		rc = rcu_new(r);
	if (rc == 0)
		rc = workers_new(r, error, error_size);
	if (rc == 0)
		rc = kvl_exceptions_start(r->exceptions);
	if (rc == 0)
		rc = core_new(r, &diags);
	for (size_t i = 0; i < diags.count; i++)
		kvl_log(KVL_LOG_WARNING, "%s", diags.list[i].text);
	if (rc == 0)
		rc = workers_launch(r);
	if (rc < 0 && error[0] == '\0')
		snprintf(error, error_size, "cannot start: %s", strerror(-rc));
	/* The first roots are in place before any worker ran: steering may open at once. */
	if (rc == 0)
		root_settled(r, 1);
	return rc;
}

static void workers_stop(struct kvl_router *r)
{
	for (uint16_t w = 0; w < r->worker_count; w++)
		__atomic_store_n(&r->workers[w]->stop, true, __ATOMIC_RELAXED);
	if (r->workers_running)
		rte_eal_mp_wait_lcore();
	r->workers_running = false;
}

void kvl_router_stop(struct kvl_router *r)
{
	if (r->workers_running)
		kvl_steer_close(r->ports, r->port_count, NULL);
	workers_stop(r);
	kvl_exceptions_stop(r->exceptions);
	kvl_slow_path_free(r->slow);
	kvl_reports_free(r->reports);
	kvl_health_watch_free(r->health);
	kvl_port_watch_free(r->port_watch);
	kvl_publisher_free(r->publisher);
	kvl_neighbours_free(r->neighbours);
	kvl_nodes_free(&r->nodes);
	kvl_topology_put(r->topology);
	kvl_numbers_free(r->node_numbers);
	kvl_numbers_free(r->service_numbers);
	/* Devices give back what is in their queues before its pools go. */
	for (uint16_t i = 0; i < r->port_count; i++)
		kvl_port_stop(&r->ports[i]);
	for (uint16_t w = 0; w < r->worker_count; w++)
		kvl_worker_free(r->workers[w]);
	kvl_exceptions_free(r->exceptions);
	for (uint16_t i = 0; i < r->port_count; i++)
		kvl_port_close(&r->ports[i]);
	free(r->rcu);
	kvl_config_free(r->config);
	*r = (struct kvl_router){0};
}

static bool port_same(const struct kvl_port_config *a, const struct kvl_port_config *b)
{
	return strcmp(a->name, b->name) == 0 && strcmp(a->device, b->device) == 0
	       && strcmp(a->interface, b->interface) == 0 && strcmp(a->exception, b->exception) == 0
	       && a->mtu == b->mtu && memcmp(a->snat, b->snat, sizeof(a->snat)) == 0;
}

static bool ports_same(const struct kvl_config *a, const struct kvl_config *b)
{
	if (a->port_count != b->port_count)
		return false;
	for (size_t i = 0; i < a->port_count; i++)
		if (!port_same(&a->ports[i], &b->ports[i]))
			return false;
	return true;
}

static bool settings_same(const struct kvl_router_config *a, const struct kvl_router_config *b)
{
	return strcmp(a->control_socket, b->control_socket) == 0 && a->workers == b->workers
	       && a->pending_slots == b->pending_slots && a->snat_first == b->snat_first
	       && a->snat_last == b->snat_last && a->mbufs == b->mbufs && a->poll == b->poll
	       && a->hugepages == b->hugepages && a->max_nodes == b->max_nodes
	       && a->core_count == b->core_count
	       && memcmp(a->cores, b->cores, a->core_count * sizeof(*a->cores)) == 0;
}

/* Settings that workers and ports were built with cannot follow a reload. */
static void restart_check(
	const struct kvl_config *a, const struct kvl_config *b, struct kvl_diags *diags)
{
	if (!ports_same(a, b))
		kvl_diag_add(diags, KVL_DIAG_WARNING,
			"ports: changed, which takes a restart; the running ones are kept");
	if (a->reports.on != b->reports.on || a->reports.port != b->reports.port
		|| !kvl_addr_eq(&a->reports.address, &b->reports.address))
		kvl_diag_add(diags, KVL_DIAG_WARNING,
			"reports: address and port take a restart; keys and interval are followed");
	if (a->http.on != b->http.on || a->http.port != b->http.port
		|| !kvl_addr_eq(&a->http.address, &b->http.address))
		kvl_diag_add(diags, KVL_DIAG_WARNING,
			"http: changed, which takes a restart; what is served is kept");
	if (!settings_same(&a->router, &b->router))
		kvl_diag_add(diags, KVL_DIAG_WARNING,
			"router: changed, which takes a restart; the running values are kept");
}

/* What runs stays as it was started, whatever the new file says of it. */
static void running_keep(struct kvl_config *to, struct kvl_config *from)
{
	struct kvl_port_config *ports = to->ports;
	size_t count = to->port_count;

	to->router = from->router;
	to->http = from->http;
	to->ports = from->ports;
	to->port_count = from->port_count;
	from->ports = ports;
	from->port_count = count;
}

int kvl_router_rebuild(struct kvl_router *r, struct kvl_diags *diags)
{
	struct kvl_topology *t = topology_build(r, r->config, diags);

	if (t == NULL)
		return -errno;
	topology_switch(r, r->config, t);
	kvl_publisher_request(r->publisher);
	return 0;
}

static int reload(struct kvl_router *r, struct kvl_diags *diags)
{
	struct kvl_config *config = kvl_config_reload(r->config_path, r->config, diags);
	static struct kvl_overrides overrides; /* large */
	struct kvl_topology *t;
	bool same;

	if (config == NULL)
		return -errno;
	/* A copy: theirs stay too if the new configuration comes to nothing. */
	overrides = r->overrides;
	kvl_overrides_apply(&overrides, config, diags);
	restart_check(r->config, config, diags);
	same = kvl_topology_same(r->config, config);
	if (!same) {
		t = topology_build(r, config, diags);
		if (t == NULL) {
			int rc = -errno;

			numbers_restore(r, config);
			kvl_config_free(config);
			return rc;
		}
		/* Close steering, then retire: requests to a service that goes are the kernel's to
		 * refuse from here on. */
		kvl_steer_close(r->ports, r->port_count, t);
		topology_switch(r, config, t);
		kvl_publisher_request(r->publisher);
	}
	running_keep(config, r->config);
	kvl_config_free(r->config);
	r->config = config;
	r->overrides = overrides;
	kvl_nodes_confirm(&r->nodes, r->config);
	kvl_health_watch_configure(r->health);
	kvl_scoring_follow(
		r->nodes.scoring, r->topology, &r->config->health, r->config->reports.interval_ms);
	kvl_log(KVL_LOG_NOTICE, "reloaded %s: revision %lu, %s", r->config_path,
		(unsigned long)r->topology->revision, same ? "nothing changed" : "changed");
	return same ? 0 : 1;
}

void kvl_router_freshen(struct kvl_router *r, uint64_t now_ms)
{
	bool stale = kvl_source_stale(&r->source, r->config->health.topology_fresh_ms, now_ms);

	if (stale == r->topology_stale)
		return;
	r->topology_stale = stale;
	kvl_scoring_confidence(r->nodes.scoring, stale ? KVL_CONFIDENCE_STALE : 1);
	kvl_publisher_request(r->publisher);
	if (stale)
		kvl_log(KVL_LOG_WARNING,
			"the topology is stale: the newest reload of %s failed; revision %lu stays "
			"in force",
			r->config_path, (unsigned long)r->topology->revision);
	else
		kvl_log(KVL_LOG_NOTICE, "the topology is confirmed again");
}

int kvl_router_reload(struct kvl_router *r, struct kvl_diags *diags)
{
	int rc = reload(r, diags);

	if (rc < 0)
		kvl_source_failed(&r->source, kvl_now_ms());
	else
		kvl_source_confirmed(&r->source, kvl_now_ms());
	kvl_router_freshen(r, kvl_now_ms());
	return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <rte_malloc.h>

#include "ctrl/core/exception.h"
#include "ctrl/core/log.h"

#define SEGMENTS_MAX KVL_EXCEPTION_LENT
#define NICENESS     5

/*
 * A worker cannot wake the thread, so it looks by itself: often while there is something to do, and
 * for IDLE_TURNS behind it, then each IDLE_MAX_US, which is what the first ping after silence pays.
 */
#define IDLE_TURNS  256
#define IDLE_MIN_US 50
#define IDLE_MAX_US 1000

struct port_path {
	int fd;          /* the port's; -1 once the interface has gone */
	const char *tap; /* its name */
	uint16_t owner;  /* worker that sends the kernel's frames */
	struct rte_mempool *pool;
	struct rte_mbuf *spare; /* to read into */
	struct kvl_exception lanes[KVL_WORKERS_MAX];
};

struct kvl_exceptions {
	struct port_path *ports[KVL_PORTS_MAX]; /* by the port's number; NULL: has none */
	uint16_t port_count, worker_count;
	bool any;
	bool running;
	bool stop; /* thread: ro */
	pthread_t thread;
	struct kvl_exception_counters counters;
};

static void count(uint64_t *counter)
{
	__atomic_store_n(counter, *counter + 1, __ATOMIC_RELAXED);
}

/* ---- the thread ---- */

static void port_gone(struct port_path *p)
{
	kvl_log(KVL_LOG_ERROR,
		"interface %s has gone: what is the kernel's is dropped there until a restart",
		p->tap);
	p->fd = -1;
}

static void frame_write(struct kvl_exceptions *x, struct port_path *p, const struct rte_mbuf *mbuf)
{
	struct iovec parts[SEGMENTS_MAX];
	int n = 0;

	for (; mbuf != NULL && n < (int)SEGMENTS_MAX; mbuf = mbuf->next)
		parts[n++] = (struct iovec){rte_pktmbuf_mtod(mbuf, void *), mbuf->data_len};
	if (p->fd >= 0 && writev(p->fd, parts, n) >= 0) {
		count(&x->counters.written);
		return;
	}
	count(&x->counters.refused);
	if (p->fd >= 0 && errno == EBADFD)
		port_gone(p);
}

static uint32_t frames_write(struct kvl_exceptions *x, struct port_path *p, struct kvl_exception *e)
{
	struct rte_mbuf *mbufs[KVL_BURST];
	uint32_t n = rte_ring_sc_dequeue_burst(e->out, (void **)mbufs, KVL_BURST, NULL);

	for (uint32_t i = 0; i < n; i++)
		frame_write(x, p, mbufs[i]);
	/* Cannot fail: the ring holds as many as may be lent. */
	rte_ring_sp_enqueue_bulk(e->back, (void **)mbufs, n, NULL);
	return n;
}

/* Length of the frame read; 0: there is none. */
static size_t frame_read(struct port_path *p)
{
	ssize_t n = read(p->fd, rte_pktmbuf_mtod(p->spare, void *), rte_pktmbuf_tailroom(p->spare));

	if (n < 0 && errno == EBADFD)
		port_gone(p);
	return n > 0 ? (size_t)n : 0;
}

/* As long as there is room behind it; the rest waits in the tap's queue. */
static uint32_t frames_read(struct kvl_exceptions *x, struct port_path *p)
{
	struct kvl_exception *e = &p->lanes[p->owner];
	uint32_t n = 0;
	size_t len;

	for (; n < KVL_BURST && p->fd >= 0 && !rte_ring_full(e->in); n++) {
		if (p->spare == NULL)
			p->spare = rte_pktmbuf_alloc(p->pool);
		if (p->spare == NULL)
			break;
		len = frame_read(p);
		if (len == 0)
			break;
		p->spare->data_len = len;
		p->spare->pkt_len = len;
		count(&x->counters.read);
		rte_ring_sp_enqueue(e->in, p->spare);
		p->spare = NULL;
	}
	return n;
}

static uint32_t ports_work(struct kvl_exceptions *x)
{
	uint32_t moved = 0;

	for (uint16_t i = 0; i < x->port_count; i++) {
		struct port_path *p = x->ports[i];

		for (uint16_t w = 0; p != NULL && w < x->worker_count; w++)
			moved += frames_write(x, p, &p->lanes[w]);
		if (p != NULL)
			moved += frames_read(x, p);
	}
	return moved;
}

/* Until a tap has something, or the time is over. */
static void wait_for_work(const struct kvl_exceptions *x, long us)
{
	const struct timespec time = {.tv_nsec = us * 1000};
	struct pollfd fds[KVL_PORTS_MAX];
	nfds_t n = 0;

	for (uint16_t i = 0; i < x->port_count; i++)
		if (x->ports[i] != NULL && x->ports[i]->fd >= 0
			&& !rte_ring_full(x->ports[i]->lanes[x->ports[i]->owner].in))
			fds[n++] = (struct pollfd){.fd = x->ports[i]->fd, .events = POLLIN};
	ppoll(fds, n, &time, NULL);
}

static void *thread_run(void *arg)
{
	struct kvl_exceptions *x = arg;
	uint32_t idle = 0;

	setpriority(PRIO_PROCESS, 0, NICENESS); /* of this thread */
	while (!__atomic_load_n(&x->stop, __ATOMIC_RELAXED)) {
		idle = ports_work(x) != 0 ? 0 : idle + 1;
		if (idle != 0)
			wait_for_work(x, idle < IDLE_TURNS ? IDLE_MIN_US : IDLE_MAX_US);
	}
	return NULL;
}

/* ---- life ---- */

static struct rte_ring *ring_new(const char *kind, uint16_t port, uint16_t worker, uint32_t size)
{
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "kvl_%s_%u_%u", kind, port, worker);
	return rte_ring_create(
		name, size, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
}

static int lane_open(struct port_path *p, uint16_t port, uint16_t worker)
{
	struct kvl_exception *e = &p->lanes[worker];

	e->out = ring_new("out", port, worker, KVL_EXCEPTION_LENT);
	e->back = ring_new("back", port, worker, KVL_EXCEPTION_LENT);
	if (worker == p->owner)
		e->in = ring_new("in", port, worker, KVL_EXCEPTION_IN);
	return e->out == NULL || e->back == NULL || (worker == p->owner && e->in == NULL) ? -ENOMEM
											  : 0;
}

static int path_open(struct kvl_exceptions *x, const struct kvl_port *port, uint16_t number)
{
	struct port_path *p = rte_zmalloc("kvl_exception", sizeof(*p), RTE_CACHE_LINE_SIZE);
	char name[RTE_MEMPOOL_NAMESIZE];
	int rc = 0;

	if (p == NULL)
		return -ENOMEM;
	x->ports[number] = p;
	x->any = true;
	p->fd = port->tap_fd;
	p->tap = port->config.exception;
	p->owner = number % x->worker_count;
	snprintf(name, sizeof(name), "kvl_exception_%u", number);
	p->pool = kvl_pool_new(name, KVL_EXCEPTION_MBUFS, port->frames.room, SOCKET_ID_ANY);
	if (p->pool == NULL)
		return -ENOMEM;
	for (uint16_t w = 0; rc == 0 && w < x->worker_count; w++)
		rc = lane_open(p, number, w);
	return rc;
}

struct kvl_exceptions *kvl_exceptions_new(
	const struct kvl_port *ports, uint16_t port_count, uint16_t worker_count)
{
	struct kvl_exceptions *x = calloc(1, sizeof(*x));
	int rc = 0;

	if (x == NULL)
		return NULL;
	x->port_count = port_count;
	x->worker_count = worker_count;
	for (uint16_t i = 0; rc == 0 && i < port_count; i++)
		if (ports[i].tap_fd >= 0)
			rc = path_open(x, &ports[i], i);
	if (rc == 0)
		return x;
	kvl_exceptions_stop(x);
	kvl_exceptions_free(x);
	errno = -rc;
	return NULL;
}

struct kvl_exception *kvl_exceptions_lane(struct kvl_exceptions *x, uint16_t port, uint16_t worker)
{
	return x->ports[port] == NULL ? NULL : &x->ports[port]->lanes[worker];
}

int kvl_exceptions_start(struct kvl_exceptions *x)
{
	int rc;

	if (!x->any)
		return 0;
	rc = -pthread_create(&x->thread, NULL, thread_run, x);
	x->running = rc == 0;
	return rc;
}

static void ring_empty(struct rte_ring *ring)
{
	void *mbuf;

	while (ring != NULL && rte_ring_sc_dequeue(ring, &mbuf) == 0)
		rte_pktmbuf_free(mbuf);
	rte_ring_free(ring);
}

static void path_empty(struct port_path *p, uint16_t worker_count)
{
	for (uint16_t w = 0; w < worker_count; w++) {
		ring_empty(p->lanes[w].out);
		ring_empty(p->lanes[w].back);
		ring_empty(p->lanes[w].in);
	}
	rte_pktmbuf_free(p->spare);
}

void kvl_exceptions_stop(struct kvl_exceptions *x)
{
	if (x == NULL)
		return;
	__atomic_store_n(&x->stop, true, __ATOMIC_RELAXED);
	if (x->running)
		pthread_join(x->thread, NULL);
	for (uint16_t i = 0; i < x->port_count; i++)
		if (x->ports[i] != NULL)
			path_empty(x->ports[i], x->worker_count);
}

void kvl_exceptions_free(struct kvl_exceptions *x)
{
	if (x == NULL)
		return;
	for (uint16_t i = 0; i < x->port_count; i++) {
		if (x->ports[i] == NULL)
			continue;
		rte_mempool_free(x->ports[i]->pool);
		rte_free(x->ports[i]);
	}
	free(x);
}

void kvl_exceptions_counters(
	const struct kvl_exceptions *x, struct kvl_exception_counters *counters)
{
#define X(name) counters->name = __atomic_load_n(&x->counters.name, __ATOMIC_RELAXED);
	KVL_EXCEPTION_COUNTERS(X)
#undef X
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/core/probe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>

#include "ctrl/core/probe_socket.h"
#include "lib/proto/frame.h"

#define WINDOW        KVL_PROBE_IN_FLIGHT
#define DATAGRAMS     64  /* received in one turn of the loop */
#define QUEUE_A_BATCH 128 /* one probe a tick, and one a millisecond for each so many that wait */
#define LATE_TICKS    8   /* a late tick makes up for no more than these */

_Static_assert((WINDOW & (WINDOW - 1)) == 0 && WINDOW < 65536, "request ids wrap with it");

static const char command[] = "version\r\n";
static const char answer[] = "VERSION ";

struct datagram {
	struct kvl_frame frame;
	char text[64];
};

/* A probe that was sent. Request ids count up, so they are in the order of time: id % WINDOW is the
 * place, and the oldest times out first. */
struct flight {
	uint16_t id;
	uint16_t node;
	bool open; /* neither answered nor given up */
	struct kvl_endpoint peer;
	uint64_t sent_us;
};

enum node_state {
	NODE_IDLE,
	NODE_QUEUED,
	NODE_OUT,
};

struct node {
	enum node_state state;
	uint16_t id; /* when out */
	struct kvl_endpoint peer;
};

struct family {
	int family;
	int fd; /* -1 = not opened yet */
	struct event *readable;
	struct kvl_probes *probes;
};

struct kvl_probes {
	struct event_base *base;
	struct family families[2]; /* IPv4, IPv6 */
	struct event *tick, *expire;
	kvl_probe_done done;
	void *ctx;
	uint32_t timeout_ms;
	uint64_t ticked_us;  /* the last tick */
	uint16_t head, tail; /* ids: next to be given; oldest that may be open */
	struct flight flights[WINDOW];
	size_t queued;
	uint16_t queue[KVL_PROBE_NODES_MAX];
	struct node nodes[KVL_PROBE_NODES_MAX];
};

static uint64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

static void start_timer(struct event *timer, uint64_t us)
{
	struct timeval tv = {.tv_sec = (time_t)(us / 1000000), .tv_usec = (long)(us % 1000000)};

	evtimer_add(timer, &tv);
}

/* ---- the window ---- */

static struct flight *find_flight(struct kvl_probes *p, uint16_t id)
{
	struct flight *f = &p->flights[id % WINDOW];

	return f->open && f->id == id ? f : NULL;
}

static void forget_closed(struct kvl_probes *p)
{
	while (p->tail != p->head && !p->flights[p->tail % WINDOW].open)
		p->tail++;
}

static void end_flight(struct kvl_probes *p, struct flight *f, bool ok)
{
	uint64_t rtt = now_us() - f->sent_us;

	f->open = false;
	p->nodes[f->node].state = NODE_IDLE;
	forget_closed(p);
	p->done(p->ctx, f->node, ok, !ok ? 0 : rtt < UINT32_MAX ? (uint32_t)rtt : UINT32_MAX);
}

static void on_expire(evutil_socket_t fd, short what, void *ctx)
{
	struct kvl_probes *p = ctx;
	uint64_t now = now_us(), limit = (uint64_t)p->timeout_ms * 1000;
	struct flight *f;

	/* done() may cancel and close others: the tail is looked at anew each time. */
	for (forget_closed(p); p->tail != p->head; forget_closed(p)) {
		f = &p->flights[p->tail % WINDOW];
		if (f->sent_us + limit > now) {
			start_timer(p->expire, f->sent_us + limit - now);
			return;
		}
		end_flight(p, f, false);
	}
}

/* ---- receiving ---- */

static bool same_peer(const struct kvl_endpoint *a, const struct kvl_endpoint *b)
{
	return a->port == b->port && kvl_addr_eq(&a->address, &b->address);
}

static void take_answer(
	struct kvl_probes *p, const struct datagram *d, size_t len, const struct kvl_endpoint *from)
{
	size_t text_len = len - sizeof(d->frame);
	struct flight *f;

	if (len < sizeof(d->frame))
		return;
	f = find_flight(p, ntohs(d->frame.id));
	if (f == NULL || !same_peer(&f->peer, from))
		return; /* late, or not of the node's making */
	end_flight(p, f,
		text_len >= sizeof(answer) - 1 && memcmp(d->text, answer, sizeof(answer) - 1) == 0);
}

/* The error's quote names the probe; a quote too short for that means all to that peer. */
static void take_error(
	struct kvl_probes *p, const struct datagram *d, size_t len, const struct kvl_endpoint *to)
{
	struct flight *f = NULL;

	if (len >= sizeof(d->frame.id)) {
		f = find_flight(p, ntohs(d->frame.id));
		if (f != NULL && same_peer(&f->peer, to))
			end_flight(p, f, false);
		return;
	}
	for (uint16_t id = p->tail, end = p->head; id != end; id++) {
		f = find_flight(p, id);
		if (f != NULL && same_peer(&f->peer, to))
			end_flight(p, f, false);
	}
}

/* Must be emptied whenever the socket is ready: a queued error keeps it so. */
static void take_errors(struct family *fam)
{
	struct kvl_endpoint peer;
	struct datagram d;
	ssize_t n;

	while ((n = kvl_probe_receive_error(fam->fd, &d, sizeof(d), &peer)) >= 0)
		take_error(fam->probes, &d, (size_t)n, &peer);
}

static void on_readable(evutil_socket_t fd, short what, void *ctx)
{
	struct family *fam = ctx;
	struct kvl_endpoint peer;
	struct datagram d;
	ssize_t n;

	take_errors(fam);
	for (int i = 0; i < DATAGRAMS; i++) {
		n = kvl_probe_receive(fd, &d, sizeof(d), &peer);
		if (n == -EAGAIN)
			return;
		if (n >= 0)
			take_answer(fam->probes, &d, (size_t)n, &peer);
		/* Else the socket's pending error, whose details take_errors() has had or will. */
	}
}

/* ---- sending ---- */

static int send_frame(struct family *fam, uint16_t id, const struct kvl_endpoint *to)
{
	struct datagram d = {.frame = {.id = htons(id), .total = htons(1)}};
	size_t len = sizeof(d.frame) + sizeof(command) - 1;
	int rc;

	memcpy(d.text, command, sizeof(command) - 1);
	rc = kvl_probe_send(fam->fd, to, &d, len);
	if (rc == 0 || rc == -EAGAIN || rc == -ENOBUFS)
		return rc;
	/* It may be the socket's pending error, about another node: that is now taken. */
	return kvl_probe_send(fam->fd, to, &d, len);
}

static struct family *family_of(struct kvl_probes *p, const struct kvl_addr *addr)
{
	return &p->families[kvl_addr_is_v4(addr) ? 0 : 1];
}

/* False: this machine is out of buffers, which says nothing of the node. */
static bool send_probe(struct kvl_probes *p, uint16_t number)
{
	struct node *node = &p->nodes[number];
	struct flight *f = &p->flights[p->head % WINDOW];
	int rc;

	*f = (struct flight){.id = p->head,
		.node = number,
		.open = true,
		.peer = node->peer,
		.sent_us = now_us()};
	rc = send_frame(family_of(p, &node->peer.address), f->id, &f->peer);
	if (rc == -EAGAIN || rc == -ENOBUFS) {
		f->open = false;
		return false;
	}
	node->state = NODE_OUT;
	node->id = p->head++;
	if (rc < 0)
		end_flight(p, f, false);
	else if (!evtimer_pending(p->expire, NULL))
		start_timer(p->expire, (uint64_t)p->timeout_ms * 1000);
	return true;
}

/* True when the first of the queue was sent. It leaves the queue before done() can be called. */
static bool send_first(struct kvl_probes *p)
{
	uint16_t number = p->queue[0];

	if ((uint16_t)(p->head - p->tail) >= WINDOW)
		return false;
	memmove(p->queue, p->queue + 1, --p->queued * sizeof(p->queue[0]));
	if (send_probe(p, number))
		return true;
	memmove(p->queue + 1, p->queue, p->queued++ * sizeof(p->queue[0]));
	p->queue[0] = number;
	return false;
}

static void on_tick(evutil_socket_t fd, short what, void *ctx)
{
	struct kvl_probes *p = ctx;
	uint64_t now = now_us(), ticks = (now - p->ticked_us) / (KVL_PROBE_TICK_MS * 1000);
	/* Where timers are coarse a tick takes 4 ms. */
	size_t batch = 1 + p->queued * (ticks < LATE_TICKS ? ticks : LATE_TICKS) / QUEUE_A_BATCH;

	p->ticked_us = now;
	while (batch-- > 0 && p->queued > 0 && send_first(p))
		continue;
	if (p->queued > 0)
		start_timer(p->tick, KVL_PROBE_TICK_MS * 1000);
}

static int open_family(struct kvl_probes *p, struct family *fam)
{
	int fd;

	if (fam->fd >= 0)
		return 0;
	fd = kvl_probe_socket(fam->family);
	if (fd < 0)
		return fd;
	fam->readable = event_new(p->base, fd, EV_READ | EV_PERSIST, on_readable, fam);
	if (fam->readable == NULL || event_add(fam->readable, NULL) < 0) {
		if (fam->readable != NULL)
			event_free(fam->readable);
		fam->readable = NULL;
		close(fd);
		return -ENOMEM;
	}
	fam->fd = fd;
	return 0;
}

int kvl_probes_start(
	struct kvl_probes *p, uint16_t number, const struct kvl_addr *addr, uint16_t port)
{
	struct node *node;
	int rc;

	if (number >= KVL_PROBE_NODES_MAX || port == 0)
		return -EINVAL;
	node = &p->nodes[number];
	if (node->state != NODE_IDLE)
		return -EALREADY;
	rc = open_family(p, family_of(p, addr));
	if (rc < 0)
		return rc;
	node->state = NODE_QUEUED;
	node->peer = (struct kvl_endpoint){.address = *addr, .port = port};
	p->queue[p->queued++] = number;
	if (!evtimer_pending(p->tick, NULL)) {
		p->ticked_us = now_us();
		start_timer(p->tick, KVL_PROBE_TICK_MS * 1000);
	}
	return 0;
}

static void leave_queue(struct kvl_probes *p, uint16_t number)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->queued; i++) {
		if (p->queue[i] != number)
			p->queue[kept++] = p->queue[i];
	}
	p->queued = kept;
}

void kvl_probes_cancel(struct kvl_probes *p, uint16_t number)
{
	struct node *node;

	if (number >= KVL_PROBE_NODES_MAX)
		return;
	node = &p->nodes[number];
	if (node->state == NODE_QUEUED)
		leave_queue(p, number);
	else if (node->state == NODE_OUT)
		p->flights[node->id % WINDOW].open = false;
	node->state = NODE_IDLE;
	forget_closed(p);
}

/* ---- life ---- */

void kvl_probes_set_timeout(struct kvl_probes *p, uint32_t timeout_ms)
{
	p->timeout_ms = timeout_ms;
}

struct kvl_probes *kvl_probes_new(
	struct event_base *base, uint32_t timeout_ms, kvl_probe_done done, void *ctx)
{
	struct kvl_probes *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return NULL;
	p->base = base;
	p->families[0] = (struct family){.family = AF_INET, .fd = -1, .probes = p};
	p->families[1] = (struct family){.family = AF_INET6, .fd = -1, .probes = p};
	p->timeout_ms = timeout_ms;
	p->done = done;
	p->ctx = ctx;
	p->tick = evtimer_new(base, on_tick, p);
	p->expire = evtimer_new(base, on_expire, p);
	if (p->tick == NULL || p->expire == NULL) {
		kvl_probes_free(p);
		errno = ENOMEM;
		return NULL;
	}
	return p;
}

void kvl_probes_free(struct kvl_probes *p)
{
	if (p == NULL)
		return;
	for (int i = 0; i < 2; i++) {
		if (p->families[i].readable != NULL)
			event_free(p->families[i].readable);
		if (p->families[i].fd >= 0)
			close(p->families[i].fd);
	}
	if (p->tick != NULL)
		event_free(p->tick);
	if (p->expire != NULL)
		event_free(p->expire);
	free(p);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/event.h>
#include <rte_byteorder.h>

#include "ctrl/core/clock.h"
#include "ctrl/core/log.h"
#include "ctrl/core/slow_inside.h"
#include "lib/proto/reply.h"
#include "lib/proto/request.h"

#define RECEIVE_BURST  32 /* datagrams a socket and turn, so that one cannot hold up the others */
#define SOCKET_BUFFER  (4 << 20)
#define EXPIRE_TICK_MS 20

/* What the control core tells the thread; by value through a pipe. fd -1: end. */
struct command {
	int fd;
	bool close;
};

bool kvl_slow_send(const struct kvl_slow_path *s, int fd, const struct kvl_endpoint *to, size_t len)
{
	union kvl_sockaddr address;
	socklen_t address_len = kvl_sockaddr_write(to, &address);

	return sendto(fd, s->datagram, len, MSG_DONTWAIT, &address.sa, address_len) >= 0;
}

bool kvl_slow_bytes_check(struct kvl_slow_path *s, const struct kvl_endpoint *client,
	uint16_t service, const struct kvl_client_terms *terms, size_t len)
{
	if (kvl_slow_guard_bytes(&s->guard, &client->address, service, terms, len))
		return true;
	kvl_slow_count(&s->counters.drop_amplification);
	return false;
}

/* Counts, and returns false, when the source may not ask. */
static bool client_check(struct kvl_slow_path *s, const struct kvl_root *root,
	const struct kvl_root_service *service, const struct kvl_endpoint *client, size_t len)
{
	enum kvl_drop why;

	s->service = service->number;
	why = kvl_slow_guard_request(&s->guard, root, service, &client->address, len, &s->terms);
	if (why == KVL_DROP_COUNT)
		return true;
	kvl_slow_count(why == KVL_DROP_CLIENT_DENIED ? &s->counters.drop_client_denied
						     : &s->counters.drop_client_rate);
	return false;
}

static void answer(struct kvl_slow_path *s, int fd, const struct kvl_endpoint *client,
	enum kvl_verdict verdict, const struct kvl_request *request, size_t len)
{
	size_t n = kvl_request_answer(verdict, request, s->datagram, len, s->datagram);

	if (n == 0) {
		kvl_slow_count(&s->counters.drop_silent);
		return;
	}
	if (!kvl_slow_bytes_check(s, client, s->service, &s->terms, n))
		return;
	kvl_slow_count(&s->counters.answered);
	kvl_slow_send(s, fd, client, n);
}

/* A request has ended without a reply: its client is told, as on the fast path. */
static void unanswered(struct kvl_slow_path *s, const struct kvl_slow_request *r)
{
	const enum kvl_verdict why = r->heard ? KVL_REQUEST_REPLY_HUGE : KVL_REQUEST_NO_REPLY;
	const struct kvl_frame frame = {.id = r->client_id, .total = rte_cpu_to_be_16(1)};
	size_t len;

	if (r->quiet || r->seen.total != 0)
		return;
	memcpy(s->datagram, &frame, sizeof(frame));
	len = KVL_FRAME_LEN + kvl_echo_answer(why, &r->echo, s->datagram + KVL_FRAME_LEN);
	if (!kvl_slow_bytes_check(s, &r->client, r->service, &r->terms, len))
		return;
	kvl_slow_count(&s->counters.told);
	kvl_slow_send(s, r->service_fd, &r->client, len);
}

/* Under a fresh id, to the node; the client's own id comes back with the reply. */
static void request_forward(struct kvl_slow_path *s, int fd, const struct kvl_endpoint *client,
	const struct kvl_root *root, const struct kvl_root_service *service, uint16_t number,
	const struct kvl_request *request, size_t len)
{
	const struct kvl_root_node *node = &kvl_root_nodes(root)[number];
	struct kvl_frame *frame = (void *)s->datagram;
	struct kvl_slow_request *r;
	uint16_t id;

	r = kvl_slow_table_take(&s->table, number, request->flags & KVL_REQ_QUIET, &id);
	if (r == NULL) {
		answer(s, fd, client, KVL_REQUEST_TABLE_FULL, request, len);
		return;
	}
	r->service_fd = fd;
	r->client = *client;
	r->client_id = frame->id;
	r->echo = kvl_command_echo(request, s->datagram + KVL_FRAME_LEN);
	r->service = s->service;
	r->terms = s->terms;
	/* As on the fast path: errors of a quiet request come at once or not at all. */
	r->deadline_ms =
		kvl_now_ms()
		+ (r->quiet && service->timeout_ms > KVL_SLOW_QUIET_MS ? KVL_SLOW_QUIET_MS
								       : service->timeout_ms);
	r->asked = (struct kvl_endpoint){.address = node->address, .port = node->port};
	frame->id = rte_cpu_to_be_16(id);
	if (!kvl_slow_send(s, s->node_fds[kvl_addr_family(&node->address)], &r->asked, len)) {
		kvl_slow_count(&s->counters.drop_send);
		unanswered(s, r);
		kvl_slow_table_release(&s->table, r);
		return;
	}
	kvl_slow_count(&s->counters.forwarded);
}

static void request_take(struct kvl_slow_path *s, int fd, const struct kvl_endpoint *own,
	const struct kvl_endpoint *client, size_t len)
{
	const struct kvl_root *root = __atomic_load_n(&s->root, __ATOMIC_ACQUIRE);
	const struct kvl_root_service *service =
		kvl_root_service_at(root, &own->address, own->port);
	struct kvl_request request = {0};
	enum kvl_verdict verdict;
	uint16_t number;

	kvl_slow_count(&s->counters.received);
	if (service == NULL) {
		kvl_slow_count(&s->counters.drop_no_service);
		return;
	}
	if (kvl_root_is_server(root, &client->address, client->port, own->port)) {
		kvl_slow_count(&s->counters.drop_reflection);
		return;
	}
	if (!client_check(s, root, service, client, len))
		return;
	verdict = kvl_request_parse(s->datagram, len, &request);
	if (verdict == KVL_REQUEST_PROXY_TOKEN) {
		kvl_slow_hints_take(&request, s->datagram, len);
		verdict = KVL_REQUEST_OK;
	}
	/* In mode dsr smaller ones are not taken apart either. */
	if (service->mode == KVL_MODE_NAT
		&& (verdict == KVL_REQUEST_MULTI_KEY || verdict == KVL_REQUEST_MULTI_COMMAND)) {
		if (kvl_slow_take_apart(s, fd, client, service, len))
			return;
		verdict = KVL_REQUEST_TABLE_FULL;
		request.flags &= ~KVL_REQ_QUIET; /* a later command may be waited for */
	}
	if (verdict != KVL_REQUEST_OK) {
		answer(s, fd, client, verdict, &request, len);
		return;
	}
	verdict = kvl_slow_node(s, root, &service, s->datagram, &request, &number);
	if (verdict != KVL_REQUEST_OK)
		answer(s, fd, client, verdict, &request, len);
	else
		request_forward(s, fd, client, root, service, number, &request, len);
}

static struct kvl_endpoint socket_endpoint(int fd)
{
	struct kvl_endpoint endpoint = {0};
	union kvl_sockaddr own = {0};
	socklen_t len = sizeof(own);

	getsockname(fd, &own.sa, &len);
	kvl_sockaddr_read(&own.sa, &endpoint);
	return endpoint;
}

/* Bytes received into s->datagram, or a negative number. */
static ssize_t datagram_receive(struct kvl_slow_path *s, int fd, struct kvl_endpoint *from)
{
	union kvl_sockaddr address = {0};
	socklen_t address_len = sizeof(address);
	ssize_t len = recvfrom(
		fd, s->datagram, sizeof(s->datagram), MSG_DONTWAIT, &address.sa, &address_len);

	return len < 0 || kvl_sockaddr_read(&address.sa, from) < 0 ? -1 : len;
}

static void service_readable(evutil_socket_t fd, short what, void *arg)
{
	struct kvl_slow_path *s = arg;
	struct kvl_endpoint own = socket_endpoint(fd);

	/* Online while a root is in use; waiting for datagrams holds up no reclamation. */
	rte_rcu_qsbr_thread_online(s->rcu, s->reader);
	for (int i = 0; i < RECEIVE_BURST; i++) {
		struct kvl_endpoint client;
		ssize_t len = datagram_receive(s, fd, &client);

		if (len < 0)
			break;
		request_take(s, fd, &own, &client, (size_t)len);
	}
	rte_rcu_qsbr_thread_offline(s->rcu, s->reader);
}

static uint64_t *reply_check(
	struct kvl_slow_path *s, const struct kvl_slow_request *r, const struct kvl_endpoint *from)
{
	if (!r->active)
		return &s->counters.drop_reply_late;
	if (!kvl_endpoint_eq(from, &r->asked))
		return &s->counters.drop_reply_source;
	return NULL;
}

static void reply_take(struct kvl_slow_path *s, const struct kvl_endpoint *from, size_t len)
{
	struct kvl_frame *frame = (void *)s->datagram;
	struct kvl_slow_request *r;
	enum kvl_sequence_verdict seen;
	struct kvl_reply reply;
	uint64_t *drop;

	if (kvl_reply_parse(s->datagram, len, &reply) < 0) {
		kvl_slow_count(&s->counters.drop_reply_frame);
		return;
	}
	r = &s->table.requests[reply.id];
	drop = reply_check(s, r, from);
	if (drop != NULL) {
		kvl_slow_count(drop);
		return;
	}
	seen = kvl_sequences_add(&r->seen, &s->table.sequences, reply.sequence, reply.total);
	r->heard |= seen == KVL_SEQUENCE_TOTAL;
	if (seen == KVL_SEQUENCE_DUPLICATE || seen == KVL_SEQUENCE_TOTAL) {
		kvl_slow_count(seen == KVL_SEQUENCE_DUPLICATE ? &s->counters.drop_reply_duplicate
							      : &s->counters.drop_reply_total);
		return;
	}
	if (r->split != NULL) {
		kvl_slow_part_reply(s, r, &reply, len, seen == KVL_SEQUENCE_LAST);
		return;
	}
	frame->id = r->client_id;
	if (kvl_slow_bytes_check(s, &r->client, r->service, &r->terms, len)) {
		kvl_slow_send(s, r->service_fd, &r->client, len);
		kvl_slow_count(&s->counters.replies);
	}
	if (seen == KVL_SEQUENCE_LAST)
		kvl_slow_table_release(&s->table, r);
}

static void node_readable(evutil_socket_t fd, short what, void *arg)
{
	struct kvl_slow_path *s = arg;

	/* A reply to a part may bring the next question. */
	rte_rcu_qsbr_thread_online(s->rcu, s->reader);
	for (int i = 0; i < RECEIVE_BURST; i++) {
		struct kvl_endpoint from;
		ssize_t len = datagram_receive(s, fd, &from);

		if (len < 0)
			break;
		reply_take(s, &from, (size_t)len);
	}
	rte_rcu_qsbr_thread_offline(s->rcu, s->reader);
}

/* All in flight lie between the oldest id and the next; they differ in how long they may take. */
static void expire(evutil_socket_t fd, short what, void *arg)
{
	struct kvl_slow_path *s = arg;
	uint64_t now = kvl_now_ms();

	if (kvl_slow_table_oldest(&s->table) == NULL)
		return;
	rte_rcu_qsbr_thread_online(s->rcu, s->reader);
	for (uint16_t id = s->table.oldest; id != s->table.next; id++) {
		struct kvl_slow_request *r = &s->table.requests[id];

		if (!r->active || r->deadline_ms > now)
			continue;
		if (r->split != NULL) {
			kvl_slow_count(&s->counters.timeouts);
			kvl_slow_part_end(s, r, false);
			continue;
		}
		kvl_slow_count(r->quiet ? &s->counters.quiet_expired : &s->counters.timeouts);
		unanswered(s, r);
		kvl_slow_table_release(&s->table, r);
	}
	rte_rcu_qsbr_thread_offline(s->rcu, s->reader);
}

static void service_add(struct kvl_slow_path *s, int fd)
{
	struct event *event = event_new(s->base, fd, EV_READ | EV_PERSIST, service_readable, s);

	if (event == NULL || s->event_count == KVL_SERVICES_MAX)
		return;
	event_add(event, NULL);
	s->events[s->event_count++] = event;
}

static void service_remove(struct kvl_slow_path *s, int fd)
{
	for (unsigned int i = 0; i < s->event_count; i++) {
		if (event_get_fd(s->events[i]) != fd)
			continue;
		event_free(s->events[i]);
		s->events[i] = s->events[--s->event_count];
	}
	/* Replies under way to it have nowhere to leave by. */
	for (uint32_t id = 0; id < KVL_SLOW_IDS; id++)
		if (s->table.requests[id].active && s->table.requests[id].service_fd == fd)
			kvl_slow_table_release(&s->table, &s->table.requests[id]);
	for (unsigned int i = 0; i < KVL_SLOW_SPLITS; i++)
		if (s->splits[i].active && s->splits[i].service_fd == fd)
			kvl_slow_split_drop(&s->splits[i]);
	close(fd);
}

static void command_readable(evutil_socket_t fd, short what, void *arg)
{
	struct kvl_slow_path *s = arg;
	struct command command;

	if (read(fd, &command, sizeof(command)) != sizeof(command) || command.fd < 0)
		event_base_loopbreak(s->base);
	else if (command.close)
		service_remove(s, command.fd);
	else
		service_add(s, command.fd);
}

static struct event *replies_add(struct kvl_slow_path *s, int fd)
{
	struct event *event = NULL;

	if (fd >= 0)
		event = event_new(s->base, fd, EV_READ | EV_PERSIST, node_readable, s);
	if (event != NULL)
		event_add(event, NULL);
	return event;
}

static void *thread_run(void *arg)
{
	const struct timeval tick = {.tv_usec = EXPIRE_TICK_MS * 1000};
	struct kvl_slow_path *s = arg;
	struct event *commands =
		event_new(s->base, s->pipe_read, EV_READ | EV_PERSIST, command_readable, s);
	struct event *replies[KVL_FAMILIES] = {NULL};
	struct event *timer = event_new(s->base, -1, EV_PERSIST, expire, s);

	rte_rcu_qsbr_thread_register(s->rcu, s->reader);
	for (unsigned int f = 0; f < KVL_FAMILIES; f++)
		replies[f] = replies_add(s, s->node_fds[f]);
	if (commands != NULL && timer != NULL) {
		event_add(commands, NULL);
		event_add(timer, &tick);
		event_base_dispatch(s->base);
	}
	rte_rcu_qsbr_thread_unregister(s->rcu, s->reader);
	while (s->event_count != 0) {
		int fd = event_get_fd(s->events[0]);

		service_remove(s, fd);
	}
	if (commands != NULL)
		event_free(commands);
	for (unsigned int f = 0; f < KVL_FAMILIES; f++)
		if (replies[f] != NULL)
			event_free(replies[f]);
	if (timer != NULL)
		event_free(timer);
	return NULL;
}

static int udp_open(const struct kvl_endpoint *endpoint)
{
	int size = SOCKET_BUFFER;
	int fd = kvl_endpoint_bind(endpoint, false);

	if (fd >= 0) {
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	}
	return fd;
}

/* Sockets toward the nodes. A host without IPv6 has no nodes there. */
static int node_sockets_open(struct kvl_slow_path *s)
{
	static const struct kvl_endpoint any[KVL_FAMILIES] = {
		[KVL_IPV4] = {.address.bytes = {[10] = 0xff, [11] = 0xff}},
		[KVL_IPV6] = {.address.bytes = {0}},
	};

	for (unsigned int f = 0; f < KVL_FAMILIES; f++)
		s->node_fds[f] = udp_open(&any[f]);
	return s->node_fds[KVL_IPV4] < 0 ? s->node_fds[KVL_IPV4] : 0;
}

static void node_sockets_close(struct kvl_slow_path *s)
{
	for (unsigned int f = 0; f < KVL_FAMILIES; f++)
		if (s->node_fds[f] >= 0)
			close(s->node_fds[f]);
}

struct kvl_slow_path *kvl_slow_path_new(struct rte_rcu_qsbr *rcu, unsigned int reader)
{
	struct kvl_slow_path *s = calloc(1, sizeof(*s));
	int fds[2] = {-1, -1}, rc;

	if (s == NULL)
		return NULL;
	s->rcu = rcu;
	s->reader = reader;
	s->random = kvl_now_ms();
	kvl_sequence_pool_init(&s->table.sequences);
	kvl_slow_parts_init(s);
	kvl_slow_guard_init(&s->guard);
	s->load = (struct kvl_slow_load){&s->guard.tenants, s->table.awaited, &s->counters};
	rc = -node_sockets_open(s);
	s->base = event_base_new();
	if (rc == 0 && s->base == NULL)
		rc = ENOMEM;
	if (rc == 0 && pipe(fds) < 0)
		rc = errno;
	s->pipe_read = fds[0];
	s->pipe_write = fds[1];
	if (rc == 0)
		rc = pthread_create(&s->thread, NULL, thread_run, s);
	if (rc == 0)
		return s;

	node_sockets_close(s);
	if (s->base != NULL)
		event_base_free(s->base);
	free(s);
	errno = rc;
	return NULL;
}

static void command_send(struct kvl_slow_path *s, int fd, bool close)
{
	const struct command command = {.fd = fd, .close = close};

	if (write(s->pipe_write, &command, sizeof(command)) != sizeof(command))
		kvl_log(KVL_LOG_ERROR, "slow path: cannot be told of a socket: %s",
			strerror(errno));
}

void kvl_slow_path_free(struct kvl_slow_path *s)
{
	if (s == NULL)
		return;
	command_send(s, -1, true);
	pthread_join(s->thread, NULL);
	close(s->pipe_read);
	close(s->pipe_write);
	node_sockets_close(s);
	event_base_free(s->base);
	free(s);
}

void kvl_slow_path_publish(struct kvl_slow_path *s, const struct kvl_root *root)
{
	__atomic_store_n(&s->root, root, __ATOMIC_RELEASE);
}

static bool endpoint_in(
	const struct kvl_endpoint *list, unsigned int count, const struct kvl_endpoint *endpoint)
{
	for (unsigned int i = 0; i < count; i++)
		if (kvl_endpoint_eq(&list[i], endpoint))
			return true;
	return false;
}

static void endpoint_open(struct kvl_slow_path *s, const struct kvl_endpoint *endpoint)
{
	char text[KVL_ADDR_STRLEN];
	int fd = udp_open(endpoint);

	if (fd >= 0) {
		s->open[s->open_count].endpoint = *endpoint;
		s->open[s->open_count++].fd = fd;
		command_send(s, fd, false);
		return;
	}
	if (kvl_endpoint_eq(&s->told, endpoint))
		return;
	s->told = *endpoint;
	kvl_log(KVL_LOG_WARNING,
		"service %s:%u: requests of more than one packet are not served: cannot listen "
		"there "
		"(%s)%s",
		kvl_addr_format(&endpoint->address, text), endpoint->port, strerror(-fd),
		fd == -EADDRNOTAVAIL ? ": give the address to this host, as `ip addr add` does"
				     : ": something else has the port");
}

void kvl_slow_path_services(
	struct kvl_slow_path *s, const struct kvl_endpoint *list, unsigned int count)
{
	for (unsigned int i = 0; i < s->open_count;) {
		if (endpoint_in(list, count, &s->open[i].endpoint)) {
			i++;
			continue;
		}
		command_send(s, s->open[i].fd, true);
		s->open[i] = s->open[--s->open_count];
	}
	for (unsigned int i = 0; i < count; i++) {
		bool is_open = false;

		for (unsigned int k = 0; k < s->open_count && !is_open; k++)
			is_open = kvl_endpoint_eq(&s->open[k].endpoint, &list[i]);
		if (!is_open)
			endpoint_open(s, &list[i]);
	}
}

void kvl_slow_path_counters(const struct kvl_slow_path *s, struct kvl_slow_counters *counters)
{
#define X(name) counters->name = __atomic_load_n(&s->counters.name, __ATOMIC_RELAXED);
	KVL_SLOW_COUNTERS(X)
#undef X
}

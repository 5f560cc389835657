/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/api/http.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>

#include "ctrl/api/accept.h"
#include "lib/model/endpoint.h"

#define BACKLOG 128 /* as many may come in one turn of the loop, a flood among them */

enum stage {
	STAGE_HEAD,
	STAGE_BODY,   /* the head was good; `whole` bytes are waited for */
	STAGE_REPLY,  /* what comes now is dropped */
	STAGE_LINGER, /* the reply is through, the client has still to close */
};

struct client {
	LIST_ENTRY(client) link;
	struct kvl_http *http;
	struct bufferevent *bev;
	struct event *deadline;
	struct kvl_addr peer;
	enum stage stage;
	size_t whole;   /* head and body */
	size_t dropped; /* bytes, since STAGE_REPLY */
	bool is_head;
	bool ended; /* the client sends no more */
};

struct kvl_http {
	struct kvl_accept accept;
	const struct kvl_http_page *pages;
	void *ctx;
	LIST_HEAD(, client) clients;
	size_t count;
	struct kvl_http_counters counters;
};

/* ---- answers ---- */

void kvl_http_json(struct kvl_http_answer *answer, int status, json_t *object)
{
	*answer = (struct kvl_http_answer){.status = status, .type = "application/json"};
	answer->body =
		object == NULL ? NULL : json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(15));
	json_decref(object);
	if (answer->body == NULL)
		answer->status = 500;
	else
		answer->len = strlen(answer->body);
}

void kvl_http_fail(
	struct kvl_http_answer *answer, int status, const char *code, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	kvl_http_json(
		answer, status, json_pack("{s:{s:s, s:s}}", "error", "code", code, "text", text));
}

/* ---- one client ---- */

static void drop_client(struct client *client)
{
	LIST_REMOVE(client, link);
	client->http->count--;
	if (client->deadline != NULL)
		event_free(client->deadline);
	bufferevent_free(client->bev);
	free(client);
}

static void deadline_set(struct client *client, unsigned int ms)
{
	const struct timeval tv = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};

	evtimer_add(client->deadline, &tv);
}

static void free_body(const void *data, size_t len, void *ctx)
{
	free((void *)data);
}

/* Takes the answer's body. `extra` is a header line with its end, or "". */
static void send_answer(struct client *client, struct kvl_http_answer *answer, const char *extra)
{
	struct evbuffer *out = bufferevent_get_output(client->bev);

	client->http->counters.requests++;
	client->http->counters.failed += answer->status >= 400;
	client->stage = STAGE_REPLY;
	deadline_set(client, KVL_HTTP_DEADLINE_MS);
	evbuffer_add_printf(out,
		"HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
		"Cache-Control: no-store\r\nConnection: close\r\n%s\r\n",
		answer->status, kvl_http_reason(answer->status), answer->type, answer->len, extra);
	if (client->is_head || answer->body == NULL
		|| evbuffer_add_reference(out, answer->body, answer->len, free_body, NULL) < 0)
		free(answer->body);
	evbuffer_drain(bufferevent_get_input(client->bev), SIZE_MAX);
}

static void refuse(struct client *client, int status, const char *extra)
{
	struct kvl_http_answer answer;

	kvl_http_fail(&answer, status, "http", "%s", kvl_http_reason(status));
	send_answer(client, &answer, extra);
}

static const struct kvl_http_page *page_find(
	const struct kvl_http *http, const struct kvl_http_head *head)
{
	for (const struct kvl_http_page *p = http->pages; p->path != NULL; p++)
		if (kvl_http_text_is(head->path, p->path))
			return p;
	return NULL;
}

static bool method_fits(const struct kvl_http_page *page, enum kvl_http_method method)
{
	return method == page->method || (method == KVL_HTTP_HEAD && page->method == KVL_HTTP_GET);
}

/* 0 when the request is worth its body; else it has been refused. */
static int head_judge(struct client *client, const struct kvl_http_head *head)
{
	const struct kvl_http_page *page = page_find(client->http, head);
	int status = page == NULL                                         ? 404
		     : !method_fits(page, head->method)                   ? 405
		     : page->method == KVL_HTTP_POST && !head->has_length ? 411
									  : 0;

	client->is_head = head->method == KVL_HTTP_HEAD;
	if (status == 0)
		return 0;
	refuse(client, status,
		status != 405                   ? ""
		: page->method == KVL_HTTP_POST ? "Allow: POST\r\n"
						: "Allow: GET, HEAD\r\n");
	return -EINVAL;
}

static void head_take(struct client *client)
{
	struct evbuffer *in = bufferevent_get_input(client->bev);
	size_t have = evbuffer_get_length(in), len;
	const char *bytes = (const char *)evbuffer_pullup(in, (ev_ssize_t)have);
	struct kvl_http_head head;
	int status;

	if (have == 0)
		return;
	len = kvl_http_head_find(bytes, have);
	if (len == 0 ? have >= KVL_HTTP_HEAD_MAX : len > KVL_HTTP_HEAD_MAX) {
		refuse(client, 431, "");
		return;
	}
	if (len == 0)
		return;
	status = kvl_http_head_parse(bytes, len, &head);
	if (status != 0) {
		refuse(client, status, "");
		return;
	}
	if (head_judge(client, &head) < 0)
		return;
	client->stage = STAGE_BODY;
	client->whole = len + head.body_len;
	if (head.expect_continue && head.minor >= 1 && have < client->whole)
		bufferevent_write(client->bev, "HTTP/1.1 100 Continue\r\n\r\n", 25);
}

static void body_take(struct client *client)
{
	struct evbuffer *in = bufferevent_get_input(client->bev);
	struct kvl_http_answer answer = {.status = 500, .type = "text/plain"};
	struct kvl_http_head head;
	const char *bytes;

	if (evbuffer_get_length(in) < client->whole)
		return;
	bytes = (const char *)evbuffer_pullup(in, (ev_ssize_t)client->whole);
	/* Once more: the bytes may have moved since, and it was good then. */
	kvl_http_head_parse(bytes, kvl_http_head_find(bytes, client->whole), &head);
	page_find(client->http, &head)
		->handler(client->http->ctx,
			&(struct kvl_http_request){&head, bytes + client->whole - head.body_len},
			&answer);
	send_answer(client, &answer, "");
}

/* A client that is still sending could not read its answer if the connection went: it is told of
 * the end, and what it sends on is dropped. */
static void input_drop(struct client *client)
{
	struct evbuffer *in = bufferevent_get_input(client->bev);

	client->dropped += evbuffer_get_length(in);
	evbuffer_drain(in, SIZE_MAX);
	if (client->dropped > KVL_HTTP_LINGER_BYTES)
		drop_client(client);
}

static void on_data(struct bufferevent *bev, void *ctx)
{
	struct client *client = ctx;

	if (client->stage == STAGE_HEAD)
		head_take(client);
	if (client->stage == STAGE_BODY)
		body_take(client);
	else if (client->stage > STAGE_BODY)
		input_drop(client);
}

static void on_written(struct bufferevent *bev, void *ctx)
{
	struct client *client = ctx;

	if (client->stage != STAGE_REPLY) /* "100 Continue" */
		return;
	if (client->ended) {
		drop_client(client);
		return;
	}
	client->stage = STAGE_LINGER;
	deadline_set(client, KVL_HTTP_LINGER_MS);
	shutdown(bufferevent_getfd(bev), SHUT_WR);
}

static void on_event(struct bufferevent *bev, short what, void *ctx)
{
	struct client *client = ctx;

	/* Half closed: it may wait for the answer all the same. */
	if ((what & BEV_EVENT_EOF) && client->stage == STAGE_REPLY)
		client->ended = true;
	else
		drop_client(client);
}

static void on_deadline(evutil_socket_t fd, short what, void *ctx)
{
	struct client *client = ctx;

	if (client->stage > STAGE_BODY) {
		drop_client(client);
		return;
	}
	client->http->counters.timed_out++;
	refuse(client, 408, "");
}

static int add_client(struct kvl_http *http, int fd, const struct kvl_addr *peer)
{
	struct event_base *base = kvl_accept_base(&http->accept);
	struct client *client = calloc(1, sizeof(*client));

	if (client == NULL)
		return -ENOMEM;
	client->bev = bufferevent_socket_new(base, fd, BEV_OPT_CLOSE_ON_FREE);
	if (client->bev == NULL) {
		free(client);
		return -ENOMEM;
	}
	client->http = http;
	client->peer = *peer;
	LIST_INSERT_HEAD(&http->clients, client, link);
	http->count++;
	client->deadline = evtimer_new(base, on_deadline, client);
	if (client->deadline == NULL) {
		drop_client(client); /* closes fd */
		return 0;
	}
	deadline_set(client, KVL_HTTP_DEADLINE_MS);
	bufferevent_setcb(client->bev, on_data, on_written, on_event, client);
	bufferevent_setwatermark(client->bev, EV_READ, 0, KVL_HTTP_HEAD_MAX + KVL_HTTP_BODY_MAX);
	bufferevent_enable(client->bev, EV_READ | EV_WRITE);
	return 0;
}

/* ---- the listener ---- */

static void refuse_client(int fd)
{
	static const char busy[] = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n"
				   "Retry-After: 1\r\nConnection: close\r\n\r\n";

	send(fd, busy, sizeof(busy) - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static unsigned int held_by(const struct kvl_http *http, const struct kvl_addr *peer)
{
	unsigned int held = 0;

	for (const struct client *c = LIST_FIRST(&http->clients); c != NULL; c = LIST_NEXT(c, link))
		held += kvl_addr_eq(&c->peer, peer);
	return held;
}

/* Of the address that would have most connections with the newcomer's: its oldest. */
static struct client *victim_find(const struct kvl_http *http, const struct kvl_addr *newcomer)
{
	struct client *victim = NULL;
	unsigned int most = 0;

	/* The list is from the newest to the oldest. */
	for (struct client *c = LIST_FIRST(&http->clients); c != NULL; c = LIST_NEXT(c, link)) {
		unsigned int held = held_by(http, &c->peer) + kvl_addr_eq(&c->peer, newcomer);

		if (held < most)
			continue;
		most = held;
		victim = c;
	}
	return victim;
}

static void make_room(struct kvl_http *http, const struct kvl_addr *newcomer)
{
	struct client *victim = victim_find(http, newcomer);

	http->counters.evicted++;
	if (victim->stage <= STAGE_BODY)
		refuse_client(bufferevent_getfd(victim->bev));
	drop_client(victim);
}

static void on_taken(void *ctx, int fd, const struct sockaddr *peer)
{
	struct kvl_http *http = ctx;
	struct kvl_endpoint from = {0};

	kvl_sockaddr_read(peer, &from);
	if (http->count >= KVL_HTTP_CLIENTS_MAX)
		make_room(http, &from.address);
	if (add_client(http, fd, &from.address) == 0)
		return;
	http->counters.refused++;
	refuse_client(fd);
	close(fd);
}

struct kvl_http *kvl_http_new(struct event_base *base, const struct kvl_addr *address,
	uint16_t port, const struct kvl_http_page *pages, void *ctx)
{
	struct kvl_http *http = calloc(1, sizeof(*http));
	const struct kvl_endpoint endpoint = {.address = *address, .port = port};
	union kvl_sockaddr own;
	socklen_t len = kvl_sockaddr_write(&endpoint, &own);
	int rc;

	if (http == NULL)
		return NULL;
	LIST_INIT(&http->clients);
	http->pages = pages;
	http->ctx = ctx;
	errno = ENOMEM;
	rc = kvl_accept_start(&http->accept,
		evconnlistener_new_bind(base, NULL, NULL,
			LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE, BACKLOG,
			&own.sa, (int)len),
		on_taken, http);
	if (rc < 0) {
		kvl_http_free(http);
		errno = -rc;
		return NULL;
	}
	return http;
}

void kvl_http_free(struct kvl_http *http)
{
	if (http == NULL)
		return;
	while (!LIST_EMPTY(&http->clients))
		drop_client(LIST_FIRST(&http->clients));
	kvl_accept_stop(&http->accept);
	free(http);
}

uint16_t kvl_http_port(const struct kvl_http *http)
{
	struct kvl_endpoint endpoint = {0};
	union kvl_sockaddr own;
	socklen_t len = sizeof(own);

	if (getsockname(evconnlistener_get_fd(http->accept.listener), &own.sa, &len) == 0)
		kvl_sockaddr_read(&own.sa, &endpoint);
	return endpoint.port;
}

struct kvl_http_counters kvl_http_counters(const struct kvl_http *http)
{
	const struct kvl_http_counters none = {0};

	return http == NULL ? none : http->counters;
}

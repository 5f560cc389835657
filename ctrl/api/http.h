/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <jansson.h>

#include "lib/model/addr.h"
#include "lib/wire/http.h"

/*
 * A small HTTP server in the event loop: a table of paths, one request a connection, answered at
 * once and closed. For reports, health checks, scrapes and questions; not for browsing.
 *
 * libevent's own server (evhttp, 2.1) bounds neither the number of connections nor the time of a
 * whole request (its timeouts start anew with each byte), and gives no hook to do either from
 * outside. What such a server needs of HTTP is a head (lib/wire/http.h), which is fuzzed.
 *
 * Bounds, and what happens at them:
 *   connections    KVL_HTTP_CLIENTS_MAX; one more takes the place of the oldest one of the address
 *                  that has most of them, itself included. That one is closed, and told 503 if its
 *                  request was not whole. So whoever holds connections, slow to ask or slow to take
 *                  its answer, or opens ever more of them, is in its own way and in nobody else's.
 *   a head         KVL_HTTP_HEAD_MAX, KVL_HTTP_HEADERS_MAX: 431
 *   a body         KVL_HTTP_BODY_MAX: 413
 *   a request      KVL_HTTP_DEADLINE_MS from accept to its last byte: 408
 *   a reply        the same time again to take it: closed
 *   after it       what the client still sends is read and dropped, KVL_HTTP_LINGER_BYTES and
 *                  KVL_HTTP_LINGER_MS at most, so that it can read its answer before it is closed
 * Neither requests nor queries are logged: they may hold keys (SPEC 11.7).
 */
#define KVL_HTTP_CLIENTS_MAX  32
#define KVL_HTTP_DEADLINE_MS  5000
#define KVL_HTTP_LINGER_MS    1000
#define KVL_HTTP_LINGER_BYTES (1u << 20)

struct kvl_http_request {
	const struct kvl_http_head *head;
	const char *body; /* head->body_len bytes */
};

struct kvl_http_answer {
	int status;
	const char *type; /* Content-Type; static */
	char *body;       /* of malloc(); freed by the server. NULL = empty */
	size_t len;
};

struct kvl_http_page {
	const char *path;            /* NULL ends the table */
	enum kvl_http_method method; /* GET answers HEAD too */
	void (*handler)(
		void *ctx, const struct kvl_http_request *request, struct kvl_http_answer *answer);
};

struct kvl_http_counters {
	uint64_t requests;  /* answered, refusals included */
	uint64_t evicted;   /* connections closed for others beyond the bound */
	uint64_t refused;   /* connections for which there was no memory */
	uint64_t timed_out; /* 408 */
	uint64_t failed;    /* of requests: 4xx and 5xx */
};

struct event_base;
struct kvl_http;

/* Listens; port 0: any free one. `pages` and ctx are borrowed. NULL with errno. */
struct kvl_http *kvl_http_new(struct event_base *base, const struct kvl_addr *address,
	uint16_t port, const struct kvl_http_page *pages, void *ctx);
void kvl_http_free(struct kvl_http *http);

uint16_t kvl_http_port(const struct kvl_http *http);

/* NULL http: all zero. */
struct kvl_http_counters kvl_http_counters(const struct kvl_http *http);

/* Fills the answer with JSON; takes the reference. NULL (no memory) becomes a 500. */
void kvl_http_json(struct kvl_http_answer *answer, int status, json_t *object);

/* {"error":{"code":...,"text":...}}: as on the control socket. */
__attribute__((format(printf, 4, 5))) void kvl_http_fail(
	struct kvl_http_answer *answer, int status, const char *code, const char *format, ...);

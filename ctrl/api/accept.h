/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <sys/socket.h>

/*
 * What the servers of the control core have in common: taking clients from a stream socket that
 * listens. Without a descriptor to take one by it rests for KVL_ACCEPT_PAUSE_MS, where it would
 * otherwise be told of the same client again at once and for ever; the backlog keeps who comes.
 */
#define KVL_ACCEPT_PAUSE_MS 100

struct event;
struct event_base;
struct evconnlistener;

struct kvl_accept {
	struct evconnlistener *listener;
	struct event *resume;
	/* The descriptor is the callee's to close. */
	void (*taken)(void *ctx, int fd, const struct sockaddr *peer);
	void *ctx;
};

/*
 * Takes the listener, which has been made without a callback (NULL: as its maker failed, with
 * errno), and starts it. Returns 0 or a negative errno; kvl_accept_stop() is due in both cases.
 */
int kvl_accept_start(struct kvl_accept *a, struct evconnlistener *listener,
	void (*taken)(void *ctx, int fd, const struct sockaddr *peer), void *ctx);

/* Closes the socket, if the listener was made to; nothing to do when all is zero. */
void kvl_accept_stop(struct kvl_accept *a);

struct event_base *kvl_accept_base(const struct kvl_accept *a);

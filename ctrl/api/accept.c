/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/api/accept.h"

#include <errno.h>
#include <signal.h>

#include <event2/event.h>
#include <event2/listener.h>

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *peer,
	int peer_len, void *ctx)
{
	struct kvl_accept *a = ctx;

	a->taken(a->ctx, fd, peer);
}

static void on_error(struct evconnlistener *listener, void *ctx)
{
	static const struct timeval pause = {.tv_usec = KVL_ACCEPT_PAUSE_MS * 1000};
	struct kvl_accept *a = ctx;

	evconnlistener_disable(listener);
	evtimer_add(a->resume, &pause);
}

static void on_resume(evutil_socket_t fd, short what, void *ctx)
{
	struct kvl_accept *a = ctx;

	evconnlistener_enable(a->listener);
}

int kvl_accept_start(struct kvl_accept *a, struct evconnlistener *listener,
	void (*taken)(void *ctx, int fd, const struct sockaddr *peer), void *ctx)
{
	*a = (struct kvl_accept){.listener = listener, .taken = taken, .ctx = ctx};
	if (listener == NULL)
		return -errno;
	a->resume = evtimer_new(evconnlistener_get_base(listener), on_resume, a);
	if (a->resume == NULL)
		return -ENOMEM;
	/* libevent writes with writev(), which has no MSG_NOSIGNAL. */
	signal(SIGPIPE, SIG_IGN);
	evconnlistener_set_error_cb(listener, on_error);
	evconnlistener_set_cb(listener, on_accept, a);
	return 0;
}

void kvl_accept_stop(struct kvl_accept *a)
{
	if (a->listener != NULL)
		evconnlistener_free(a->listener);
	if (a->resume != NULL)
		event_free(a->resume);
	*a = (struct kvl_accept){0};
}

struct event_base *kvl_accept_base(const struct kvl_accept *a)
{
	return evconnlistener_get_base(a->listener);
}

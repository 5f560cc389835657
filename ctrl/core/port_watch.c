/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#include <event2/event.h>

#include "ctrl/core/log.h"
#include "ctrl/core/port_watch.h"
#include "ctrl/core/router.h"

struct kvl_port_watch {
	struct kvl_router *router;
	struct event *timer;
};

/* Nodes are sent to from the new one with the next root. */
static void mac_switch(struct kvl_router *r, uint16_t port)
{
	const uint8_t *mac = r->ports[port].mac;

	for (uint16_t w = 0; w < r->worker_count; w++)
		kvl_worker_mac(r->workers[w], port, mac);
	kvl_publisher_request(r->publisher);
	kvl_log(KVL_LOG_NOTICE, "port %s: its MAC is %02x:%02x:%02x:%02x:%02x:%02x now",
		r->ports[port].config.name, mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
}

static void tick(evutil_socket_t fd, short what, void *arg)
{
	struct kvl_router *r = ((struct kvl_port_watch *)arg)->router;

	for (uint16_t i = 0; i < r->port_count; i++)
		if (kvl_port_mac_follow(&r->ports[i]))
			mac_switch(r, i);
}

struct kvl_port_watch *kvl_port_watch_new(struct kvl_router *router)
{
	const struct timeval period = {.tv_usec = KVL_PORT_WATCH_MS * 1000};
	struct kvl_port_watch *watch = calloc(1, sizeof(*watch));

	if (watch == NULL)
		return NULL;
	watch->router = router;
	watch->timer = event_new(router->base, -1, EV_PERSIST, tick, watch);
	if (watch->timer == NULL || event_add(watch->timer, &period) < 0) {
		kvl_port_watch_free(watch);
		errno = ENOMEM;
		return NULL;
	}
	return watch;
}

void kvl_port_watch_free(struct kvl_port_watch *watch)
{
	if (watch == NULL)
		return;
	if (watch->timer != NULL)
		event_free(watch->timer);
	free(watch);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "dataplane/test_world.h"

/*
 * For tests of requests of several keys or commands: what the nodes are asked, and what the client
 * gets. The nodes are played by the tests, which see every byte of both.
 */
#define ASKED_MAX     64
#define COUNTER(name) (world_workers[0]->counters.name)

/* What a node was sent. */
struct asked {
	char text[2048];
	size_t len;
	struct world_asked at;
};
extern struct asked asked[ASKED_MAX];
extern unsigned int asked_count;

/* The client sends a datagram; ask() looks at what nodes are sent then. */
void send_bytes(const void *payload, size_t len);
void ask_bytes(const void *payload, size_t len);
void ask(const char *text);

/* All that is on its way to nodes; the headers are checked byte for byte. */
void asked_take(void);

/* The one of this text; fails the test when nobody was asked. */
struct asked *asked_of(const char *text);

/* What a node says to it. */
void reply_datagram(const struct asked *a, const void *data, size_t len, int sequence, int total);
void reply(const char *asked_text, const char *text);

/* The next datagram to the client must be this one. */
void client_gets_datagram(const void *data, size_t len, int sequence, int total);
void client_gets(const char *text);
void client_gets_nothing(void);

/* Nothing is left over of what was done, and the packets add up. */
void all_is_done(void);

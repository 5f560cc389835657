/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>

#include "lib/wire/message.h"

/*
 * The control socket: a Unix stream socket, messages of lib/wire/message.h, a table of commands.
 * Runs in the event loop; a command's handler is called there and answers at once.
 *
 * Bounds, and what happens at them:
 *   clients        KVL_API_CLIENTS_MAX; one more is told "busy" and closed
 *   a request      KVL_MESSAGE_REQUEST_MAX; told "too_long" and closed, since the line is lost. What
 *                  the client still writes of it is read and dropped, KVL_API_DRAIN_BYTES and
 *                  KVL_API_DRAIN_MS at most, so that it comes to read its answer
 *   a reply        KVL_MESSAGE_REPLY_MAX; "too_long" in its place
 *   replies unread the next request of a client is not read before it has taken its last reply
 *   idle           KVL_API_IDLE_S without a request, or without taking a byte of a reply: closed
 *
 * Roles come from the peer's credentials: root, or the daemon's own user or group, is admin; who
 * else may open the socket at all (mode 0660: the socket's group) reads only. Neither requests nor
 * parameters are logged.
 */
#define KVL_API_CLIENTS_MAX 32
#define KVL_API_IDLE_S      60
#define KVL_API_DRAIN_BYTES (4u << 20)
#define KVL_API_DRAIN_MS    2000
#define KVL_API_SOCKET_MODE 0660

enum kvl_api_role {
	KVL_API_READ,  /* looks */
	KVL_API_ADMIN, /* changes something */
};

/*
 * Returns a new reference to the result, or NULL with *error filled (kvl_message_fail(); details
 * are freed by the caller). `params` is an object, never NULL, borrowed.
 */
typedef json_t *(*kvl_api_handler)(
	void *ctx, const json_t *params, struct kvl_message_error *error);

struct kvl_api_command {
	const char *name;
	enum kvl_api_role role;
	kvl_api_handler handler;
};

struct event_base;
struct kvl_api;

/*
 * Listens. `commands` ends with a NULL name and is borrowed, as is ctx. A socket file that nobody
 * listens on any more is replaced; its directory is made if it lacks only the last step.
 * NULL with errno, and what is wrong and what to do in `why`: EADDRINUSE (somebody listens there),
 * EEXIST (there is something else), ENAMETOOLONG, or the system's.
 */
struct kvl_api *kvl_api_new(struct event_base *base, const char *path,
	const struct kvl_api_command *commands, void *ctx, char *why, size_t why_len);

/* Closes the clients, and removes the socket file if it is still the one made by kvl_api_new().
 * api may be NULL. */
void kvl_api_free(struct kvl_api *api);

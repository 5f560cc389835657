/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/api/socket.h"

#include <errno.h>
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
#include "ctrl/api/listen.h"

struct client {
	LIST_ENTRY(client) link;
	struct kvl_api *api;
	struct bufferevent *bev;
	enum kvl_api_role role;
	bool ended;          /* nothing more will be read: answer what is there, then close */
	struct event *drain; /* not NULL: what comes is dropped; fires when that has to end */
	size_t drained;      /* bytes */
};

struct kvl_api {
	struct kvl_api_listener listener;
	struct kvl_accept accept;
	const struct kvl_api_command *commands;
	void *ctx;
	LIST_HEAD(, client) clients;
	size_t count;
};

/* ---- one request ---- */

static const struct kvl_api_command *find_command(const struct kvl_api *api, const char *name)
{
	for (const struct kvl_api_command *c = api->commands; c->name != NULL; c++) {
		if (strcmp(c->name, name) == 0)
			return c;
	}
	return NULL;
}

static json_t *run_command(const struct client *client, const struct kvl_message_request *request,
	struct kvl_message_error *error)
{
	const struct kvl_api_command *command = find_command(client->api, request->method);
	json_t *result;

	if (command == NULL)
		return kvl_message_fail(
			error, KVL_CODE_METHOD, "there is no command \"%s\"", request->method);
	if (command->role > client->role)
		return kvl_message_fail(error, KVL_CODE_DENIED,
			"\"%s\" is for root and the daemon's own user or group", request->method);
	result = command->handler(client->api->ctx, request->params, error);
	if (result == NULL && error->code[0] == '\0')
		kvl_message_fail(
			error, KVL_CODE_INTERNAL, "\"%s\" gave no answer", request->method);
	return result;
}

static char *format_reply(int64_t id, json_t *result, struct kvl_message_error *error, size_t *len)
{
	char *reply;

	if (result != NULL) {
		reply = kvl_message_result_format(id, result, len);
		if (reply != NULL && *len <= KVL_MESSAGE_REPLY_MAX)
			return reply;
		free(reply);
		kvl_message_fail(error, KVL_CODE_TOO_LONG, "the answer is longer than %u bytes",
			KVL_MESSAGE_REPLY_MAX);
	}
	return kvl_message_error_format(id, error, len);
}

static char *answer_line(
	const struct client *client, const char *line, size_t line_len, size_t *len)
{
	struct kvl_message_request request;
	struct kvl_message_error error;
	json_t *result = NULL;
	char *reply;

	if (kvl_message_request_parse(line, line_len, &request, &error) == 0)
		result = run_command(client, &request, &error);
	reply = format_reply(request.id, result, &error, len);
	json_decref(result);
	json_decref(error.details);
	kvl_message_request_clear(&request);
	return reply;
}

/* ---- one client ---- */

static void drop_client(struct client *client)
{
	LIST_REMOVE(client, link);
	client->api->count--;
	if (client->drain != NULL)
		event_free(client->drain);
	bufferevent_free(client->bev);
	free(client);
}

static void free_reply(const void *data, size_t len, void *ctx)
{
	free((void *)data);
}

static void end_client(struct client *client)
{
	client->ended = true;
	bufferevent_disable(client->bev, EV_READ);
}

/* Takes the reply; NULL: out of memory. A lost reply would shift all that follow, so the
 * connection goes with it. */
static void send_reply(struct client *client, char *reply, size_t len)
{
	struct evbuffer *out = bufferevent_get_output(client->bev);

	if (reply == NULL || evbuffer_add_reference(out, reply, len, free_reply, NULL) < 0) {
		free(reply);
		end_client(client);
	}
}

static void answer_input(struct client *client, size_t line_len)
{
	struct evbuffer *in = bufferevent_get_input(client->bev);
	const char *line = (const char *)evbuffer_pullup(in, (ev_ssize_t)line_len);
	size_t len = 0;
	char *reply = line != NULL ? answer_line(client, line, line_len, &len) : NULL;

	evbuffer_drain(in, line_len);
	send_reply(client, reply, len);
}

static void on_drain_end(evutil_socket_t fd, short what, void *ctx)
{
	drop_client(ctx);
}

/* Reads on without looking, until the client closes. */
static void start_drain(struct client *client)
{
	static const struct timeval limit = {
		.tv_sec = KVL_API_DRAIN_MS / 1000, .tv_usec = KVL_API_DRAIN_MS % 1000 * 1000};

	client->drain = evtimer_new(kvl_accept_base(&client->api->accept), on_drain_end, client);
	if (client->drain != NULL)
		evtimer_add(client->drain, &limit);
	else
		end_client(client);
}

static void drain_input(struct client *client)
{
	struct evbuffer *in = bufferevent_get_input(client->bev);

	client->drained += evbuffer_get_length(in);
	evbuffer_drain(in, SIZE_MAX);
	if (client->drained > KVL_API_DRAIN_BYTES)
		drop_client(client);
}

static void refuse_long_line(struct client *client)
{
	struct evbuffer *in = bufferevent_get_input(client->bev);
	struct kvl_message_error error = {0};
	size_t len = 0;
	char *reply;

	kvl_message_fail(
		&error, KVL_CODE_TOO_LONG, "request longer than %u bytes", KVL_MESSAGE_REQUEST_MAX);
	evbuffer_drain(in, evbuffer_get_length(in));
	start_drain(client);
	reply = kvl_message_error_format(KVL_MESSAGE_ID_NONE, &error, &len);
	send_reply(client, reply, len);
}

/* The length of the next request, 0 = it is not all there. */
static size_t next_line(const struct client *client)
{
	struct evbuffer *in = bufferevent_get_input(client->bev);
	struct evbuffer_ptr eol = evbuffer_search_eol(in, NULL, NULL, EVBUFFER_EOL_LF);

	if (eol.pos >= 0)
		return (size_t)eol.pos + 1;
	return client->ended ? evbuffer_get_length(in) : 0; /* the last line may lack its end */
}

/* One request at a time: the next when its reply has been taken, which bounds what is held. */
static void serve(struct client *client)
{
	struct evbuffer *out = bufferevent_get_output(client->bev);
	size_t line_len;

	if (evbuffer_get_length(out) > 0)
		return;
	line_len = next_line(client);
	if (line_len > 0)
		answer_input(client, line_len);
	else if (evbuffer_get_length(bufferevent_get_input(client->bev)) >= KVL_MESSAGE_REQUEST_MAX)
		refuse_long_line(client);
	if (client->ended && evbuffer_get_length(out) == 0)
		drop_client(client);
}

static void on_data(struct bufferevent *bev, void *ctx)
{
	struct client *client = ctx;

	if (client->drain != NULL)
		drain_input(client);
	else
		serve(client);
}

/* The client has taken its reply; one that was refused is told that there is no more. */
static void on_written(struct bufferevent *bev, void *ctx)
{
	struct client *client = ctx;

	if (client->drain != NULL)
		shutdown(bufferevent_getfd(bev), SHUT_WR);
	else
		serve(client);
}

static void on_event(struct bufferevent *bev, short what, void *ctx)
{
	struct client *client = ctx;

	if (client->drain != NULL) {
		drop_client(client);
	} else if ((what & BEV_EVENT_EOF) && (what & BEV_EVENT_READING)) {
		client->ended = true; /* half closed perhaps: it may still wait for its answers */
		serve(client);
	} else if ((what & BEV_EVENT_TIMEOUT) && (what & BEV_EVENT_READING)
		   && evbuffer_get_length(bufferevent_get_output(bev)) > 0) {
		bufferevent_enable(
			bev, EV_READ); /* busy taking a reply: the other timer's matter */
	} else {
		drop_client(client);
	}
}

static enum kvl_api_role role_of(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return KVL_API_READ;
	return peer.uid == 0 || peer.uid == geteuid() || peer.gid == getegid() ? KVL_API_ADMIN
									       : KVL_API_READ;
}

static int add_client(struct kvl_api *api, int fd)
{
	static const struct timeval idle = {.tv_sec = KVL_API_IDLE_S};
	struct event_base *base = kvl_accept_base(&api->accept);
	struct client *client = calloc(1, sizeof(*client));

	if (client == NULL)
		return -ENOMEM;
	client->bev = bufferevent_socket_new(base, fd, BEV_OPT_CLOSE_ON_FREE);
	if (client->bev == NULL) {
		free(client);
		return -ENOMEM;
	}
	client->api = api;
	client->role = role_of(fd);
	LIST_INSERT_HEAD(&api->clients, client, link);
	api->count++;
	bufferevent_setcb(client->bev, on_data, on_written, on_event, client);
	bufferevent_setwatermark(client->bev, EV_READ, 0, KVL_MESSAGE_REQUEST_MAX);
	bufferevent_set_timeouts(client->bev, &idle, &idle);
	bufferevent_enable(client->bev, EV_READ | EV_WRITE);
	return 0;
}

/* ---- the listener ---- */

static void refuse_client(int fd)
{
	struct kvl_message_error error = {0};
	size_t len;
	char *line;

	kvl_message_fail(&error, KVL_CODE_BUSY, "%d clients are connected already; try again later",
		KVL_API_CLIENTS_MAX);
	line = kvl_message_error_format(KVL_MESSAGE_ID_NONE, &error, &len);
	if (line != NULL)
		send(fd, line, len, MSG_DONTWAIT | MSG_NOSIGNAL); /* or it went away already */
	free(line);
}

static void on_taken(void *ctx, int fd, const struct sockaddr *peer)
{
	struct kvl_api *api = ctx;

	if (api->count >= KVL_API_CLIENTS_MAX)
		refuse_client(fd);
	else if (add_client(api, fd) == 0)
		return;
	close(fd);
}

struct kvl_api *kvl_api_new(struct event_base *base, const char *path,
	const struct kvl_api_command *commands, void *ctx, char *why, size_t why_len)
{
	struct kvl_api *api = calloc(1, sizeof(*api));
	int rc = -ENOMEM;

	snprintf(why, why_len, "%s: out of memory", path);
	if (api == NULL)
		return NULL;
	LIST_INIT(&api->clients);
	api->commands = commands;
	api->ctx = ctx;
	rc = kvl_api_listen(&api->listener, path, why, why_len);
	if (rc < 0)
		goto fail;
	errno = ENOMEM;
	rc = kvl_accept_start(&api->accept,
		evconnlistener_new(base, NULL, NULL, LEV_OPT_CLOSE_ON_EXEC, 0, api->listener.fd),
		on_taken, api);
	if (rc < 0) {
		snprintf(why, why_len, "%s: out of memory", path);
		goto fail;
	}
	return api;
fail:
	kvl_api_free(api);
	errno = -rc;
	return NULL;
}

void kvl_api_free(struct kvl_api *api)
{
	if (api == NULL)
		return;
	while (!LIST_EMPTY(&api->clients))
		drop_client(LIST_FIRST(&api->clients));
	kvl_accept_stop(&api->accept);
	kvl_api_unlisten(&api->listener);
	free(api);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/cli/client.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define REQUEST_ID 1

struct client {
	int fd;
	const char *path;
	char *why;
	size_t why_len;
};

__attribute__((format(printf, 3, 4))) static int complain(
	const struct client *c, int rc, const char *format, ...)
{
	int len = snprintf(c->why, c->why_len, "%s: ", c->path);
	va_list args;

	if (len > 0 && (size_t)len < c->why_len) {
		va_start(args, format);
		vsnprintf(c->why + len, c->why_len - (size_t)len, format, args);
		va_end(args);
	}
	return rc;
}

static int explain_connect(const struct client *c, int error)
{
	switch (error) {
	case ENOENT:
		return complain(c, -error,
			"no such socket: start kvlaned, or name its control_socket with -s");
	case ECONNREFUSED:
		return complain(c, -error, "nobody listens: kvlaned has ended, start it again");
	case EACCES:
	case EPERM:
		return complain(c, -error, "no permission: be root or in the socket's group");
	default:
		return complain(c, -error, "%s", strerror(error));
	}
}

static int connect_client(struct client *c)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	struct timeval limit = {.tv_sec = CLIENT_TIMEOUT_S};

	if (strlen(c->path) >= sizeof(sun.sun_path))
		return complain(c, -ENAMETOOLONG, "longer than a socket's path can be (%zu bytes)",
			sizeof(sun.sun_path) - 1);
	strcpy(sun.sun_path, c->path);
	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (c->fd < 0)
		return complain(c, -errno, "%s", strerror(errno));
	setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(c->fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (connect(c->fd, (struct sockaddr *)&sun, sizeof(sun)) < 0)
		return explain_connect(c, errno);
	return 0;
}

static int send_request(const struct client *c, const char *method, json_t *params)
{
	size_t len, sent = 0;
	char *line = kvl_message_request_format(REQUEST_ID, method, params, &len);
	ssize_t n = 0;

	if (line == NULL)
		return complain(c, -ENOMEM, "out of memory");
	while (sent < len && n >= 0) {
		n = send(c->fd, line + sent, len - sent, MSG_NOSIGNAL);
		sent += n > 0 ? (size_t)n : 0;
	}
	free(line);
	/* EPIPE: it closed on us, and has perhaps said why. */
	return n < 0 && errno != EPIPE ? complain(c, -errno, "%s", strerror(errno)) : 0;
}

static int explain_receive(const struct client *c, ssize_t n)
{
	if (n == 0 || errno == ECONNRESET)
		return complain(c, -ECONNRESET, "kvlaned closed the connection without an answer");
	if (errno == EAGAIN)
		return complain(c, -ETIMEDOUT, "no answer within %d s: kvlaned hangs, see its log",
			CLIENT_TIMEOUT_S);
	return complain(c, -errno, "%s", strerror(errno));
}

/* One line; free()d by the caller. */
static int receive_line(const struct client *c, char **line, size_t *len)
{
	size_t room = 0;
	ssize_t n;

	*line = NULL;
	*len = 0;
	for (;;) {
		if (*len == room) {
			room = room * 2 + 65536;
			*line = realloc(*line, room);
			if (*line == NULL || room > 4 * KVL_MESSAGE_REPLY_MAX)
				return complain(c, -EMSGSIZE, "the answer is too long");
		}
		n = recv(c->fd, *line + *len, room - *len, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return explain_receive(c, n);
		*len += (size_t)n;
		if ((*line)[*len - 1] == '\n')
			return 0;
	}
}

static int receive_reply(const struct client *c, struct kvl_message_reply *reply)
{
	struct kvl_message_error error;
	char *line;
	size_t len;
	int rc = receive_line(c, &line, &len);

	if (rc == 0 && kvl_message_reply_parse(line, len, reply, &error) < 0) {
		kvl_message_reply_clear(reply);
		rc = complain(c, -EPROTO, "not an answer of kvlaned: %s", error.text);
	}
	free(line);
	return rc;
}

int client_ask(const char *path, const char *method, json_t *params,
	struct kvl_message_reply *reply, char *why, size_t why_len)
{
	struct client c = {.fd = -1, .path = path, .why = why, .why_len = why_len};
	int rc = connect_client(&c);

	if (rc == 0)
		rc = send_request(&c, method, params);
	if (rc == 0)
		rc = receive_reply(&c, reply);
	if (c.fd >= 0)
		close(c.fd);
	return rc;
}

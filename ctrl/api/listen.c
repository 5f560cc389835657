/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/api/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctrl/api/socket.h"

#define BACKLOG 16

struct complaint {
	char *text;
	size_t len;
};

__attribute__((format(printf, 3, 4))) static int complain(
	const struct complaint *why, int rc, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why->text, why->len, format, args);
	va_end(args);
	return rc;
}

static int open_stream(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	return fd < 0 ? -errno : fd;
}

static void fill_address(struct sockaddr_un *sun, const char *path)
{
	*sun = (struct sockaddr_un){.sun_family = AF_UNIX};
	memcpy(sun->sun_path, path, strlen(path) + 1); /* checked by kvl_api_listen() */
}

static void name_process(pid_t pid, char *name, size_t len)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	file = fopen(path, "re");
	if (file == NULL || fgets(name, (int)len, file) == NULL)
		snprintf(name, len, "unknown");
	name[strcspn(name, "\n")] = '\0';
	if (file != NULL)
		fclose(file);
}

static int report_owner(int fd, const char *path, const struct complaint *why)
{
	struct ucred peer = {0};
	socklen_t len = sizeof(peer);
	char name[64];

	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len);
	name_process(peer.pid, name, sizeof(name));
	return complain(why, -EADDRINUSE,
		"%s: socket in use by process %d (%s); stop it, or set another control_socket",
		path, (int)peer.pid, name);
}

/* 0: nobody listens on it. */
static int try_connect(const char *path, const struct complaint *why)
{
	struct sockaddr_un sun;
	int fd = open_stream(), rc = 0;

	if (fd < 0)
		return complain(why, fd, "%s: %s", path, strerror(-fd));
	fill_address(&sun, path);
	if (connect(fd, (struct sockaddr *)&sun, sizeof(sun)) == 0)
		rc = report_owner(fd, path, why);
	else if (errno == EAGAIN) /* its backlog is full: it lives */
		rc = complain(
			why, -EADDRINUSE, "%s: socket in use; set another control_socket", path);
	else if (errno != ECONNREFUSED && errno != ENOENT)
		rc = complain(why, -errno, "%s: %s", path, strerror(errno));
	close(fd);
	return rc;
}

static int remove_stale(const char *path, const struct complaint *why)
{
	struct stat st;
	int rc;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : complain(why, -errno, "%s: %s", path, strerror(errno));
	if (!S_ISSOCK(st.st_mode))
		return complain(why, -EEXIST,
			"%s: exists and is not a socket; remove it, or set another control_socket",
			path);
	rc = try_connect(path, why);
	if (rc < 0)
		return rc;
	if (unlink(path) < 0 && errno != ENOENT)
		return complain(why, -errno, "%s: cannot remove the stale socket: %s", path,
			strerror(errno));
	return 0;
}

/*
 * The directory, locked: between finding a socket stale and having one's own there, another
 * starting daemon must not do the same. Closing gives it free.
 */
static int lock_directory(const char *path, const struct complaint *why)
{
	char copy[PATH_MAX];
	const char *dir;
	int fd, rc;

	snprintf(copy, sizeof(copy), "%s", path);
	dir = dirname(copy);
	if (mkdir(dir, 0755) < 0 && errno != EEXIST)
		return complain(why, -errno, "%s: cannot make the socket's directory: %s", dir,
			strerror(errno));
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return complain(why, -errno, "%s: %s", dir, strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	rc = complain(why, -errno, "%s: another process is starting there (%s); try again", dir,
		strerror(errno));
	close(fd);
	return rc;
}

/* Never open to more than the final mode, not for a moment either. */
static int bind_and_listen(struct kvl_api_listener *l, const struct complaint *why)
{
	struct sockaddr_un sun;
	struct stat st;

	l->fd = open_stream();
	if (l->fd < 0)
		return complain(why, l->fd, "%s: %s", l->path, strerror(-l->fd));
	fill_address(&sun, l->path);
	if (fchmod(l->fd, KVL_API_SOCKET_MODE) < 0
		|| bind(l->fd, (struct sockaddr *)&sun, sizeof(sun)) < 0
		|| chmod(l->path, KVL_API_SOCKET_MODE) < 0 || lstat(l->path, &st) < 0
		|| listen(l->fd, BACKLOG) < 0)
		return complain(why, -errno, "%s: %s", l->path, strerror(errno));
	l->dev = st.st_dev;
	l->ino = st.st_ino;
	return 0;
}

int kvl_api_listen(struct kvl_api_listener *l, const char *path, char *text, size_t len)
{
	struct complaint why = {.text = text, .len = len};
	int dir, rc;

	*l = (struct kvl_api_listener){.fd = -1};
	if (path[0] == '\0' || strlen(path) >= sizeof(l->path))
		return complain(&why, -ENAMETOOLONG,
			"control_socket: the path must have 1 to %zu bytes", sizeof(l->path) - 1);
	memcpy(l->path, path, strlen(path) + 1);
	dir = lock_directory(path, &why);
	if (dir < 0)
		return dir;
	rc = remove_stale(path, &why);
	if (rc == 0)
		rc = bind_and_listen(l, &why);
	if (rc < 0 && l->fd >= 0) {
		close(l->fd);
		l->fd = -1;
	}
	close(dir);
	return rc;
}

void kvl_api_unlisten(struct kvl_api_listener *l)
{
	struct stat st;

	if (l->fd < 0)
		return;
	if (lstat(l->path, &st) == 0 && st.st_dev == l->dev && st.st_ino == l->ino)
		unlink(l->path);
	close(l->fd);
	l->fd = -1;
}

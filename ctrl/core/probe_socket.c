/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/core/probe_socket.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#define RCVBUF (1 << 20) /* every answer of a full window, several times over */

static int set_options(int fd, int family)
{
	int on = 1, size = RCVBUF;

	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)); /* as much as is allowed */
	if (family == AF_INET)
		return setsockopt(fd, IPPROTO_IP, IP_RECVERR, &on, sizeof(on));
	if (setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) < 0)
		return -1;
	return setsockopt(fd, IPPROTO_IPV6, IPV6_RECVERR, &on, sizeof(on));
}

int kvl_probe_socket(int family)
{
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), rc;

	if (fd < 0)
		return -errno;
	if (set_options(fd, family) < 0) {
		rc = -errno;
		close(fd);
		return rc;
	}
	return fd;
}

int kvl_probe_send(int fd, const struct kvl_endpoint *to, const void *data, size_t len)
{
	union kvl_sockaddr a;
	socklen_t a_len = kvl_sockaddr_write(to, &a);

	return sendto(fd, data, len, 0, &a.sa, a_len) < 0 ? -errno : 0;
}

static ssize_t receive(int fd, void *data, size_t len, int flags, struct kvl_endpoint *peer)
{
	union kvl_sockaddr a = {0};
	/* The extended error itself is not looked at: any error means "not there". */
	char control[512];
	struct iovec iov = {.iov_base = data, .iov_len = len};
	struct msghdr msg = {
		.msg_name = &a,
		.msg_namelen = sizeof(a),
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	ssize_t n = recvmsg(fd, &msg, flags);
	int rc;

	if (n < 0)
		return -errno;
	rc = kvl_sockaddr_read(&a.sa, peer);
	return rc < 0 ? rc : n;
}

ssize_t kvl_probe_receive(int fd, void *data, size_t len, struct kvl_endpoint *from)
{
	return receive(fd, data, len, 0, from);
}

ssize_t kvl_probe_receive_error(int fd, void *data, size_t len, struct kvl_endpoint *to)
{
	return receive(fd, data, len, MSG_ERRQUEUE, to);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/core/netlink.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#define EVENT_RCVBUF (1 << 20) /* a few thousand events; beyond it the kernel says ENOBUFS */

static int open_socket(struct kvl_netlink *nl, int flags)
{
	int rc;

	*nl = (struct kvl_netlink){0};
	nl->socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC | flags);
	if (nl->socket == NULL)
		return -errno;
	if (mnl_socket_bind(nl->socket, 0, MNL_SOCKET_AUTOPID) < 0) {
		rc = -errno;
		kvl_netlink_close(nl);
		return rc;
	}
	nl->portid = mnl_socket_get_portid(nl->socket);
	return 0;
}

int kvl_netlink_open(struct kvl_netlink *nl)
{
	return open_socket(nl, 0);
}

void kvl_netlink_close(struct kvl_netlink *nl)
{
	if (nl->socket != NULL)
		mnl_socket_close(nl->socket);
	nl->socket = NULL;
}

static void grow_receive_buffer(struct kvl_netlink *nl)
{
	int size = EVENT_RCVBUF, fd = mnl_socket_get_fd(nl->socket);

	/* FORCE passes net.core.rmem_max and needs CAP_NET_ADMIN; the default will do without. */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
}

int kvl_netlink_listen(struct kvl_netlink *nl, const unsigned int *groups)
{
	int rc = open_socket(nl, SOCK_NONBLOCK);

	if (rc < 0)
		return rc;
	grow_receive_buffer(nl);
	for (; *groups != 0; groups++) {
		int group = (int)*groups;

		if (mnl_socket_setsockopt(nl->socket, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group))
			< 0) {
			rc = -errno;
			kvl_netlink_close(nl);
			return rc;
		}
	}
	return 0;
}

static int take_answers(struct kvl_netlink *nl, mnl_cb_t answer, void *data)
{
	uint8_t buf[KVL_NETLINK_BUF] __attribute__((aligned(8)));
	int fd = mnl_socket_get_fd(nl->socket);
	ssize_t len;
	int rc;

	for (;;) {
		len = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);
		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
		rc = mnl_cb_run(buf, (size_t)len, nl->seq, nl->portid, answer, data);
		if (rc == MNL_CB_STOP)
			return 0;
		/* EPROTO: the rest of an answer that an earlier fault left here. */
		if (rc < 0 && errno != EPROTO)
			return -errno;
	}
}

int kvl_netlink_ask(struct kvl_netlink *nl, struct nlmsghdr *nlh, mnl_cb_t answer, void *data)
{
	nlh->nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
	nlh->nlmsg_seq = ++nl->seq;
	if (mnl_socket_sendto(nl->socket, nlh, nlh->nlmsg_len) < 0)
		return -errno;
	return take_answers(nl, answer, data);
}

int kvl_netlink_events(struct kvl_netlink *nl, mnl_cb_t each, void *data)
{
	uint8_t buf[KVL_NETLINK_BUF] __attribute__((aligned(8)));
	ssize_t len;

	len = recv(mnl_socket_get_fd(nl->socket), buf, sizeof(buf), MSG_DONTWAIT);
	if (len < 0)
		return -errno;
	return mnl_cb_run(buf, (size_t)len, 0, 0, each, data) < 0 ? -errno : 0;
}

int kvl_netlink_family(const struct kvl_addr *addr)
{
	return kvl_addr_is_v4(addr) ? AF_INET : AF_INET6;
}

void kvl_netlink_put_addr(struct nlmsghdr *nlh, uint16_t type, const struct kvl_addr *addr)
{
	if (kvl_addr_is_v4(addr))
		mnl_attr_put(nlh, type, 4, addr->bytes + 12);
	else
		mnl_attr_put(nlh, type, 16, addr->bytes);
}

int kvl_netlink_get_addr(const struct nlattr *attr, struct kvl_addr *addr)
{
	const void *payload = mnl_attr_get_payload(attr);
	uint32_t v4;

	switch (mnl_attr_get_payload_len(attr)) {
	case 4:
		memcpy(&v4, payload, sizeof(v4));
		*addr = kvl_addr_from_v4(v4);
		return 0;
	case 16:
		memcpy(addr->bytes, payload, sizeof(addr->bytes));
		return 0;
	default:
		return -EINVAL;
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/core/neigh_event.h"

#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

static void read_neighbour(const struct nlmsghdr *nlh, struct kvl_neigh_event *event)
{
	const struct ndmsg *ndm = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *attr;

	/* A bridge's forwarding table (AF_BRIDGE) is announced in the same group. */
	if (ndm->ndm_family != AF_INET && ndm->ndm_family != AF_INET6)
		return;
	event->ifindex = ndm->ndm_ifindex;
	mnl_attr_for_each(attr, nlh, sizeof(*ndm))
	{
		if (mnl_attr_get_type(attr) == NDA_DST
			&& kvl_netlink_get_addr(attr, &event->addr) == 0)
			event->kind = KVL_NEIGH_EVENT_ENTRY;
	}
}

static void read_route(const struct nlmsghdr *nlh, struct kvl_neigh_event *event)
{
	const struct rtmsg *rtm = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *attr;

	if (rtm->rtm_flags & RTM_F_CLONED)
		return;
	event->kind = KVL_NEIGH_EVENT_PREFIX;
	event->prefix_len = rtm->rtm_dst_len;
	if (rtm->rtm_family == AF_INET) {
		event->addr = kvl_addr_from_v4(0);
		event->prefix_len += 96;
	}
	mnl_attr_for_each(attr, nlh, sizeof(*rtm))
	{
		if (mnl_attr_get_type(attr) == RTA_DST)
			kvl_netlink_get_addr(attr, &event->addr);
	}
}

static void read_link(const struct nlmsghdr *nlh, struct kvl_neigh_event *event)
{
	const struct ifinfomsg *ifi = mnl_nlmsg_get_payload(nlh);

	if (ifi->ifi_family != AF_BRIDGE)
		event->kind = KVL_NEIGH_EVENT_ALL;
}

void kvl_neigh_event_read(const struct nlmsghdr *nlh, struct kvl_neigh_event *event)
{
	*event = (struct kvl_neigh_event){.kind = KVL_NEIGH_EVENT_NONE};
	switch (nlh->nlmsg_type) {
	case RTM_NEWNEIGH:
	case RTM_DELNEIGH:
		read_neighbour(nlh, event);
		break;
	case RTM_NEWROUTE:
	case RTM_DELROUTE:
		read_route(nlh, event);
		break;
	case RTM_NEWLINK:
	case RTM_DELLINK:
		read_link(nlh, event);
		break;
	default:
		event->kind = KVL_NEIGH_EVENT_ALL;
	}
}

bool kvl_neigh_prefix_covers(
	const struct kvl_addr *prefix, unsigned int len, const struct kvl_addr *addr)
{
	unsigned int whole = len / 8, rest = len % 8;

	if (len > 128 || memcmp(prefix->bytes, addr->bytes, whole) != 0)
		return false;
	return rest == 0 || ((prefix->bytes[whole] ^ addr->bytes[whole]) >> (8 - rest)) == 0;
}

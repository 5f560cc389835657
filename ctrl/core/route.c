/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/core/route.h"

#include <errno.h>
#include <linux/if.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

/* RTA_VIA: a gateway of a family other than the route's. */
static void read_via(const struct nlattr *attr, struct kvl_route *route)
{
	const struct rtvia *via = mnl_attr_get_payload(attr);
	size_t len = mnl_attr_get_payload_len(attr);
	uint32_t v4;

	if (len == sizeof(*via) + 4) {
		memcpy(&v4, via->rtvia_addr, sizeof(v4));
		route->gateway = kvl_addr_from_v4(v4);
	} else if (len == sizeof(*via) + 16) {
		memcpy(route->gateway.bytes, via->rtvia_addr, 16);
	} else {
		return;
	}
	route->has_gateway = true;
}

static int read_route(const struct nlmsghdr *nlh, void *data)
{
	const struct rtmsg *rtm = mnl_nlmsg_get_payload(nlh);
	struct kvl_route *route = data;
	const struct nlattr *attr;

	if (nlh->nlmsg_type != RTM_NEWROUTE)
		return MNL_CB_OK;
	route->local = rtm->rtm_type == RTN_LOCAL;
	route->unicast = rtm->rtm_type == RTN_UNICAST;
	mnl_attr_for_each(attr, nlh, sizeof(*rtm))
	{
		switch (mnl_attr_get_type(attr)) {
		case RTA_OIF:
			route->ifindex = (int)mnl_attr_get_u32(attr);
			break;
		case RTA_GATEWAY:
			route->has_gateway = kvl_netlink_get_addr(attr, &route->gateway) == 0;
			break;
		case RTA_VIA:
			read_via(attr, route);
			break;
		case RTA_PREFSRC:
			kvl_netlink_get_addr(attr, &route->source);
			break;
		}
	}
	return MNL_CB_OK;
}

int kvl_route_get(struct kvl_netlink *nl, const struct kvl_addr *addr, struct kvl_route *route)
{
	uint8_t buf[256] __attribute__((aligned(8))) = {0};
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct rtmsg *rtm = mnl_nlmsg_put_extra_header(nlh, sizeof(*rtm));

	*route = (struct kvl_route){0};
	nlh->nlmsg_type = RTM_GETROUTE;
	rtm->rtm_family = (unsigned char)kvl_netlink_family(addr);
	rtm->rtm_dst_len = rtm->rtm_family == AF_INET ? 32 : 128;
	kvl_netlink_put_addr(nlh, RTA_DST, addr);
	return kvl_netlink_ask(nl, nlh, read_route, route);
}

bool kvl_route_refused(int error)
{
	switch (error) {
	case -ENETUNREACH:
	case -EHOSTUNREACH:
	case -EACCES: /* prohibit */
	case -EINVAL: /* blackhole */
	case -ENODEV:
	case -ESRCH:
	case -EAFNOSUPPORT: /* IPv6 is switched off */
	case -EOPNOTSUPP:
		return true;
	default:
		return false;
	}
}

static int read_link(const struct nlmsghdr *nlh, void *data)
{
	const struct ifinfomsg *ifi = mnl_nlmsg_get_payload(nlh);
	bool *up = data;

	if (nlh->nlmsg_type == RTM_NEWLINK)
		*up = (ifi->ifi_flags & IFF_UP) && (ifi->ifi_flags & IFF_LOWER_UP);
	return MNL_CB_OK;
}

int kvl_link_get(struct kvl_netlink *nl, int ifindex, bool *up)
{
	uint8_t buf[256] __attribute__((aligned(8))) = {0};
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct ifinfomsg *ifi = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifi));

	*up = false;
	nlh->nlmsg_type = RTM_GETLINK;
	ifi->ifi_index = ifindex;
	mnl_attr_put_u32(nlh, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
	return kvl_netlink_ask(nl, nlh, read_link, up);
}

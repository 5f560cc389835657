/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/core/neigh_entry.h"

#include <errno.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>

#define NUD_USABLE (NUD_PERMANENT | NUD_NOARP | NUD_REACHABLE | NUD_STALE | NUD_DELAY | NUD_PROBE)

static struct nlmsghdr *put_entry(
	void *buf, uint16_t type, int ifindex, const struct kvl_addr *addr)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct ndmsg *ndm = mnl_nlmsg_put_extra_header(nlh, sizeof(*ndm));

	nlh->nlmsg_type = type;
	ndm->ndm_family = (uint8_t)kvl_netlink_family(addr);
	ndm->ndm_ifindex = ifindex;
	kvl_netlink_put_addr(nlh, NDA_DST, addr);
	return nlh;
}

static int read_entry(const struct nlmsghdr *nlh, void *data)
{
	const struct ndmsg *ndm = mnl_nlmsg_get_payload(nlh);
	struct kvl_neigh_entry *entry = data;
	const struct nlattr *attr;

	if (nlh->nlmsg_type != RTM_NEWNEIGH)
		return MNL_CB_OK;
	entry->state = ndm->ndm_state;
	entry->ext_learned = ndm->ndm_flags & NTF_EXT_LEARNED;
	mnl_attr_for_each(attr, nlh, sizeof(*ndm))
	{
		switch (mnl_attr_get_type(attr)) {
		case NDA_LLADDR:
			entry->has_mac = mnl_attr_get_payload_len(attr) == sizeof(entry->mac);
			if (entry->has_mac)
				memcpy(entry->mac, mnl_attr_get_payload(attr), sizeof(entry->mac));
			break;
		case NDA_FLAGS_EXT:
			entry->managed = mnl_attr_get_u32(attr) & NTF_EXT_MANAGED;
			break;
		}
	}
	return MNL_CB_OK;
}

int kvl_neigh_entry_get(struct kvl_netlink *nl, int ifindex, const struct kvl_addr *addr,
	struct kvl_neigh_entry *entry)
{
	uint8_t buf[256] __attribute__((aligned(8))) = {0};

	*entry = (struct kvl_neigh_entry){0};
	return kvl_netlink_ask(nl, put_entry(buf, RTM_GETNEIGH, ifindex, addr), read_entry, entry);
}

int kvl_neigh_entry_use(
	struct kvl_netlink *nl, int ifindex, const struct kvl_addr *addr, unsigned int use)
{
	uint8_t buf[256] __attribute__((aligned(8))) = {0};
	struct nlmsghdr *nlh = put_entry(buf, RTM_NEWNEIGH, ifindex, addr);
	struct ndmsg *ndm = mnl_nlmsg_get_payload(nlh);

	if (use & KVL_NEIGH_CREATE)
		nlh->nlmsg_flags |= NLM_F_CREATE | NLM_F_EXCL;
	ndm->ndm_flags = NTF_USE;
	if (use & KVL_NEIGH_MANAGED)
		mnl_attr_put_u32(nlh, NDA_FLAGS_EXT, NTF_EXT_MANAGED);
	return kvl_netlink_ask(nl, nlh, NULL, NULL);
}

int kvl_neigh_entry_probe(struct kvl_netlink *nl, int ifindex, const struct kvl_addr *addr)
{
	uint8_t buf[256] __attribute__((aligned(8))) = {0};
	struct nlmsghdr *nlh = put_entry(buf, RTM_NEWNEIGH, ifindex, addr);
	struct ndmsg *ndm = mnl_nlmsg_get_payload(nlh);

	nlh->nlmsg_flags |= NLM_F_REPLACE;
	ndm->ndm_state = NUD_PROBE;
	return kvl_netlink_ask(nl, nlh, NULL, NULL);
}

int kvl_neigh_entry_delete(struct kvl_netlink *nl, int ifindex, const struct kvl_addr *addr)
{
	uint8_t buf[256] __attribute__((aligned(8))) = {0};

	return kvl_netlink_ask(nl, put_entry(buf, RTM_DELNEIGH, ifindex, addr), NULL, NULL);
}

bool kvl_neigh_entry_usable(const struct kvl_neigh_entry *entry)
{
	return (entry->state & NUD_USABLE) && entry->has_mac;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

#include <libmnl/libmnl.h>

#include "lib/model/addr.h"

/*
 * Questions to the kernel's rtnetlink, asked and answered on the spot. The kernel works a request
 * off inside sendmsg(), so its answer lies in the socket's queue when that returns: nothing here
 * waits for anybody (sendmsg() itself can wait for the kernel's RTNL lock, as any `ip` command
 * does). Events come on a socket of their own (kvl_netlink_listen): an overflow there then loses
 * no answer.
 *
 * Control core only. int functions return 0 or a negative errno, the kernel's own included.
 */
struct kvl_netlink {
	struct mnl_socket *socket; /* NULL = closed */
	unsigned int portid;
	uint32_t seq;
};

#define KVL_NETLINK_BUF 16384 /* the largest answer asked for is one link without statistics */

/* In the network namespace of the calling thread, now and for good. */
int kvl_netlink_open(struct kvl_netlink *nl);
void kvl_netlink_close(struct kvl_netlink *nl);

/* An event socket in the groups (RTNLGRP_*, ended by 0), non-blocking. */
int kvl_netlink_listen(struct kvl_netlink *nl, const unsigned int *groups);

/*
 * Sends the request and gives each answer to `answer` (NULL: none expected) until the kernel
 * acknowledges or refuses. nlmsg_seq and NLM_F_REQUEST|NLM_F_ACK are set here.
 */
int kvl_netlink_ask(struct kvl_netlink *nl, struct nlmsghdr *nlh, mnl_cb_t answer, void *data);

/*
 * Gives the events that are there to `each`, at most one call's worth (so that a flood cannot hold
 * the loop). -EAGAIN: no more; -ENOBUFS: events were lost.
 */
int kvl_netlink_events(struct kvl_netlink *nl, mnl_cb_t each, void *data);

/* AF_INET or AF_INET6: how the kernel speaks of the address. */
int kvl_netlink_family(const struct kvl_addr *addr);
void kvl_netlink_put_addr(struct nlmsghdr *nlh, uint16_t type, const struct kvl_addr *addr);

/* -EINVAL: not four or sixteen bytes. */
int kvl_netlink_get_addr(const struct nlattr *attr, struct kvl_addr *addr);

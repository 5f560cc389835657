/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
#pragma once

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/udp.h>
#include <stdbool.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "dataplane/port/steering_maps.h"

/*
 * Which packets are the router's: requests to a service, and replies to one of our source ports.
 * All else is the kernel's: ARP, ICMP, TCP, and also what the fast path does not take, fragments
 * and IP options (DESIGN "The kernel's part"). Shared by the XDP and the tc program, so that both
 * take the same packets.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, struct kvl_steering_key);
	__type(value, __u8);
	__uint(max_entries, KVL_STEERING_SERVICES);
} services SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, __u32); /* address, network order */
	__type(value, struct kvl_steering_snat);
	__uint(max_entries, KVL_STEERING_SNATS);
} snats SEC(".maps");

struct vlan_header {
	__be16 tci;
	__be16 proto;
};

/* The IPv4 header, behind at most one 802.1Q tag; NULL when there is none. */
static __always_inline struct iphdr *ipv4_find(void *data, void *end)
{
	struct ethhdr *ether = data;
	void *next = ether + 1;
	__be16 proto;

	if (next > end)
		return NULL;
	proto = ether->h_proto;
	if (proto == bpf_htons(ETH_P_8021Q)) {
		struct vlan_header *tag = next;

		next = tag + 1;
		if (next > end)
			return NULL;
		proto = tag->proto;
	}
	if (proto != bpf_htons(ETH_P_IP) || next + sizeof(struct iphdr) > end)
		return NULL;
	return next;
}

static __always_inline bool packet_is_ours(void *data, void *end)
{
	struct iphdr *ip = ipv4_find(data, end);
	struct kvl_steering_key key = {0};
	struct kvl_steering_snat *snat;
	struct udphdr *udp;
	__u16 port;

	if (!ip || ip->version != 4 || ip->ihl != 5 || ip->protocol != IPPROTO_UDP
		|| (ip->frag_off & bpf_htons(0x3fff))) /* more fragments, or an offset */
		return false;
	udp = (void *)(ip + 1);
	if ((void *)(udp + 1) > end)
		return false;

	key.address = ip->daddr;
	key.port = udp->dest;
	if (bpf_map_lookup_elem(&services, &key))
		return true;

	snat = bpf_map_lookup_elem(&snats, &key.address);
	port = bpf_ntohs(udp->dest);
	return snat && port >= snat->first && port <= snat->last;
}

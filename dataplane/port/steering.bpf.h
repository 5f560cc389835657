/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
#pragma once

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <stdbool.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "dataplane/port/steering_maps.h"

/*
 * Which packets are the router's: requests to a service, replies to one of our source ports, and
 * ICMP errors about what was sent from one. All else is the kernel's: ARP, ND, ping, TCP, and also
 * what the fast path does not take, fragments, IP options and extension headers
 * (docs/architecture.md, "The kernel's part"). Shared by the XDP and the tc program, so that both
 * take the same packets. What comes from a client that the service does not list ends here,
 * counted (SPEC 12).
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, struct kvl_steering_key);
	__type(value, __u8);
	__uint(max_entries, KVL_STEERING_SERVICES);
} services SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, struct kvl_steering_address);
	__type(value, struct kvl_steering_snat);
	__uint(max_entries, KVL_STEERING_SNATS);
} snats SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__type(key, struct kvl_steering_client);
	__type(value, __u8);
	__uint(max_entries, KVL_STEERING_CLIENTS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
} clients SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, __u64);
	__uint(max_entries, 1);
} denied SEC(".maps");

enum packet_verdict {
	PACKET_KERNELS,
	PACKET_OURS,
	PACKET_DENIED,
};

struct vlan_header {
	__be16 tci;
	__be16 proto;
};

#define ICMPV6 58

/* Their own headers want the C library's. ICMPv6's errors begin alike. */
#define ICMP_UNREACHABLE   3
#define ICMPV6_UNREACHABLE 1

struct icmp_header {
	__u8 type, code;
	__be16 checksum;
	__be32 unused; /* what the error is about follows */
};

/* What is behind an IP header without options, and the addresses in it; next NULL: not for us. */
struct packet {
	void *next;
	__u8 proto;
	struct kvl_steering_address from, to;
};

static __always_inline struct kvl_steering_address address_v4(__be32 v4)
{
	struct kvl_steering_address a = {.bytes = {[10] = 0xff, [11] = 0xff}};

	__builtin_memcpy(a.bytes + 12, &v4, sizeof(v4));
	return a;
}

static __always_inline struct packet ipv4_read(void *at, void *end)
{
	struct packet p = {0};
	struct iphdr *ip = at;

	if ((void *)(ip + 1) > end || ip->version != 4 || ip->ihl != 5
		|| (ip->frag_off & bpf_htons(0x3fff))) /* more fragments, or an offset */
		return p;
	p.next = ip + 1;
	p.proto = ip->protocol;
	p.from = address_v4(ip->saddr);
	p.to = address_v4(ip->daddr);
	return p;
}

static __always_inline struct packet ipv6_read(void *at, void *end)
{
	struct packet p = {0};
	struct ipv6hdr *ip = at;

	if ((void *)(ip + 1) > end || ip->version != 6)
		return p;
	p.next = ip + 1;
	p.proto = ip->nexthdr;
	__builtin_memcpy(p.from.bytes, &ip->saddr, sizeof(p.from));
	__builtin_memcpy(p.to.bytes, &ip->daddr, sizeof(p.to));
	return p;
}

/* Behind at most one 802.1Q tag. */
static __always_inline struct packet packet_read(void *data, void *end)
{
	struct packet none = {0};
	struct ethhdr *ether = data;
	void *next = ether + 1;
	__be16 proto;

	if (next > end)
		return none;
	proto = ether->h_proto;
	if (proto == bpf_htons(ETH_P_8021Q)) {
		struct vlan_header *tag = next;

		next = tag + 1;
		if (next > end)
			return none;
		proto = tag->proto;
	}
	if (proto == bpf_htons(ETH_P_IP))
		return ipv4_read(next, end);
	return proto == bpf_htons(ETH_P_IPV6) ? ipv6_read(next, end) : none;
}

static __always_inline bool snat_has(struct kvl_steering_address *address, __be16 port_be)
{
	struct kvl_steering_snat *snat = bpf_map_lookup_elem(&snats, address);
	__u16 port = bpf_ntohs(port_be);

	return snat && port >= snat->first && port <= snat->last;
}

/* The source of a request to a service with a list. */
static __always_inline enum packet_verdict client_judge(
	const struct kvl_steering_key *service, const struct kvl_steering_address *source)
{
	struct kvl_steering_client client = {
		.prefixlen = KVL_STEERING_CLIENT_BITS, .service = *service, .source = *source};
	__u32 first = 0;
	__u64 *count;

	if (bpf_map_lookup_elem(&clients, &client))
		return PACKET_OURS;
	count = bpf_map_lookup_elem(&denied, &first);
	if (count)
		++*count;
	return PACKET_DENIED;
}

static __always_inline enum packet_verdict udp_judge(struct packet *p, void *end)
{
	struct kvl_steering_key key = {.address = p->to};
	struct udphdr *udp = p->next;
	__u8 *service;

	if ((void *)(udp + 1) > end)
		return PACKET_KERNELS;
	key.port = udp->dest;
	service = bpf_map_lookup_elem(&services, &key);
	if (service)
		return *service == KVL_STEERING_LISTED ? client_judge(&key, &p->from) : PACKET_OURS;
	return snat_has(&p->to, udp->dest) ? PACKET_OURS : PACKET_KERNELS;
}

/* An error is about what it quotes: the header that we sent. */
static __always_inline bool error_is_ours(struct packet *p, void *end)
{
	struct packet quoted = {0};
	struct icmp_header *icmp = p->next;
	struct udphdr *udp;

	if ((void *)(icmp + 1) > end)
		return false;
	if (p->proto == IPPROTO_ICMP && icmp->type == ICMP_UNREACHABLE)
		quoted = ipv4_read(icmp + 1, end);
	else if (p->proto == ICMPV6 && icmp->type == ICMPV6_UNREACHABLE)
		quoted = ipv6_read(icmp + 1, end);
	udp = quoted.next;
	if (!udp || quoted.proto != IPPROTO_UDP || (void *)(udp + 1) > end)
		return false;
	return snat_has(&quoted.from, udp->source);
}

static __always_inline enum packet_verdict packet_judge(void *data, void *end)
{
	struct packet p = packet_read(data, end);

	if (!p.next)
		return PACKET_KERNELS;
	if (p.proto == IPPROTO_UDP)
		return udp_judge(&p, end);
	return error_is_ours(&p, end) ? PACKET_OURS : PACKET_KERNELS;
}

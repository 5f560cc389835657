/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
#include <linux/pkt_cls.h>

#include "dataplane/port/steering.bpf.h"

/*
 * af_packet ports: the packet socket has its copy by now (taps come before tc ingress), so what is
 * the router's ends here. Otherwise the kernel would answer each request with port unreachable.
 */
SEC("tc")
int kvlane_tc(struct __sk_buff *skb)
{
	/* Headers may lie in fragments of the skb, out of reach of direct access. */
	bpf_skb_pull_data(skb, sizeof(struct ethhdr) + sizeof(struct vlan_header)
				       + 2 * sizeof(struct ipv6hdr) + sizeof(struct icmp_header)
				       + sizeof(struct udphdr));
	if (packet_judge((void *)(long)skb->data, (void *)(long)skb->data_end) != PACKET_KERNELS)
		return TC_ACT_SHOT;
	return TC_ACT_OK;
}

char _license[] SEC("license") = "Dual BSD/GPL";

/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
#include "dataplane/port/steering.bpf.h"

/* AF_XDP ports: hands the router's packets to the queue's socket, passes the rest to the kernel. */
struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__type(key, __u32);
	__type(value, __u32);
	__uint(max_entries, 64);
} xsks_map SEC(".maps"); /* the name that DPDK's net_af_xdp looks for */

SEC("xdp")
int kvlane_xdp(struct xdp_md *ctx)
{
	switch (packet_judge((void *)(long)ctx->data, (void *)(long)ctx->data_end)) {
	case PACKET_KERNELS:
		return XDP_PASS;
	case PACKET_DENIED:
		return XDP_DROP;
	default:
		break;
	}
	/* A queue without a socket passes: better late through the slow path than lost. */
	return bpf_redirect_map(&xsks_map, ctx->rx_queue_index, XDP_PASS);
}

char _license[] SEC("license") = "Dual BSD/GPL";

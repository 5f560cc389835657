/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "dataplane/burst.h"
#include "dataplane/checksum.h"

/*
 * nat's translation of a datagram, in either direction: new addresses and ports, a new request id
 * in the frame, one hop less. Client and node may be of different families.
 */

/* New addresses, of one family, and ports, network order. */
struct kvl_endpoints {
	const struct kvl_addr *source, *destination;
	uint16_t source_port, destination_port;
};

/* Ports and the frame's id; `addresses` is what they change, since the UDP checksum covers them
 * too (the pseudo-header). */
static inline void kvl_translate_udp(
	struct kvl_packet *p, const struct kvl_endpoints *to, uint16_t id, kvl_csum_delta addresses)
{
	struct rte_udp_hdr *udp = kvl_packet_udp(p);
	struct kvl_frame *frame = (void *)kvl_packet_payload(p);
	kvl_csum_delta rest = kvl_csum_change16(udp->src_port, to->source_port)
			      + kvl_csum_change16(udp->dst_port, to->destination_port)
			      + kvl_csum_change16(frame->id, id);

	udp->src_port = to->source_port;
	udp->dst_port = to->destination_port;
	frame->id = id;
	udp->dgram_cksum = kvl_csum_apply_udp(udp->dgram_cksum, addresses + rest);
}

/* All but IPv4 to IPv4. False: the mbuf has no room for the longer header. */
bool kvl_translate_v6(struct kvl_packet *p, const struct kvl_endpoints *to, uint16_t id);

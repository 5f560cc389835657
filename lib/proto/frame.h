/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

/* memcached's UDP frame (memcached doc/protocol.txt, "UDP protocol"); all fields big-endian. */
struct kvl_frame {
	uint16_t id;       /* chosen by the client, echoed */
	uint16_t sequence; /* of this datagram within its message, from 0 */
	uint16_t total;    /* datagrams of the message; a request has 1 */
	uint16_t reserved;
};

#define KVL_FRAME_LEN 8

_Static_assert(sizeof(struct kvl_frame) == KVL_FRAME_LEN, "the frame is eight bytes on the wire");

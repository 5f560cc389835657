/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

/*
 * What is in the mbufs of the bench's world before a round. The pipeline rewrites frames in place,
 * so each round writes them anew, outside the timer. That leaves headers and payloads in the
 * cache, as a NIC's direct cache access does.
 */
enum frames_command {
	FRAMES_GET,
	FRAMES_SET, /* a value of 32 bytes */
};

struct frames_kind {
	const char *vip; /* "10.1.0.100:11211" */
	enum frames_command command;
	unsigned int keys; /* distinct ones, of 18 to 22 bytes */
};

/* Requests for all mbufs. Many keys: those of `round` follow on those of the round before. */
void frames_requests(const struct frames_kind *kind, unsigned int round);

/* Turns the mbufs, nat requests as the pipeline sent them, into the nodes' replies: hits of
 * 32 bytes. */
void frames_replies(void);

/* What a driver writes into the mbufs that it hands over. Cold: the frames are only in memory. */
void frames_receive(struct rte_mbuf **mbufs, unsigned int count, bool cold);

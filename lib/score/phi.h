/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

/*
 * Phi accrual failure detector (Hayashibara, Defago, Yared, Katayama 2004; SPEC 6.5): how
 * unlikely is the present silence, given the heartbeats' intervals so far?
 *   phi = -log10(P(next heartbeat later than now)),  intervals taken as normally distributed
 * phi 8 is one false alarm in 10^8. The deviation has a floor, as in Akka: a node that reported
 * like clockwork must not be dead after the first delayed datagram. One lost report makes one
 * interval of twice the length; the floor is chosen so that one is never enough for phi 8, and
 * samples longer than KVL_PHI_LONGEST intervals are the node's absence, not the network's jitter,
 * and teach nothing.
 */
#define KVL_PHI_WINDOW  64
#define KVL_PHI_LEAST   4 /* intervals before the measured ones replace the expected one */
#define KVL_PHI_DOWN    8.0
#define KVL_PHI_MOST    300.0
#define KVL_PHI_LONGEST 5
/* Of the mean: two intervals of silence are at z = 1/0.25 = 4, phi 4.5; phi 8 at 2.4 intervals. */
#define KVL_PHI_DEVIATION 0.25

struct kvl_phi {
	uint32_t intervals_ms[KVL_PHI_WINDOW];
	uint8_t count, next;
	uint32_t expected_ms; /* as configured */
	uint64_t last_ms;     /* 0 = no heartbeat yet */
};

void kvl_phi_init(struct kvl_phi *p, uint32_t expected_ms);

/* A heartbeat arrived; times are the receiver's, monotonic, above 0. */
void kvl_phi_beat(struct kvl_phi *p, uint64_t now_ms);

/* 0..KVL_PHI_MOST. A node that never sent a heartbeat has none to miss: 0. */
double kvl_phi(const struct kvl_phi *p, uint64_t now_ms);

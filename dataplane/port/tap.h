/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * A tap: the interface by which the kernel takes part in a port that it does not see. Opened here
 * and not as a DPDK device: net_tap has each frame of the kernel's told by a signal, which the
 * workers' threads would get as well as any other (SIGIO, DPDK 22.11), and needs a thread to poll
 * it all the same.
 *
 * It goes with the descriptor, unless somebody made it beforehand (`ip tuntap add NAME mode tap`):
 * such a one keeps its addresses over a restart.
 *
 * Frames carry no header of tun's and no offload: what is read is whole, checksums and tag in it.
 */

/*
 * Opens (makes) the tap with the NIC's MAC and MTU and sets it up. Returns the descriptor, which
 * does not block, or negative errno with what to do in `error`.
 */
int kvl_tap_open(
	const char *name, const uint8_t mac[6], uint16_t mtu, char *error, size_t error_size);

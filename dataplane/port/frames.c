/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_ether.h>
#include <rte_mbuf.h>

#include "dataplane/port/frames.h"

_Static_assert(KVL_ROOM_MIN == RTE_MBUF_DEFAULT_BUF_SIZE, "the header is read without DPDK's");

#define LINK_BYTES (RTE_ETHER_HDR_LEN + 2 * RTE_VLAN_HLEN)

/* af_packet: what the kernel puts before a packet in a ring's frame; net/packet/af_packet.c. */
#define RING_HEADER    (TPACKET_ALIGN(TPACKET2_HDRLEN + 16) - RTE_ETHER_HDR_LEN)
#define RING_FRAME     2048u  /* DPDK's default, and what block sizes are multiples of */
#define RING_FRAME_MAX 65280u /* with its headroom it fits an mbuf */
#define XDP_HEADROOM   256u
#define ROOM_MULTIPLE  64u

static int interface_ioctl(const char *name, unsigned long what, int *mtu)
{
	struct ifreq r = {.ifr_mtu = *mtu};
	int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int rc;

	if (s < 0)
		return -errno;
	snprintf(r.ifr_name, sizeof(r.ifr_name), "%.*s", IFNAMSIZ - 1, name);
	rc = ioctl(s, what, &r) < 0 ? -errno : 0;
	close(s);
	*mtu = r.ifr_mtu;
	return rc;
}

/* 0: there is no such interface, or none yet. */
static unsigned int interface_mtu(const char *name)
{
	int mtu = 0;

	return interface_ioctl(name, SIOCGIFMTU, &mtu) < 0 || mtu < 0 ? 0 : (unsigned int)mtu;
}

int kvl_interface_set_mtu(const char *name, uint16_t mtu)
{
	int value = mtu;

	return interface_ioctl(name, SIOCSIFMTU, &value);
}

static uint16_t mtu_wanted(const struct kvl_port_config *port)
{
	unsigned int own = 0;

	if (port->mtu != 0)
		return port->mtu;
	if (port->interface[0] != '\0' && port->exception[0] == '\0')
		own = interface_mtu(port->interface);
	return own == 0 ? RTE_ETHER_MTU : RTE_MIN(own, (unsigned int)KVL_MTU_MAX);
}

/* The number behind ",name=" in the device string; 0: it is not there. */
static unsigned long device_arg(const struct kvl_port_config *port, const char *name)
{
	const char *at = strstr(port->device, name);

	return at == NULL ? 0 : strtoul(at + strlen(name), NULL, 10);
}

static uint16_t room_up(size_t room)
{
	size_t up = RTE_ALIGN_CEIL(RTE_MAX(room, (size_t)KVL_ROOM_MIN), ROOM_MULTIPLE);

	return RTE_MIN(up, (size_t)UINT16_MAX);
}

uint16_t kvl_frames_room(uint16_t mtu)
{
	return room_up(RTE_PKTMBUF_HEADROOM + LINK_BYTES + mtu);
}

/*
 * A ring's frames follow the MTU unless they are given. DPDK takes frame i to lie at i times the
 * frame size, so blocks must hold whole frames only. It wants a frame to fit an mbuf.
 */
static int ring_plan(
	const struct kvl_port_config *port, struct kvl_frames *f, char *error, size_t size)
{
	unsigned long need = RING_HEADER + LINK_BYTES + f->mtu;
	unsigned long frame = device_arg(port, ",framesz=");
	unsigned long block = device_arg(port, ",blocksz=");

	if (frame != 0 && frame < need) {
		snprintf(error, size,
			"port %s: framesz=%lu is too small for an MTU of %u: give %lu or more, or "
			"a lower mtu:",
			port->name, frame, f->mtu, need);
		return -EINVAL;
	}
	if (frame > RING_FRAME_MAX) {
		snprintf(error, size, "port %s: framesz=%lu must be at most %u", port->name, frame,
			RING_FRAME_MAX);
		return -EINVAL;
	}
	if (frame == 0 && need > RING_FRAME) {
		frame = RTE_ALIGN_CEIL(need, RING_FRAME);
		if (block != 0 && block % frame != 0) {
			snprintf(error, size,
				"port %s: blocksz=%lu is no multiple of %lu, the frame size that "
				"an MTU of %u needs: leave it out, or give both",
				port->name, block, frame, f->mtu);
			return -EINVAL;
		}
		snprintf(f->args, sizeof(f->args),
			block != 0 ? ",framesz=%lu" : ",framesz=%lu,blocksz=%lu", frame, 2 * frame);
	}
	f->room = RTE_MAX(f->room, room_up(RTE_PKTMBUF_HEADROOM + frame));
	return 0;
}

static int xdp_plan(
	const struct kvl_port_config *port, struct kvl_frames *f, char *error, size_t size)
{
	if (f->mtu > KVL_XDP_MTU_MAX) {
		snprintf(error, size,
			"port %s: AF_XDP takes packets of %u bytes at most, the MTU is %u: `ip "
			"link set %s mtu 1500`, a lower mtu:, or net_af_packet",
			port->name, KVL_XDP_MTU_MAX, f->mtu, port->interface);
		return -EINVAL;
	}
	f->room = RTE_MAX(
		f->room, room_up(RTE_PKTMBUF_HEADROOM + XDP_HEADROOM + LINK_BYTES + f->mtu));
	return 0;
}

int kvl_frames_plan(const struct kvl_port_config *port, struct kvl_frames *frames, char *error,
	size_t error_size)
{
	*frames = (struct kvl_frames){.mtu = mtu_wanted(port)};
	frames->room = kvl_frames_room(frames->mtu);
	if (kvl_device_is(port, "net_af_packet"))
		return ring_plan(port, frames, error, error_size);
	if (kvl_device_is(port, "net_af_xdp"))
		return xdp_plan(port, frames, error, error_size);
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dataplane/port/frames.h"
#include "dataplane/port/tap.h"

static struct ifreq request_for(const char *name)
{
	struct ifreq r = {0};

	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", name);
	return r;
}

static int tap_attach(int fd, const char *name)
{
	struct ifreq r = request_for(name);

	r.ifr_flags = IFF_TAP | IFF_NO_PI;
	return ioctl(fd, TUNSETIFF, &r) < 0 ? -errno : 0;
}

static int mac_set(int s, const char *name, const uint8_t mac[6])
{
	struct ifreq r = request_for(name);

	r.ifr_hwaddr.sa_family = ARPHRD_ETHER;
	memcpy(r.ifr_hwaddr.sa_data, mac, 6);
	return ioctl(s, SIOCSIFHWADDR, &r) < 0 ? -errno : 0;
}

static int up_set(int s, const char *name)
{
	struct ifreq r = request_for(name);

	if (ioctl(s, SIOCGIFFLAGS, &r) < 0)
		return -errno;
	r.ifr_flags |= IFF_UP;
	return ioctl(s, SIOCSIFFLAGS, &r) < 0 ? -errno : 0;
}

/* As the NIC is, so that the kernel answers ARP with the address that frames come to. */
static int tap_dress(const char *name, const uint8_t mac[6], uint16_t mtu)
{
	int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int rc;

	if (s < 0)
		return -errno;
	rc = mac_set(s, name, mac);
	if (rc == 0)
		rc = kvl_interface_set_mtu(name, mtu);
	if (rc == 0)
		rc = up_set(s, name);
	close(s);
	return rc;
}

static const char *advice(int rc)
{
	switch (rc) {
	case -EBUSY:
		return "another program has it: stop that one, or give another `exception:`";
	case -EINVAL:
		return "an interface of this name is there and is no tap: give another "
		       "`exception:`";
	case -ENOENT:
	case -ENXIO:
		return "the kernel has no tun: `modprobe tun`, or `exception: none`";
	default:
		return "it needs CAP_NET_ADMIN and /dev/net/tun; or `exception: none`";
	}
}

int kvl_tap_open(
	const char *name, const uint8_t mac[6], uint16_t mtu, char *error, size_t error_size)
{
	int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	int rc = fd < 0 ? -errno : tap_attach(fd, name);

	if (rc == 0)
		rc = tap_dress(name, mac, mtu);
	if (rc == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	snprintf(error, error_size, "tap %s: %s (%s)", name, advice(rc), strerror(-rc));
	return rc;
}

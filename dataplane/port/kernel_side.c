/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <net/if.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <rte_ethdev.h>

#include "dataplane/port/kernel_side.h"
#include "dataplane/port/tap.h"

/*
 * An abstract Unix socket as a lock: the kernel scopes its name to the network namespace, as it
 * does the interface's, and lets it go with the process, kill -9 or not.
 */
static int interface_claim(struct kvl_port *port, char *error, size_t size)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int len, fd;

	len = snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "kvlane.port.%.40s",
		port->config.interface);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&name,
		    offsetof(struct sockaddr_un, sun_path) + 1 + (socklen_t)len)
		< 0) {
		close(fd);
		snprintf(error, size,
			"port %s: interface %s is in use by another kvlaned: stop that one first, "
			"or use another interface",
			port->config.name, port->config.interface);
		return -EBUSY;
	}
	port->claim_fd = fd;
	return 0;
}

/* Receive queues that the kernel's driver has. A veth that was not told otherwise has one. */
static unsigned int interface_queues(const char *interface)
{
	char path[128];
	struct dirent *entry;
	unsigned int count = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/sys/class/net/%s/queues", interface);
	dir = opendir(path);
	if (dir == NULL)
		return 0; /* sysfs of another namespace, or none: unknown */
	while ((entry = readdir(dir)) != NULL)
		count += strncmp(entry->d_name, "rx-", 3) == 0;
	closedir(dir);
	return count;
}

static int xdp_prepare(
	struct kvl_port *port, char *devargs, size_t devargs_size, char *error, size_t size)
{
	unsigned int have = interface_queues(port->config.interface);
	const char *path = kvl_steering_xdp_path();
	char name[32] = "?";
	int rc;

	if (strstr(port->config.device, "xdp_prog=") != NULL) {
		snprintf(error, size, "port %s: xdp_prog= cannot be given: kvlaned brings its own",
			port->config.name);
		return -EINVAL;
	}
	if (have > port->queues) {
		snprintf(error, size,
			"port %s: %s has %u receive queues but there are %u workers: packets of "
			"the "
			"other queues would go to the kernel; `ethtool -L %s combined %u`, or set "
			"router.workers",
			port->config.name, port->config.interface, have, port->queues,
			port->config.interface, port->queues);
		return -EINVAL;
	}
	rc = kvl_steering_xdp_reclaim(port->ifindex, name, sizeof(name));
	if (rc < 0) {
		snprintf(error, size,
			"port %s: an XDP program that is not kvlane's (\"%s\") is attached to %s: "
			"remove it (`ip link set %s xdp off`) or use af_packet (%s)",
			port->config.name, name, port->config.interface, port->config.interface,
			strerror(-rc));
		return rc;
	}
	if (path == NULL)
		return -errno;
	snprintf(devargs, devargs_size, "%s,xdp_prog=%s", port->config.device, path);
	return 0;
}

static int mtu_set(const struct kvl_port *port, char *error, size_t size)
{
	int rc = kvl_interface_set_mtu(port->config.interface, port->config.mtu);

	if (rc < 0)
		snprintf(error, size, "port %s: interface %s does not take an MTU of %u (%s)",
			port->config.name, port->config.interface, port->config.mtu, strerror(-rc));
	return rc;
}

int kvl_kernel_side_prepare(
	struct kvl_port *port, char *devargs, size_t devargs_size, char *error, size_t error_size)
{
	bool xdp = kvl_device_is(&port->config, "net_af_xdp");
	int rc;

	snprintf(devargs, devargs_size, "%s%s", port->config.device, port->frames.args);
	/* The tap is made when the device has told its MAC. */
	if (port->config.interface[0] == '\0' || port->config.exception[0] != '\0')
		return 0;
	/* A tap's interface is made by the probe itself. */
	port->ifindex = (int)if_nametoindex(port->config.interface);
	if (port->ifindex == 0) {
		if (kvl_device_is(&port->config, "net_tap"))
			return 0;
		snprintf(error, error_size,
			"port %s: there is no interface \"%s\" (`ip link` lists them)",
			port->config.name, port->config.interface);
		return -ENODEV;
	}
	rc = interface_claim(port, error, error_size);
	if (rc == 0 && port->config.mtu != 0)
		rc = mtu_set(port, error, error_size);
	if (rc == 0 && xdp)
		rc = xdp_prepare(port, devargs, devargs_size, error, error_size);
	return rc;
}

/* The kernel wants ND's and routing daemons' groups too, which a NIC leaves out unless told. */
static int exception_open(struct kvl_port *port, char *error, size_t error_size)
{
	char why[192];
	int rc =
		kvl_tap_open(port->config.exception, port->mac, port->frames.mtu, why, sizeof(why));

	if (rc < 0) {
		snprintf(error, error_size, "port %s: %s", port->config.name, why);
		return rc;
	}
	port->tap_fd = rc;
	rte_eth_allmulticast_enable(port->dpdk_port);
	return 0;
}

bool kvl_port_mac_follow(struct kvl_port *port)
{
	struct ifreq r = {0};
	int s, rc;

	/* A tap's is ours to give, and says nothing of the NIC's. */
	if (port->ifindex == 0 || port->tap_fd >= 0)
		return false;
	s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (s < 0)
		return false;
	snprintf(r.ifr_name, sizeof(r.ifr_name), "%.*s", IFNAMSIZ - 1, port->config.interface);
	rc = ioctl(s, SIOCGIFHWADDR, &r);
	close(s);
	if (rc < 0 || memcmp(r.ifr_hwaddr.sa_data, port->mac, sizeof(port->mac)) == 0)
		return false;
	memcpy(port->mac, r.ifr_hwaddr.sa_data, sizeof(port->mac));
	return true;
}

int kvl_kernel_side_attach(
	struct kvl_port *port, const struct kvl_port_params *params, char *error, size_t error_size)
{
	int rc = 0;

	if (port->config.exception[0] != '\0') {
		rc = exception_open(port, error, error_size);
		if (rc < 0)
			return rc;
	}
	if (port->config.interface[0] != '\0' && port->ifindex == 0)
		port->ifindex = (int)if_nametoindex(port->config.interface);
	if (kvl_device_is(&port->config, "net_af_xdp"))
		rc = kvl_steering_xdp_open(&port->steering, port->ifindex);
	else if (kvl_device_is(&port->config, "net_af_packet"))
		rc = kvl_steering_tc_open(&port->steering, port->ifindex);
	for (unsigned int f = 0; rc == 0 && f < KVL_FAMILIES; f++)
		if (port->config.has_snat[f])
			rc = kvl_steering_snat(&port->steering, &port->config.snat[f],
				params->snat_first, params->snat_last);
	if (rc < 0)
		snprintf(error, error_size,
			"port %s: cannot put the steering program on %s (%s): it needs CAP_BPF and "
			"CAP_NET_ADMIN",
			port->config.name, port->config.interface, strerror(-rc));
	return rc;
}

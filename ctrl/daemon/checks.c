/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ctrl/core/log.h"
#include "ctrl/daemon/checks.h"

static bool nat_used(const struct kvl_config *config)
{
	for (size_t i = 0; i < config->service_count; i++)
		if (config->services[i].mode == KVL_MODE_NAT)
			return true;
	return false;
}

/*
 * Replies to our SNAT ports are taken from the kernel, so its own sockets must not live there: a
 * resolver's or an NTP client's replies would be lost, and theirs could be mistaken for ours.
 */
static int ports_check(const struct kvl_config *config, char *error, size_t size)
{
	const struct kvl_router_config *r = &config->router;
	unsigned int first, last;
	FILE *f = fopen("/proc/sys/net/ipv4/ip_local_port_range", "r");
	int rc = 0;

	if (f == NULL)
		return 0;
	if (fscanf(f, "%u %u", &first, &last) == 2 && first <= r->snat_last
		&& last >= r->snat_first) {
		snprintf(error, size,
			"router.snat_ports %u-%u overlap the kernel's own ephemeral ports %u-%u: "
			"`sysctl -w net.ipv4.ip_local_port_range=\"32768 60999\"`, or choose other "
			"snat_ports",
			r->snat_first, r->snat_last, first, last);
		rc = -EADDRINUSE;
	}
	fclose(f);
	return rc;
}

static bool address_is_local(const struct kvl_addr *address)
{
	struct ifaddrs *list, *i;
	bool found = false;

	if (getifaddrs(&list) < 0)
		return true; /* not known to be wrong */
	for (i = list; i != NULL && !found; i = i->ifa_next) {
		const struct sockaddr_in *in = (const void *)i->ifa_addr;

		if (in != NULL && in->sin_family == AF_INET && kvl_addr_is_v4(address))
			found = in->sin_addr.s_addr == kvl_addr_v4(address);
	}
	freeifaddrs(list);
	return found;
}

static void addresses_warn(const struct kvl_config *config)
{
	char text[KVL_ADDR_STRLEN];

	for (size_t i = 0; i < config->port_count; i++) {
		const struct kvl_port_config *port = &config->ports[i];

		if (port->has_snat && port->interface[0] != '\0' && !address_is_local(&port->snat))
			kvl_log(KVL_LOG_WARNING,
				"port %s: snat %s is not an address of this host, so nobody "
				"answers "
				"ARP for it and nodes' replies will not come: `ip addr add %s/32 "
				"dev %s`",
				port->name, kvl_addr_format(&port->snat, text), text,
				port->interface);
	}
}

int kvl_start_checks(const struct kvl_config *config, char *error, size_t error_size)
{
	if (geteuid() != 0) {
		snprintf(error, error_size,
			"kvlaned must be started as root: it maps device memory and attaches "
			"programs to interfaces");
		return -EPERM;
	}
	addresses_warn(config);
	return nat_used(config) ? ports_check(config, error, error_size) : 0;
}

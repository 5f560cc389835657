/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ctrl/core/log.h"
#include "ctrl/daemon/checks.h"
#include "lib/model/endpoint.h"

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
		struct kvl_endpoint own;

		found = i->ifa_addr != NULL && kvl_sockaddr_read(i->ifa_addr, &own) == 0
			&& kvl_addr_eq(&own.address, address);
	}
	freeifaddrs(list);
	return found;
}

static void addresses_warn(const struct kvl_config *config)
{
	char text[KVL_ADDR_STRLEN];

	for (size_t i = 0; i < config->port_count; i++) {
		const struct kvl_port_config *port = &config->ports[i];

		for (unsigned int f = 0; f < KVL_FAMILIES; f++)
			if (port->has_snat[f] && port->interface[0] != '\0'
				&& !address_is_local(&port->snat[f]))
				kvl_log(KVL_LOG_WARNING,
					"port %s: snat %s is not an address of this host, so "
					"nobody answers ARP or neighbour discovery for it and "
					"nodes' replies will not come: `ip addr add %s/%s dev %s`",
					port->name, kvl_addr_format(&port->snat[f], text), text,
					f == KVL_IPV4 ? "32" : "128", port->interface);
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

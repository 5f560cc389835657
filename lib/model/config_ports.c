/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/model/draft.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

/* `ports:` */

enum port_field {
	PORT_NAME,
	PORT_DEVICE,
	PORT_INTERFACE,
	PORT_EXCEPTION,
	PORT_SNAT,
	PORT_SNAT6,
	PORT_MTU,
	PORT_FIELDS,
};

static int set_family(const struct field *f, const char *text, void *to, char *why, size_t size,
	enum kvl_family family)
{
	struct kvl_addr addr;
	int rc = set_address(f, text, &addr, why, size);

	if (rc == 0 && kvl_addr_family(&addr) != family) {
		snprintf(why, size, "must be an %s address: %s is for the other family",
			family == KVL_IPV4 ? "IPv4" : "IPv6",
			family == KVL_IPV4 ? "snat6" : "snat");
		return -EINVAL;
	}
	if (rc == 0)
		memcpy(to, &addr, sizeof(addr));
	return rc;
}

static int set_ipv4(const struct field *f, const char *text, void *to, char *why, size_t size)
{
	return set_family(f, text, to, why, size, KVL_IPV4);
}

static int set_ipv6(const struct field *f, const char *text, void *to, char *why, size_t size)
{
	return set_family(f, text, to, why, size, KVL_IPV6);
}

#define NO_EXCEPTION "none"

bool kvl_device_is_pci(const char *device)
{
	unsigned int n[4];

	return sscanf(device, "%x:%x:%x.%x", &n[0], &n[1], &n[2], &n[3]) == 4;
}

/* Names of interfaces may have no colon, and "." and ".." would be folders in sysfs. */
static int set_exception(const struct field *f, const char *text, void *to, char *why, size_t size)
{
	if (strchr(text, ':') == NULL && strcmp(text, ".") != 0 && strcmp(text, "..") != 0
		&& set_name(f, text, to, why, size) == 0)
		return 0;
	snprintf(why, size,
		"must be the name of a tap, 1..%d of A-Z a-z 0-9 . _ -, or \"" NO_EXCEPTION "\"",
		IFNAMSIZ - 1);
	return -EINVAL;
}

static const struct field port_fields[PORT_FIELDS] = {
	[PORT_NAME] = {"name", set_name, AT(struct kvl_port_config, name), .required = true},
	[PORT_DEVICE] = {"device", set_text, AT(struct kvl_port_config, device), .required = true},
	[PORT_INTERFACE] = {"interface", set_name, AT(struct kvl_port_config, interface),
		.max = IFNAMSIZ - 1},
	[PORT_EXCEPTION] = {"exception", set_exception, AT(struct kvl_port_config, exception),
		.max = IFNAMSIZ - 1},
	[PORT_SNAT] = {"snat", set_ipv4, AT(struct kvl_port_config, snat[KVL_IPV4]),
		.flag = offsetof(struct kvl_port_config, has_snat[KVL_IPV4])},
	[PORT_SNAT6] = {"snat6", set_ipv6, AT(struct kvl_port_config, snat[KVL_IPV6]),
		.flag = offsetof(struct kvl_port_config, has_snat[KVL_IPV6])},
	[PORT_MTU] = {"mtu", set_uint, AT(struct kvl_port_config, mtu), .min = KVL_MTU_MIN,
		.max = KVL_MTU_MAX},
};

/* The kernel's name of the interface from "net_af_xdp0,iface=eth1,...". */
static void interface_default(struct kvl_port_config *port)
{
	const char *arg = strstr(port->device, ",iface=");
	size_t n;

	if (port->interface[0] != '\0' || arg == NULL)
		return;
	arg += strlen(",iface=");
	n = strcspn(arg, ",");
	if (n < IFNAMSIZ)
		memcpy(port->interface, arg, n);
}

bool kvl_device_is(const struct kvl_port_config *port, const char *driver)
{
	return strncmp(port->device, driver, strlen(driver)) == 0;
}

/* "kvl-clients"; a long name is cut, and if two are then equal their ports are told so. */
static void exception_name(struct kvl_port_config *port)
{
	char tap[IFNAMSIZ];

	snprintf(tap, sizeof(tap), "kvl-%.*s", IFNAMSIZ - 5, port->name);
	for (char *c = tap; *c != '\0'; c++)
		if (*c == ':')
			*c = '-';
	memcpy(port->exception, tap, sizeof(tap));
}

/* What is not given by DPDK's device is the kernel's, whose interface is then the tap. */
static void exception_settle(struct walk *w, struct kvl_port_config *port,
	const struct pos at[PORT_FIELDS], const char *path)
{
	if (port->exception[0] == '\0' && port->interface[0] == '\0'
		&& kvl_device_is_pci(port->device))
		exception_name(port);
	if (strcmp(port->exception, NO_EXCEPTION) == 0)
		port->exception[0] = '\0';
	if (port->exception[0] == '\0')
		return;
	if (kvl_device_is(port, "net_af_xdp") || kvl_device_is(port, "net_af_packet"))
		walk_fault(w, at[PORT_EXCEPTION], path, port->exception,
			"this device is an interface of the kernel's, which gets its share there");
	else if (port->interface[0] != '\0')
		walk_fault(w, at[PORT_INTERFACE], path, port->interface,
			"the kernel's interface of this port is its exception tap, %s",
			port->exception);
	memcpy(port->interface, port->exception, sizeof(port->interface));
}

/* What two ports cannot have both: their name, device, kernel interface or source address. */
static void port_compare(struct walk *w, const struct draft *d, size_t other,
	const struct kvl_port_config *port, const struct pos at[PORT_FIELDS], const char *path)
{
	const struct kvl_port_config *o = &d->ports[other];

	if (port->name[0] != '\0' && strcmp(o->name, port->name) == 0)
		walk_fault(w, at[PORT_NAME], path, port->name, "name of ports[%zu] as well", other);
	if (port->device[0] != '\0' && strcmp(o->device, port->device) == 0)
		walk_fault(w, at[PORT_DEVICE], path, port->device, "device of ports[%zu] as well",
			other);
	else if (port->interface[0] != '\0' && strcmp(o->interface, port->interface) == 0)
		walk_fault(w, at[PORT_INTERFACE], path, port->interface,
			"interface of ports[%zu] as well", other);
	for (unsigned int f = 0; f < KVL_FAMILIES; f++)
		if (port->has_snat[f] && kvl_port_has_snat(o, &port->snat[f]))
			walk_fault(w, at[PORT_SNAT + f], path, NULL,
				"snat address of ports[%zu] as well", other);
}

static void port_walk(struct walk *w, yaml_node_t *element, const char *path, void *object)
{
	struct draft *d = object;
	struct kvl_port_config *port = &d->ports[d->port_count];
	struct pos at[PORT_FIELDS];

	walk_map(w, element, path, port_fields, PORT_FIELDS, port, at);
	exception_settle(w, port, at, path);
	interface_default(port);
	for (size_t i = 0; i < d->port_count; i++)
		port_compare(w, d, i, port, at, path);
	d->port_count++;
}

void ports_walk(struct walk *w, yaml_node_t *value, const char *path, void *object)
{
	walk_list(w, value, path, KVL_PORTS_MAX, port_walk, object);
}

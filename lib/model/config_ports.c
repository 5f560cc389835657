/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/model/draft.h"

#include <net/if.h>
#include <string.h>

/* `ports:` */

enum port_field {
	PORT_NAME,
	PORT_DEVICE,
	PORT_INTERFACE,
	PORT_SNAT,
	PORT_FIELDS,
};

static const struct field port_fields[PORT_FIELDS] = {
	[PORT_NAME] = {"name", set_name, AT(struct kvl_port_config, name), .required = true},
	[PORT_DEVICE] = {"device", set_text, AT(struct kvl_port_config, device), .required = true},
	[PORT_INTERFACE] = {"interface", set_name, AT(struct kvl_port_config, interface),
		.max = IFNAMSIZ - 1},
	[PORT_SNAT] = {"snat", set_address, AT(struct kvl_port_config, snat),
		.flag = offsetof(struct kvl_port_config, has_snat)},
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
	if (port->has_snat && o->has_snat && kvl_addr_eq(&o->snat, &port->snat))
		walk_fault(
			w, at[PORT_SNAT], path, NULL, "snat address of ports[%zu] as well", other);
}

static void port_walk(struct walk *w, yaml_node_t *element, const char *path, void *object)
{
	struct draft *d = object;
	struct kvl_port_config *port = &d->ports[d->port_count];
	struct pos at[PORT_FIELDS];

	walk_map(w, element, path, port_fields, PORT_FIELDS, port, at);
	interface_default(port);
	for (size_t i = 0; i < d->port_count; i++)
		port_compare(w, d, i, port, at, path);
	d->port_count++;
}

void ports_walk(struct walk *w, yaml_node_t *value, const char *path, void *object)
{
	walk_list(w, value, path, KVL_PORTS_MAX, port_walk, object);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include <rte_byteorder.h>

#include "ctrl/core/log.h"
#include "ctrl/core/steer.h"

static struct kvl_steering_key service_key(const struct kvl_service_config *service)
{
	struct kvl_steering_key key = {.port = rte_cpu_to_be_16(service->port)};

	memcpy(&key.address, &service->address, sizeof(key.address));
	return key;
}

static void port_set(struct kvl_port *port, const struct kvl_steering_key *list, size_t count)
{
	int rc = kvl_steering_services(&port->steering, list, count);

	if (rc < 0)
		kvl_log(KVL_LOG_ERROR, "port %s: cannot change which services it takes: %s",
			port->config.name, strerror(-rc));
}

/* The lists of all services, as the trie has them; returns their number. */
static size_t clients_list(const struct kvl_topology *t, struct kvl_steering_client *list,
	struct kvl_steering_key *listed, size_t *listed_count)
{
	size_t count = 0;

	*listed_count = 0;
	for (uint32_t i = 0; i < t->service_count; i++) {
		const struct kvl_policy_config *p = &t->services[i].config.policy;
		struct kvl_steering_key key = service_key(&t->services[i].config);

		if (p->client_count != 0)
			listed[(*listed_count)++] = key;
		for (size_t k = 0; k < p->client_count; k++) {
			struct kvl_steering_client *c = &list[count++];

			memset(c, 0, sizeof(*c));
			c->prefixlen = KVL_STEERING_SERVICE_BITS + p->clients[k].len;
			c->service = key;
			memcpy(c->source.bytes, p->clients[k].address.bytes,
				sizeof(c->source.bytes));
		}
	}
	return count;
}

static void port_clients_set(struct kvl_port *port, const struct kvl_topology *t)
{
	static struct kvl_steering_client list[KVL_STEERING_CLIENTS];
	struct kvl_steering_key listed[KVL_STEERING_SERVICES];
	size_t listed_count, count = clients_list(t, list, listed, &listed_count);
	int rc = kvl_steering_clients(&port->steering, listed, listed_count, list, count);

	port->steering.clients_revision = t->revision;
	/* The workers hold to the lists all the same. */
	if (rc < 0)
		kvl_log(KVL_LOG_ERROR, "port %s: cannot give the kernel the lists of clients: %s",
			port->config.name, strerror(-rc));
}

/*
 * Before a service is opened, so that nobody slips in. Once a revision: roots are published many
 * times a second, and the lists may be long.
 */
static void clients_set(struct kvl_port *ports, uint16_t port_count, const struct kvl_topology *t)
{
	for (uint16_t p = 0; p < port_count; p++)
		if (ports[p].steering.clients_revision != t->revision)
			port_clients_set(&ports[p], t);
}

void kvl_steer_open(struct kvl_port *ports, uint16_t port_count, const struct kvl_topology *t)
{
	struct kvl_steering_key list[KVL_STEERING_SERVICES];

	clients_set(ports, port_count, t);
	for (uint32_t i = 0; i < t->service_count; i++)
		list[i] = service_key(&t->services[i].config);
	for (uint16_t p = 0; p < port_count; p++)
		port_set(&ports[p], list, t->service_count);
}

static bool topology_has(const struct kvl_topology *t, const struct kvl_steering_key *key)
{
	for (uint32_t i = 0; t != NULL && i < t->service_count; i++) {
		struct kvl_steering_key k = service_key(&t->services[i].config);

		if (memcmp(&k, key, sizeof(k)) == 0)
			return true;
	}
	return false;
}

void kvl_steer_close(struct kvl_port *ports, uint16_t port_count, const struct kvl_topology *t)
{
	for (uint16_t p = 0; p < port_count; p++) {
		struct kvl_steering_key kept[KVL_STEERING_SERVICES];
		size_t count = 0;

		for (size_t i = 0; i < ports[p].steering.service_count; i++)
			if (topology_has(t, &ports[p].steering.services[i]))
				kept[count++] = ports[p].steering.services[i];
		port_set(&ports[p], kept, count);
	}
}

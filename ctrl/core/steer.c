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

void kvl_steer_open(struct kvl_port *ports, uint16_t port_count, const struct kvl_topology *t)
{
	struct kvl_steering_key list[KVL_STEERING_SERVICES];

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

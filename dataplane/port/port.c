/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>

#include "dataplane/port/kernel_side.h"
#include "dataplane/port/port.h"

#define DESCRIPTORS 1024

/* The device's name is what comes before its first argument. */
static void device_name(const char *device, char *name, size_t size)
{
	snprintf(name, size, "%.*s", (int)strcspn(device, ","), device);
}

static int device_probe(struct kvl_port *port, const char *devargs, char *error, size_t size)
{
	char name[KVL_DEVICE_MAX];
	int rc;

	device_name(port->config.device, name, sizeof(name));
	/* A PCI device was allowed by address when DPDK started, and may be there already. */
	if (rte_eth_dev_get_port_by_name(name, &port->dpdk_port) == 0) {
		port->probed = true;
		return 0;
	}
	rc = rte_dev_probe(devargs);
	if (rc == 0)
		rc = rte_eth_dev_get_port_by_name(name, &port->dpdk_port);
	if (rc < 0) {
		snprintf(error, size,
			"port %s: DPDK has no device for \"%s\" (%s): check the device string and "
			"its interface; kvlaned must run as root",
			port->config.name, port->config.device, rte_strerror(-rc));
		return rc;
	}
	port->probed = true;
	return 0;
}

static int queues_check(
	const struct kvl_port *port, const struct rte_eth_dev_info *info, char *error, size_t size)
{
	uint16_t most = RTE_MIN(info->max_rx_queues, info->max_tx_queues);

	if (port->queues <= most)
		return 0;
	snprintf(error, size,
		"port %s: has %u queue pairs, but each of %u workers needs one: lower "
		"router.workers, or give the device more (qpairs=, queue_count=)",
		port->config.name, most, port->queues);
	return -EINVAL;
}

static int mtu_check(
	const struct kvl_port *port, const struct rte_eth_dev_info *info, char *error, size_t size)
{
	if (port->frames.mtu <= info->max_mtu || info->max_mtu == 0)
		return 0;
	snprintf(error, size,
		"port %s: \"%s\" takes an MTU of %u at most, not %u: give a lower mtu:",
		port->config.name, port->config.device, info->max_mtu, port->frames.mtu);
	return -EINVAL;
}

/*
 * What the driver is told. net_af_packet takes whatever its ring's frames hold, but says 1518 and
 * refuses a configuration with more (DPDK 22.11): it is told nothing. An interface of the kernel's
 * has its MTU by now.
 */
static uint16_t mtu_told(const struct kvl_port *port)
{
	return kvl_device_is(&port->config, "net_af_packet") ? 0 : port->frames.mtu;
}

/* Drivers that cannot be told have taken it with the configuration, or do not care. */
static int mtu_set(const struct kvl_port *port)
{
	int rc = 0;

	if (port->config.mtu != 0 && port->ifindex == 0)
		rc = rte_eth_dev_set_mtu(port->dpdk_port, port->config.mtu);
	return rc == -ENOTSUP ? 0 : rc;
}

static int queue_setup(
	struct kvl_port *port, uint16_t q, uint32_t mbufs, const struct rte_eth_dev_info *info)
{
	uint16_t rx = DESCRIPTORS, tx = DESCRIPTORS;
	char name[RTE_MEMPOOL_NAMESIZE];
	int socket = rte_eth_dev_socket_id(port->dpdk_port);
	int rc;

	snprintf(name, sizeof(name), "kvl_%u_%u", port->dpdk_port, q);
	port->pools[q] = kvl_pool_new(name, mbufs, port->frames.room, socket);
	if (port->pools[q] == NULL)
		return -rte_errno;
	rc = rte_eth_dev_adjust_nb_rx_tx_desc(port->dpdk_port, &rx, &tx);
	if (rc == 0)
		rc = rte_eth_rx_queue_setup(
			port->dpdk_port, q, rx, socket, &info->default_rxconf, port->pools[q]);
	if (rc == 0)
		rc = rte_eth_tx_queue_setup(port->dpdk_port, q, tx, socket, &info->default_txconf);
	return rc;
}

static int device_start(
	struct kvl_port *port, const struct kvl_port_params *params, char *error, size_t size)
{
	struct rte_eth_conf conf = {.rxmode.mtu = mtu_told(port)};
	struct rte_eth_dev_info info;
	const char *step = "configure";
	int rc = rte_eth_dev_info_get(port->dpdk_port, &info);

	if (rc == 0) {
		rc = queues_check(port, &info, error, size);
		if (rc == 0)
			rc = mtu_check(port, &info, error, size);
		if (rc < 0)
			return rc;
		rc = rte_eth_dev_configure(port->dpdk_port, port->queues, port->queues, &conf);
	}
	if (rc == 0) {
		step = "set the MTU of";
		rc = mtu_set(port);
	}
	for (uint16_t q = 0; rc == 0 && q < port->queues; q++) {
		step = "set up the queues of";
		rc = queue_setup(port, q, params->mbufs, &info);
	}
	if (rc == 0) {
		step = "start";
		rc = rte_eth_dev_start(port->dpdk_port);
	}
	if (rc == 0)
		rc = rte_eth_macaddr_get(port->dpdk_port, (struct rte_ether_addr *)port->mac);
	if (rc < 0) {
		snprintf(error, size, "port %s: cannot %s \"%s\" (%s)%s", port->config.name, step,
			port->config.device, rte_strerror(-rc),
			rc == -ENOMEM ? ": lower router.mbufs or give more memory (hugepages)"
				      : "");
		return rc;
	}
	port->started = true;
	return 0;
}

int kvl_port_open(struct kvl_port *port, const struct kvl_port_config *config,
	const struct kvl_port_params *params, char *error, size_t error_size)
{
	char devargs[KVL_DEVICE_MAX + sizeof(port->frames.args) + 64];
	int rc;

	*port = (struct kvl_port){
		.config = *config, .queues = params->workers, .claim_fd = -1, .tap_fd = -1};
	rc = kvl_frames_plan(config, &port->frames, error, error_size);
	if (rc == 0)
		rc = kvl_kernel_side_prepare(port, devargs, sizeof(devargs), error, error_size);
	if (rc == 0)
		rc = device_probe(port, devargs, error, error_size);
	if (rc == 0)
		rc = device_start(port, params, error, error_size);
	if (rc == 0)
		rc = kvl_kernel_side_attach(port, params, error, error_size);
	return rc;
}

void kvl_port_stop(struct kvl_port *port)
{
	if (port->started)
		rte_eth_dev_stop(port->dpdk_port);
	if (port->probed)
		rte_eth_dev_close(port->dpdk_port);
	port->started = port->probed = false;
}

void kvl_port_close(struct kvl_port *port)
{
	kvl_port_stop(port);
	kvl_steering_close(&port->steering);
	for (unsigned int q = 0; q < KVL_WORKERS_MAX; q++)
		rte_mempool_free(port->pools[q]);
	if (port->claim_fd > 0)
		close(port->claim_fd);
	if (port->tap_fd > 0)
		close(port->tap_fd);
	*port = (struct kvl_port){.claim_fd = -1, .tap_fd = -1};
}

struct kvl_lane kvl_port_lane(const struct kvl_port *port, uint16_t worker)
{
	struct kvl_lane lane = {
		.dpdk_port = port->dpdk_port,
		.queue = worker,
		.mtu = port->frames.mtu,
	};

	memcpy(lane.has_snat, port->config.has_snat, sizeof(lane.has_snat));
	memcpy(lane.snat, port->config.snat, sizeof(lane.snat));
	memcpy(lane.mac, port->mac, sizeof(lane.mac));
	return lane;
}

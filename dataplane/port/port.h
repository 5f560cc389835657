/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

#include "dataplane/port/frames.h"
#include "dataplane/port/steering.h"
#include "dataplane/worker.h"
#include "lib/model/config.h"

/*
 * A router port: a DPDK device with a receive and a transmit queue for each worker, and, when the
 * kernel knows the interface too, the steering program that splits its traffic. Control core only.
 */
struct kvl_port {
	struct kvl_port_config config;
	uint16_t dpdk_port;
	uint16_t queues;
	uint8_t mac[6];
	struct kvl_frames frames;
	int ifindex;  /* 0: the kernel does not know the port */
	int claim_fd; /* keeps a second router off the interface */
	int tap_fd;   /* of the exception path; -1: none */
	bool probed, started;
	struct kvl_steering steering;
	struct rte_mempool *pools[KVL_WORKERS_MAX];
};

struct kvl_port_params {
	uint16_t workers;
	uint32_t mbufs; /* per queue */
	uint16_t snat_first, snat_last;
};

/*
 * Probes the device, sets its queues up, starts it, and puts the steering program in place (with
 * no service in it yet). Returns 0, or negative errno with a message to the operator, what failed
 * and what to do, in `error`. The port can be closed in either case.
 */
int kvl_port_open(struct kvl_port *port, const struct kvl_port_config *config,
	const struct kvl_port_params *params, char *error, size_t error_size);

/* Stops the device and lets go of the mbufs in its queues, which may be of others' pools. */
void kvl_port_stop(struct kvl_port *port);

/* Stops, detaches, releases. Safe on a zeroed struct and after a failed open. */
void kvl_port_close(struct kvl_port *port);

/* Looks whether the kernel's interface has another MAC than port->mac, which is then set. False: it
 * has not, or the kernel does not see the port. */
bool kvl_port_mac_follow(struct kvl_port *port);

/* The worker's view of it. */
struct kvl_lane kvl_port_lane(const struct kvl_port *port, uint16_t worker);

/* A pool of packet buffers that AF_XDP can register whole; `room` of each: frames.h. NULL with
 * rte_errno. */
struct rte_mempool *kvl_pool_new(const char *name, uint32_t mbufs, uint16_t room, int socket);

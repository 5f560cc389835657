/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "lib/model/endpoint.h"

/*
 * One unconnected, non-blocking UDP socket for many peers, which reports ICMP errors with the peer
 * they are about (IP_RECVERR) instead of with the next call.
 */
/* A file descriptor, or a negative errno. */
int kvl_probe_socket(int family);

/* 0 or a negative errno: -EAGAIN, -ENOBUFS: try later. */
int kvl_probe_send(int fd, const struct kvl_endpoint *to, const void *data, size_t len);

/* Bytes received, or a negative errno; -EAGAIN: no more. */
ssize_t kvl_probe_receive(int fd, void *data, size_t len, struct kvl_endpoint *from);

/*
 * The next error: 0 or more bytes of the datagram it is about in `data` (ICMP quotes as much as the
 * router that sent it likes), and whom that was for. -EAGAIN: no more.
 */
ssize_t kvl_probe_receive_error(int fd, void *data, size_t len, struct kvl_endpoint *to);

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Packets as data: tests say what is in a packet, and this writes it from the RFCs with every
 * checksum computed whole, sharing no code with the data plane. Zero members mean the ordinary
 * value, so that a fixture names only what matters to it.
 */
struct packet {
	const char *from_mac, *to_mac; /* "02:00:00:00:00:01" */
	const char *from, *to;         /* "10.0.0.1:1234", "[2001:db8::1]:1234" */
	const char *payload;
	size_t payload_len; /* 0: strlen(payload) */
	uint16_t id;        /* frame in front of the payload, unless raw */
	uint16_t sequence;
	int total;            /* 0: 1; negative: 0 */
	bool raw;             /* no frame */
	int vlan;             /* tag control; 0: untagged */
	uint8_t ttl;          /* or hop limit; 0: 64 */
	uint8_t service_type; /* or traffic class */
	uint16_t ip_id;       /* this and the next: IPv4 */
	bool dont_fragment;
	bool no_udp_checksum;
	/* faults */
	uint16_t ether_type; /* 0: that of the addresses' family */
	uint8_t protocol;    /* or next header; 0: UDP */
	uint8_t version_ihl; /* 0: 0x45, 0x60 */
	uint16_t fragment;   /* as in the header, host order */
	int ip_length_add, udp_length_add, udp_checksum_add;
	size_t cut; /* bytes cut off the end */
	size_t pad; /* zero bytes behind */
};

#define PACKET_MAX 2048

/* Returns the length written to out. */
size_t packet_write(const struct packet *p, uint8_t out[PACKET_MAX]);

/* The Internet checksum's sum (RFC 1071) on top of `start`, not complemented: over what has a right
 * checksum in it, it is 0xffff. */
uint16_t packet_sum(const uint8_t *data, size_t len, unsigned long start);

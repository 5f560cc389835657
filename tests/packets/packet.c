/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/packets/packet.h"

static void put16(uint8_t *at, unsigned int value)
{
	at[0] = value >> 8;
	at[1] = value;
}

static void mac_write(const char *text, uint8_t *at)
{
	unsigned int b[6];

	if (sscanf(text, "%x:%x:%x:%x:%x:%x", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5]) != 6)
		abort();
	for (int i = 0; i < 6; i++)
		at[i] = b[i];
}

static bool is_v6(const struct packet *p)
{
	return p->from[0] == '[';
}

/* Returns the port. */
static unsigned int endpoint_write(const char *text, uint8_t *address)
{
	unsigned int port;
	char host[64];

	if (sscanf(text, "[%63[^]]]:%u", host, &port) == 2) {
		if (inet_pton(AF_INET6, host, address) != 1)
			abort();
	} else if (sscanf(text, "%63[^:]:%u", host, &port) != 2
		   || inet_pton(AF_INET, host, address) != 1) {
		abort();
	}
	return port;
}

/* RFC 1071, byte by byte. */
static unsigned long sum_add(unsigned long sum, const uint8_t *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		sum += i % 2 == 0 ? (unsigned long)data[i] << 8 : data[i];
	return sum;
}

static uint16_t sum_fold(unsigned long sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static unsigned int sum_end(unsigned long sum)
{
	return (uint16_t)~sum_fold(sum);
}

uint16_t packet_sum(const uint8_t *data, size_t len, unsigned long start)
{
	return sum_fold(sum_add(start, data, len));
}

static size_t ether_write(const struct packet *p, uint8_t *out)
{
	unsigned int type = p->ether_type != 0 ? p->ether_type : is_v6(p) ? 0x86dd : 0x0800;

	mac_write(p->to_mac, out);
	mac_write(p->from_mac, out + 6);
	if (p->vlan == 0) {
		put16(out + 12, type);
		return 14;
	}
	put16(out + 12, 0x8100);
	put16(out + 14, p->vlan);
	put16(out + 16, type);
	return 18;
}

static void ipv4_write(const struct packet *p, uint8_t *ip, size_t udp_len)
{
	memset(ip, 0, 12);
	ip[0] = p->version_ihl != 0 ? p->version_ihl : 0x45;
	ip[1] = p->service_type;
	put16(ip + 2, 20 + udp_len + p->ip_length_add);
	put16(ip + 4, p->ip_id);
	put16(ip + 6, p->fragment | (p->dont_fragment ? 0x4000 : 0));
	ip[8] = p->ttl != 0 ? p->ttl : 64;
	ip[9] = p->protocol != 0 ? p->protocol : 17;
	put16(ip + 10, sum_end(sum_add(0, ip, 20)));
}

static void ipv6_write(const struct packet *p, uint8_t *ip, size_t udp_len)
{
	memset(ip, 0, 8);
	ip[0] = (p->version_ihl != 0 ? p->version_ihl : 0x60) | p->service_type >> 4;
	ip[1] = p->service_type << 4;
	put16(ip + 4, udp_len + p->ip_length_add);
	ip[6] = p->protocol != 0 ? p->protocol : 17;
	ip[7] = p->ttl != 0 ? p->ttl : 64;
}

/* Addresses lie before the UDP header, in either family. */
static void udp_checksum_write(const struct packet *p, uint8_t *udp, size_t udp_len)
{
	const size_t addresses = is_v6(p) ? 32 : 8;
	uint8_t pseudo[4] = {0, 17, udp_len >> 8, udp_len};
	unsigned long sum = sum_add(0, udp - addresses, addresses);
	unsigned int checksum;

	sum = sum_add(sum, pseudo, sizeof(pseudo));
	checksum = sum_end(sum_add(sum, udp, udp_len));
	put16(udp + 6, (checksum == 0 ? 0xffff : checksum) + p->udp_checksum_add);
}

size_t packet_write(const struct packet *p, uint8_t out[PACKET_MAX])
{
	size_t payload_len = p->payload_len != 0 ? p->payload_len : strlen(p->payload);
	size_t at = ether_write(p, out), ip_len = is_v6(p) ? 40 : 20;
	size_t addr_len = is_v6(p) ? 16 : 4;
	uint8_t *ip = out + at, *udp = ip + ip_len, *data = udp + 8;
	size_t udp_len;

	if (!p->raw) {
		put16(data, p->id);
		put16(data + 2, p->sequence);
		put16(data + 4, p->total == 0 ? 1 : p->total < 0 ? 0 : p->total);
		put16(data + 6, 0);
		data += 8;
	}
	memcpy(data, p->payload, payload_len);
	udp_len = (size_t)(data - udp) + payload_len;

	put16(udp, endpoint_write(p->from, udp - 2 * addr_len));
	put16(udp + 2, endpoint_write(p->to, udp - addr_len));
	put16(udp + 4, udp_len + p->udp_length_add);
	put16(udp + 6, 0);
	if (is_v6(p))
		ipv6_write(p, ip, udp_len);
	else
		ipv4_write(p, ip, udp_len);
	if (!p->no_udp_checksum)
		udp_checksum_write(p, udp, udp_len);

	at += ip_len + udp_len;
	memset(out + at, 0, p->pad);
	return at + p->pad - p->cut;
}

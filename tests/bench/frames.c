/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "tests/bench/frames.h"
#include "tests/bench/world.h"
#include "tests/packets/packet.h"

#define VALUE_32 "0123456789abcdef0123456789abcdef"

/* Frames are kept, since few keys repeat every round and writing them takes a microsecond each. */
static struct {
	struct frames_kind kind;
	uint16_t len[BENCH_MBUFS];
	uint8_t bytes[BENCH_MBUFS][192];
} kept;

static void mbuf_fill(struct rte_mbuf *mbuf, const uint8_t *bytes, uint16_t len)
{
	rte_pktmbuf_reset(mbuf);
	memcpy(rte_pktmbuf_append(mbuf, len), bytes, len);
}

static void frame_evict(const struct rte_mbuf *mbuf)
{
#ifdef __x86_64__
	for (unsigned int at = 0; at < mbuf->data_len; at += RTE_CACHE_LINE_SIZE)
		__builtin_ia32_clflush(rte_pktmbuf_mtod_offset(mbuf, const void *, at));
#endif
}

void frames_receive(struct rte_mbuf **mbufs, unsigned int count, bool cold)
{
	for (unsigned int i = 0; i < count; i++) {
		if (cold)
			frame_evict(mbufs[i]);
		mbufs[i]->data_off = RTE_PKTMBUF_HEADROOM;
		mbufs[i]->nb_segs = 1;
		mbufs[i]->ol_flags = 0;
		mbufs[i]->pkt_len = mbufs[i]->data_len;
	}
}

/* Lengths vary, as branches on them would be learnt by heart; the multiplier scatters the order. */
static void key_write(char *key, size_t size, unsigned int number)
{
	snprintf(key, size, "session:%0*u", 10 + (int)(number % 5), number * 2654435761u);
}

static void request_write(const struct frames_kind *kind, unsigned int i, unsigned int number)
{
	char key[32], payload[128], from[32];
	struct packet p = {.from_mac = "02:00:00:00:01:09",
		.to_mac = BENCH_LANE_MAC,
		.from = from,
		.to = kind->vip,
		.payload = payload,
		.id = i};
	uint8_t bytes[PACKET_MAX];

	key_write(key, sizeof(key), number);
	snprintf(payload, sizeof(payload),
		kind->command == FRAMES_GET ? "get %s\r\n" : "set %s 0 0 32\r\n" VALUE_32 "\r\n",
		key);
	snprintf(from, sizeof(from), "10.1.%u.%u:%u", 1 + i % 7, 1 + i % 250, 20000 + i);
	kept.len[i] = packet_write(&p, bytes);
	memcpy(kept.bytes[i], bytes, kept.len[i]);
}

static bool kind_is_kept(const struct frames_kind *kind)
{
	return kept.kind.vip == kind->vip && kept.kind.command == kind->command
	       && kept.kind.keys == kind->keys;
}

void frames_requests(const struct frames_kind *kind, unsigned int round)
{
	if (!kind_is_kept(kind) || kind->keys > BENCH_MBUFS)
		for (unsigned int i = 0; i < BENCH_MBUFS; i++)
			request_write(kind, i, (round * BENCH_MBUFS + i) % kind->keys);
	kept.kind = *kind;
	for (unsigned int i = 0; i < BENCH_MBUFS; i++)
		mbuf_fill(bench_mbufs[i], kept.bytes[i], kept.len[i]);
}

static void endpoint_text(char *text, size_t size, uint32_t address, uint16_t port)
{
	const uint8_t *a = (const uint8_t *)&address;

	snprintf(text, size, "%u.%u.%u.%u:%u", a[0], a[1], a[2], a[3], rte_be_to_cpu_16(port));
}

static void reply_write(struct rte_mbuf *mbuf)
{
	char from[32], to[32], payload[128], key[32];
	struct packet p = {.from_mac = "02:00:00:02:00:00",
		.to_mac = "02:00:00:00:00:d0",
		.from = from,
		.to = to,
		.payload = payload};
	struct kvl_packet request;
	const struct kvl_frame *frame;
	uint8_t bytes[PACKET_MAX];

	kvl_packet_begin(&request, mbuf, 0);
	frame = (const void *)kvl_packet_payload(&request);
	p.id = rte_be_to_cpu_16(frame->id);
	endpoint_text(from, sizeof(from), kvl_packet_ipv4(&request)->dst_addr,
		kvl_packet_udp(&request)->dst_port);
	endpoint_text(to, sizeof(to), kvl_packet_ipv4(&request)->src_addr,
		kvl_packet_udp(&request)->src_port);
	sscanf((const char *)(frame + 1), "%*s %31s", key);
	snprintf(payload, sizeof(payload), "VALUE %s 0 32\r\n" VALUE_32 "\r\nEND\r\n", key);
	mbuf_fill(mbuf, bytes, packet_write(&p, bytes));
}

void frames_replies(void)
{
	for (unsigned int i = 0; i < BENCH_MBUFS; i++)
		reply_write(bench_mbufs[i]);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whole packets through the whole pipeline, without ports. An input is a list of steps: frames as
 * they are, well-formed datagrams around any payload, replies and ICMP errors about what was sent
 * before, and time. Whatever comes, no sanitizer finds anything; a node is sent nothing but whole,
 * valid requests under right checksums; nothing is lost or kept: packets, slots, parts, mbufs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <rte_dev.h>
#include <rte_ethdev.h>

#include "dataplane/test_world.h"
#include "tests/fuzz/fuzz.h"

#define STEPS_MAX 24
#define SEEN_MAX  8
#define MBUFS     4096 /* of the world's pool */

enum step {
	STEP_FRAME, /* bytes from Ethernet on */
	STEP_REQUEST,
	STEP_REPLY,
	STEP_ERROR,
	STEP_WAIT,
	STEP_KINDS,
};

/* The last frames that went to nodes, as the nodes would know them. */
static struct {
	uint8_t bytes[PACKET_MAX];
	size_t len;
	unsigned int worker;
} seen[SEEN_MAX];
static unsigned int seen_count;

static unsigned int mbufs_start[2];

static uint16_t get16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static void put16(uint8_t *at, uint16_t value)
{
	at[0] = value >> 8;
	at[1] = value;
}

static bool frame_is_v6(const uint8_t *frame)
{
	return get16(frame + 12) == 0x86dd;
}

/* What a worker made or rewrote: the headers are those of one UDP datagram. Returns its start. */
static const uint8_t *datagram_check(const uint8_t *frame, size_t len, unsigned int lane)
{
	bool v6 = frame_is_v6(frame);
	size_t ip_len = v6 ? 40 : 20, addresses = v6 ? 32 : 8;
	const uint8_t *udp = frame + 14 + ip_len;

	REQUIRE(len >= 14 + ip_len + 16);
	if (v6) {
		REQUIRE(get16(frame + 18) == len - 54);
	} else {
		REQUIRE(frame[14] == 0x45 && get16(frame + 16) == len - 14);
		REQUIRE(packet_sum(frame + 14, 20, 0) == 0xffff);
	}
	REQUIRE(get16(udp + 4) <= len - 14 - ip_len);
	REQUIRE(get16(udp + 6) != 0 || !v6);
	/* A node's wrong checksum passes: the client will see it. */
	if (get16(udp + 6) != 0 && lane == 1)
		REQUIRE(packet_sum(udp, get16(udp + 4),
				packet_sum(udp - addresses, addresses, get16(udp + 4) + 17ul))
			== 0xffff);
	return udp;
}

/* nat, not dsr, which passes the client's own packet on, wrong checksum and all, or wraps it. */
static bool is_translated(const uint8_t *frame)
{
	static const uint8_t node_v4[] = {10, 2, 0}, node_v6[] = {0x20, 1, 0xd, 0xb8, 0, 2};
	const uint8_t *ip = frame + 14;

	if (frame_is_v6(frame))
		return ip[6] == 17 && memcmp(ip + 24, node_v6, sizeof(node_v6)) == 0
		       && get16(ip + 42) != KVL_GUE_PORT;
	return ip[9] == 17 && memcmp(ip + 16, node_v4, sizeof(node_v4)) == 0
	       && get16(ip + 22) != KVL_GUE_PORT;
}

/* A tag may stand before it, toward clients. */
static void sent_check(unsigned int worker, unsigned int lane, struct rte_mbuf *mbuf)
{
	uint8_t frame[PACKET_MAX];
	size_t len = mbuf->data_len;
	struct kvl_request request;
	const uint8_t *udp;

	REQUIRE(mbuf->nb_segs == 1 && len <= sizeof(frame) && mbuf->pkt_len == len);
	memcpy(frame, rte_pktmbuf_mtod(mbuf, void *), len);
	rte_pktmbuf_free(mbuf);
	if (get16(frame + 12) == 0x8100) {
		REQUIRE(lane == 0);
		memmove(frame + 12, frame + 16, len - 16);
		len -= 4;
	}
	if (lane == 1 && !is_translated(frame))
		return;
	udp = datagram_check(frame, len, lane);
	if (lane != 1)
		return;
	REQUIRE(kvl_verdict_good(kvl_request_parse(udp + 8, get16(udp + 4) - 8, &request)));
	memcpy(seen[seen_count % SEEN_MAX].bytes, frame, len);
	seen[seen_count % SEEN_MAX].len = len;
	seen[seen_count++ % SEEN_MAX].worker = worker;
}

static void sent_take(void)
{
	for (unsigned int w = 0; w < WORLD_WORKERS; w++)
		for (unsigned int lane = 0; lane < 2; lane++)
			for (struct rte_mbuf *m; (m = world_sent(w, lane)) != NULL;)
				sent_check(w, lane, m);
}

static struct rte_mbuf *mbuf_of(const uint8_t *bytes, size_t len)
{
	const struct packet any = {.from_mac = CLIENT_MAC,
		.to_mac = LANE0_MAC,
		.from = CLIENT,
		.to = NAT_VIP,
		.payload = ""};
	struct rte_mbuf *mbuf = world_mbuf(&any);

	rte_pktmbuf_reset(mbuf);
	memcpy(rte_pktmbuf_append(mbuf, len), bytes, len);
	return mbuf;
}

static void step_request(unsigned int how, const uint8_t *bytes, size_t len)
{
	const bool v6 = how & 1, dsr = how & 2;
	const struct packet p = {.from_mac = CLIENT_MAC,
		.to_mac = LANE0_MAC,
		.from = v6 ? CLIENT6 : CLIENT,
		.to = dsr ? (v6 ? DSR_VIP6 : DSR_VIP) : (v6 ? NAT_VIP6 : NAT_VIP),
		.vlan = how & 4 ? 100 : 0,
		.raw = how & 8,
		.no_udp_checksum = how & 16,
		.payload = (const char *)bytes,
		.payload_len = len};

	if (len != 0)
		world_run(how >> 5 & 1, 0, &p, 1);
}

/* From a frame that a node was sent, the frame that it would send back around `len` bytes. */
static size_t turn(const uint8_t *from, uint8_t *out)
{
	size_t ip_len = frame_is_v6(from) ? 40 : 20, address = frame_is_v6(from) ? 16 : 4;
	size_t at = 14 + ip_len;

	memcpy(out, from, at + 8);
	memcpy(out, from + 6, 6);
	memcpy(out + 6, from, 6);
	memcpy(out + at - 2 * address, from + at - address, address);
	memcpy(out + at - address, from + at - 2 * address, address);
	memcpy(out + at, from + at + 2, 2);
	memcpy(out + at + 2, from + at, 2);
	return at;
}

static void lengths_write(uint8_t *frame, size_t at, size_t len)
{
	if (frame_is_v6(frame)) {
		put16(frame + 18, len - 54);
	} else {
		put16(frame + 16, len - 14);
		put16(frame + 24, 0);
		put16(frame + 24, ~packet_sum(frame + 14, 20, 0));
	}
	if (frame[frame_is_v6(frame) ? 20 : 23] == 17) {
		put16(frame + at + 4, len - at);
		put16(frame + at + 6, 0);
	}
}

static void step_reply(unsigned int how, const uint8_t *bytes, size_t len)
{
	uint8_t frame[PACKET_MAX];
	size_t at;

	if (seen_count == 0 || len < 4 || len > 1500)
		return;
	at = turn(seen[how % RTE_MIN(seen_count, (unsigned int)SEEN_MAX)].bytes, frame);
	/* The request's id, a sequence and a total of the input's. */
	memcpy(frame + at + 8,
		seen[how % RTE_MIN(seen_count, (unsigned int)SEEN_MAX)].bytes + at + 8, 2);
	memcpy(frame + at + 10, (uint8_t[]){0, bytes[0] & 3, 0, bytes[1] & 3, 0, 0}, 6);
	memcpy(frame + at + 16, bytes + 2, len - 2);
	lengths_write(frame, at, at + 16 + len - 2);
	if (frame_is_v6(frame)) /* a zero checksum would not be looked at further */
		put16(frame + at + 6, 1);
	world_run_mbuf(how >> 4 & 1, 1, mbuf_of(frame, at + 16 + len - 2));
}

static void step_error(unsigned int how, const uint8_t *bytes, size_t len)
{
	uint8_t frame[PACKET_MAX], sent[PACKET_MAX];
	size_t at, quoted, sent_len;
	unsigned int which;
	bool v6;

	if (seen_count == 0 || len < 3)
		return;
	which = how % RTE_MIN(seen_count, (unsigned int)SEEN_MAX);
	sent_len = seen[which].len;
	memcpy(sent, seen[which].bytes, sent_len);
	v6 = frame_is_v6(sent);
	if (how & 16)
		sent[14 + bytes[2] % (sent_len - 14)] ^= bytes[1];
	at = turn(seen[which].bytes, frame);
	frame[v6 ? 20 : 23] = v6 ? 58 : 1;
	quoted = how & 32 ? bytes[0] % (sent_len - 14) : sent_len - 14;
	if (at + 8 + quoted > sizeof(frame))
		return;
	memset(frame + at, 0, 8);
	frame[at] = v6 ? 1 : 3;
	frame[at + 1] = bytes[0] & 15;
	memcpy(frame + at + 8, sent + 14, quoted);
	lengths_write(frame, at, at + 8 + quoted);
	put16(frame + at + 2, ~packet_sum(frame + at, 8 + quoted,
				      v6 ? packet_sum(frame + 22, 32, 8 + quoted + 58ul) : 0));
	world_run_mbuf(how >> 6 & 1, 1, mbuf_of(frame, at + 8 + quoted));
}

static void step_run(enum step step, unsigned int how, const uint8_t *bytes, size_t len)
{
	switch (step) {
	case STEP_FRAME:
		world_run_mbuf(how & 1, how >> 1 & 1, mbuf_of(bytes, len));
		break;
	case STEP_REQUEST:
		step_request(how, bytes, RTE_MIN(len, 1900u));
		break;
	case STEP_REPLY:
		step_reply(how, bytes, len);
		break;
	case STEP_ERROR:
		step_error(how, bytes, len);
		break;
	default:
		world_wait(0, how & 63);
		world_wait(1, how >> 2 & 63);
		break;
	}
	sent_take();
	while (world_inbox(0) + world_inbox(1) != 0)
		sent_take();
}

/* All that was taken for a while has been given back. */
static void nothing_is_kept(void)
{
	for (unsigned int w = 0; w < WORLD_WORKERS; w++) {
		struct kvl_worker *worker = world_workers[w];

		world_wait(w, 10 * WORLD_TIMEOUT);
		sent_take();
		world_wait(w, 10 * WORLD_TIMEOUT);
		sent_take();
		REQUIRE(worker->pending.free_count == worker->pending.size);
		REQUIRE(worker->merges.merges_used == 0 && worker->merges.parts_reserved == 0);
		REQUIRE(worker->merges.chunks_used == 0);
		for (unsigned int n = 0; n < WORLD_NODES; n++)
			REQUIRE(kvl_pulse_in_flight(&worker->pulses[n]) == 0);
		REQUIRE(rte_mempool_avail_count(worker->made) == mbufs_start[w]);
	}
	world_check_conservation();
}

/* Where a worker's transmit buffer overflows. */
static void null_port_begin(void)
{
	struct rte_eth_conf conf = {0};

	REQUIRE(rte_dev_probe("net_null0") == 0);
	REQUIRE(rte_eth_dev_configure(0, 0, 1, &conf) == 0);
	REQUIRE(rte_eth_tx_queue_setup(0, 0, 64, 0, NULL) == 0);
	REQUIRE(rte_eth_dev_start(0) == 0);
}

static void begin(void)
{
	world_begin(NULL);
	null_port_begin();
	for (unsigned int w = 0; w < WORLD_WORKERS; w++)
		mbufs_start[w] = rte_mempool_avail_count(world_workers[w]->made);
}

/* Input: service options, then steps of (kind, how, length in two bytes, bytes). */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool begun;
	size_t at = 2;

	if (!begun)
		begin();
	begun = true;
	if (size < 2)
		return 0;
	world_reset(NULL);
	seen_count = 0;
	world_service.replication = 1 + data[0] % 3;
	world_service.retries = data[0] >> 2 & 3;
	world_service.keyless = data[0] >> 4 & 1;
	world_service.partial = data[0] >> 5 & 1;
	world_service.encapsulation = data[0] >> 6;
	if (world_service.encapsulation > KVL_ENCAP_GUE)
		world_service.encapsulation = KVL_ENCAP_NONE;
	world_service.gue_port = KVL_GUE_PORT;
	world_service.choice = data[1] & 3;
	world_nodes_v6 = data[1] >> 2 & 1;
	world_try_ms = 1 + (data[1] >> 3);
	world_publish();
	for (unsigned int i = 0; i < STEPS_MAX && at + 4 <= size; i++) {
		size_t len = RTE_MIN((size_t)get16(data + at + 2) % 2000, size - at - 4);

		step_run(data[at] % STEP_KINDS, data[at + 1], data + at + 4, len);
		at += 4 + len;
	}
	nothing_is_kept();
	return 0;
}

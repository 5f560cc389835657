/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/tools/kvload.h"

static struct kvload_options options = {.keys = 1000,
	.rate = 1000,
	.window = 32,
	.seconds = 5,
	.set_percent = 10,
	.value_size = 32,
	.timeout_ms = 1000,
	.seed = 1};
static struct kvload_counts counts;
static struct kvload_request requests[KVLOAD_IDS];
static uint16_t fills[KVLOAD_IDS]; /* ids whose key was missed, to be set */
static uint32_t fill_count, in_flight;
static uint16_t next_id, oldest_id;
static int sock;
static volatile sig_atomic_t stop;

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static uint64_t random_next(void)
{
	options.seed ^= options.seed << 13;
	options.seed ^= options.seed >> 7;
	options.seed ^= options.seed << 17;
	return options.seed;
}

static void request_end(struct kvload_request *r)
{
	free(r->reply);
	*r = (struct kvload_request){0};
	in_flight--;
}

/* False when the id is still in flight: all 65536 are. */
static bool request_send(uint32_t key, bool set)
{
	static uint8_t packet[KVLOAD_VALUE + 256];
	struct kvload_request *r = &requests[next_id];
	size_t length;

	if (r->active)
		return false;
	length = kvload_request_write(&options, next_id, key, set, packet);
	if (send(sock, packet, length, 0) != (ssize_t)length) {
		counts.send_failed++;
		return true;
	}
	counts.sent++;
	if (set && options.noreply)
		return true;
	*r = (struct kvload_request){.active = true, .set = set, .key = key, .sent_us = now_us()};
	next_id++;
	in_flight++;
	return true;
}

static void verdict_count(struct kvload_request *r, const uint8_t *reply, size_t length)
{
	counts.answered++;
	kvl_hist_add(&counts.latency, (uint32_t)(now_us() - r->sent_us));
	switch (kvload_reply_judge(&options, r->key, r->set, reply, length)) {
	case KVLOAD_HIT:
		counts.hits++;
		break;
	case KVLOAD_MISS:
		counts.misses++;
		if (options.fill && fill_count < KVLOAD_IDS)
			fills[fill_count++] = (uint16_t)(r->key - options.first_key);
		break;
	case KVLOAD_STORED:
		counts.stored++;
		break;
	case KVLOAD_ERROR:
		counts.errors++;
		break;
	default:
		counts.wrong++;
		fprintf(stderr, "kvload: wrong reply: key %u, %s, %zu bytes: %.60s\n", r->key,
			r->set ? "set" : "get", length, (const char *)reply);
	}
}

/* One datagram of several: put in its place until all are there. */
static void part_add(struct kvload_request *r, uint16_t sequence, uint16_t total,
	const uint8_t *data, size_t length)
{
	size_t at = (size_t)sequence * KVLOAD_PAYLOAD;

	if (r->reply == NULL) {
		r->reply = malloc((size_t)total * KVLOAD_PAYLOAD);
		r->total = total;
	}
	if (total != r->total || sequence >= total || sequence >= 1024 || length > KVLOAD_PAYLOAD
		|| (r->seen[sequence / 64] & 1ull << sequence % 64)) {
		counts.stray++;
		return;
	}
	r->seen[sequence / 64] |= 1ull << sequence % 64;
	memcpy(r->reply + at, data, length);
	if (at + length > r->length)
		r->length = at + length;
	if (++r->got == r->total) {
		verdict_count(r, r->reply, r->length);
		request_end(r);
	}
}

static void datagram_take(const uint8_t *data, size_t length)
{
	uint16_t id = data[0] << 8 | data[1], sequence = data[2] << 8 | data[3];
	uint16_t total = data[4] << 8 | data[5];
	struct kvload_request *r = &requests[id];

	if (length < 8 || !r->active) {
		counts.stray++;
	} else if (total > 1) {
		part_add(r, sequence, total, data + 8, length - 8);
	} else {
		verdict_count(r, data + 8, length - 8);
		request_end(r);
	}
}

static void replies_take(void)
{
	static uint8_t data[2048];
	ssize_t n;

	while ((n = recv(sock, data, sizeof(data), MSG_DONTWAIT)) >= 0)
		datagram_take(data, (size_t)n);
}

/* Ids are given in order, so the oldest in flight come first. */
static void timeouts_take(uint64_t now)
{
	while (oldest_id != next_id) {
		struct kvload_request *r = &requests[oldest_id];

		if (r->active) {
			if (now < r->sent_us + (uint64_t)options.timeout_ms * 1000)
				return;
			counts.timeouts++;
			request_end(r);
		}
		oldest_id++;
	}
}

static void wait_us(uint64_t us)
{
	struct pollfd p = {.fd = sock, .events = POLLIN};
	struct timespec t = {
		.tv_sec = (time_t)(us / 1000000), .tv_nsec = (long)(us % 1000000) * 1000};

	ppoll(&p, 1, &t, NULL);
}

static bool next_send(void)
{
	if (fill_count != 0)
		return request_send(options.first_key + fills[--fill_count], true);
	return request_send(options.first_key + (uint32_t)(random_next() % options.keys),
		random_next() % 100 < options.set_percent);
}

static void drain(void)
{
	while (in_flight != 0) {
		replies_take();
		timeouts_take(now_us());
		if (in_flight != 0)
			wait_us(1000);
	}
}

static void load_run(void)
{
	uint64_t start = now_us(), end = start + (uint64_t)(options.seconds * 1e6), sent = 0;

	for (uint64_t now = start; !stop && now < end; now = now_us()) {
		uint64_t due = options.rate != 0 ? (now - start) * options.rate / 1000000 + 1
						 : sent + options.window - in_flight;

		if (options.count != 0 && due > options.count)
			due = options.count;
		for (unsigned int burst = 0; sent < due && burst < 64; burst++, sent++)
			if (!next_send())
				break;
		if (options.count != 0 && sent >= options.count)
			break;
		replies_take();
		timeouts_take(now);
		if (sent >= due)
			wait_us(options.rate != 0 && options.rate < 5000 ? 1000000 / options.rate
									 : 200);
	}
	drain();
}

/* Every key once, a few at a time; what times out is sent again. */
static int prefill_run(void)
{
	bool noreply = options.noreply;

	options.noreply = false;
	for (uint32_t key = 0; key < options.keys && !stop;) {
		uint64_t before = counts.stored;
		uint32_t batch = options.keys - key < 16 ? options.keys - key : 16;

		for (int tries = 0; counts.stored - before < batch; tries++) {
			if (tries == 50)
				return -EIO;
			before = counts.stored;
			for (uint32_t i = 0; i < batch; i++)
				request_send(options.first_key + key + i, true);
			drain();
		}
		key += batch;
	}
	options.noreply = noreply;
	counts = (struct kvload_counts){0};
	return 0;
}

static void report(void)
{
	printf("{\"sent\":%llu,\"answered\":%llu,\"hits\":%llu,\"misses\":%llu,\"stored\":%llu,"
	       "\"errors\":%llu,\"wrong\":%llu,\"stray\":%llu,\"timeouts\":%llu,"
	       "\"send_failed\":%llu,\"p50_us\":%.0f,\"p95_us\":%.0f,\"p99_us\":%.0f}\n",
		(unsigned long long)counts.sent, (unsigned long long)counts.answered,
		(unsigned long long)counts.hits, (unsigned long long)counts.misses,
		(unsigned long long)counts.stored, (unsigned long long)counts.errors,
		(unsigned long long)counts.wrong, (unsigned long long)counts.stray,
		(unsigned long long)counts.timeouts, (unsigned long long)counts.send_failed,
		kvl_hist_quantile(&counts.latency, 0.5), kvl_hist_quantile(&counts.latency, 0.95),
		kvl_hist_quantile(&counts.latency, 0.99));
}

static void stop_set(int sig)
{
	stop = 1;
}

static int usage(void)
{
	fputs("usage: kvload [options] ADDRESS PORT\n"
	      "  -k KEYS -K FIRST_KEY -r RATE (0: closed loop) -w WINDOW -t SECONDS -n COUNT\n"
	      "  -s SET_PERCENT -v VALUE_SIZE -T TIMEOUT_MS -S SEED -b SOURCE_ADDRESS\n"
	      "  -p prefill  -f fill misses  -q noreply sets  -m meta protocol\n",
		stderr);
	return 2;
}

static int options_read(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "k:K:r:w:t:n:s:v:T:S:b:pfqm")) != -1) {
		switch (c) {
		case 'k':
			options.keys = (uint32_t)atoi(optarg);
			break;
		case 'K':
			options.first_key = (uint32_t)atoi(optarg);
			break;
		case 'r':
			options.rate = (uint32_t)atoi(optarg);
			break;
		case 'w':
			options.window = (uint32_t)atoi(optarg);
			break;
		case 't':
			options.seconds = atof(optarg);
			break;
		case 'n':
			options.count = (uint64_t)atoll(optarg);
			break;
		case 's':
			options.set_percent = (uint32_t)atoi(optarg);
			break;
		case 'v':
			options.value_size = (uint32_t)atoi(optarg);
			break;
		case 'T':
			options.timeout_ms = (uint32_t)atoi(optarg);
			break;
		case 'S':
			options.seed = (uint64_t)atoll(optarg) | 1;
			break;
		case 'b':
			options.bind_address = optarg;
			break;
		case 'p':
			options.prefill = true;
			break;
		case 'f':
			options.fill = true;
			break;
		case 'q':
			options.noreply = true;
			break;
		case 'm':
			options.meta = true;
			break;
		default:
			return -EINVAL;
		}
	}
	if (argc - optind != 2 || options.keys == 0 || options.keys > KVLOAD_IDS
		|| options.value_size > KVLOAD_VALUE)
		return -EINVAL;
	options.target.port = (uint16_t)atoi(argv[optind + 1]);
	return kvl_addr_parse(argv[optind], &options.target.address);
}

static int socket_open(void)
{
	struct kvl_endpoint from = {0};
	union kvl_sockaddr address;
	socklen_t len = kvl_sockaddr_write(&options.target, &address);
	int size = 4 << 20;

	sock = socket(address.sa.sa_family, SOCK_DGRAM, 0);
	if (sock < 0)
		return -errno;
	setsockopt(sock, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	if (options.bind_address != NULL) {
		union kvl_sockaddr own;

		if (kvl_addr_parse(options.bind_address, &from.address) < 0)
			return -EINVAL;
		if (bind(sock, &own.sa, kvl_sockaddr_write(&from, &own)) < 0)
			return -errno;
	}
	return connect(sock, &address.sa, len) < 0 ? -errno : 0;
}

int main(int argc, char **argv)
{
	int rc = options_read(argc, argv);

	if (rc < 0)
		return usage();
	signal(SIGINT, stop_set);
	signal(SIGTERM, stop_set);
	rc = socket_open();
	if (rc == 0 && options.prefill)
		rc = prefill_run();
	if (rc < 0) {
		fprintf(stderr, "kvload: %s\n", strerror(-rc));
		return 1;
	}
	load_run();
	report();
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <net/if.h>
#include <netpacket/packet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/*
 * kvblast: malformed and random packets on an interface, as fast as it takes them, for a bounded
 * time. Each starts as a good request (or reply) and then has bytes changed, cut off or added
 * anywhere, headers included; checksums are not mended, since nobody on the way checks them.
 */
#define BATCH  64
#define LENGTH 1500

static uint64_t state = 88172645463325252ull;

static uint32_t random_next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 32);
}

static const char *const requests[] = {
	"get key\r\n",
	"gets key\r\n",
	"set key 0 0 5\r\nvalue\r\n",
	"set k 0 0 400\r\nvalue\r\n",
	"add key 1 2 3 noreply\r\nabc\r\n",
	"cas key 0 0 1 99\r\nx\r\n",
	"incr n 1\r\n",
	"delete key\r\n",
	"touch key 5\r\n",
	"gat 5 key\r\n",
	"mg key v s t k q O1\r\n",
	"ms key 5 T0 F1\r\nvalue\r\n",
	"md key q\r\n",
	"ma key N0 J1 v\r\n",
	"mn\r\n",
	"me key\r\n",
	"get a b c d e\r\n",
	"get a\r\nget b\r\n",
	"version\r\n",
	"stats\r\n",
	"flush_all\r\n",
	"quit\r\n",
	"watch\r\n",
	"mg Zm9v b v\r\n",
	"get {tag}key\r\n",
	"set key 0 0 99999999999\r\nx\r\n",
	"\r\n",
	"get \r\n",
	"\x80\x01\0\x03\x08\0\0\0\0\0\0\x10",
};

static const char *const replies[] = {
	"VALUE key 0 5\r\nvalue\r\nEND\r\n",
	"END\r\n",
	"STORED\r\n",
	"HD\r\n",
	"EN\r\n",
	"SERVER_ERROR busy\r\n",
	"ERROR\r\n",
	"VA 5\r\nvalue\r\n",
	"",
};

static void put16(uint8_t *at, unsigned int value)
{
	at[0] = value >> 8;
	at[1] = value;
}

struct target {
	uint8_t mac[6];
	struct in_addr from, to;
	int replies;
};

static size_t packet_good(const struct target *t, uint8_t *p)
{
	size_t n = t->replies ? sizeof(replies) / sizeof(*replies)
			      : sizeof(requests) / sizeof(*requests);
	const char *text = (t->replies ? replies : requests)[random_next() % n];
	size_t length = strlen(text) == 4 && text[0] == (char)0x80 ? 12 : strlen(text);

	memset(p, 0, 50);
	memcpy(p, t->mac, 6);
	p[6] = 2;
	put16(p + 12, 0x0800);
	p[14] = 0x45;
	put16(p + 16, 20 + 16 + length);
	p[22] = 64;
	p[23] = 17;
	memcpy(p + 26, &t->from, 4);
	memcpy(p + 30, &t->to, 4);
	put16(p + 34, t->replies ? 11211 : 1024 + random_next() % 60000);
	put16(p + 36, t->replies ? 16384 + random_next() % 16384 : 11211);
	put16(p + 38, 16 + length);
	put16(p + 42, random_next());
	put16(p + 46, 1);
	memcpy(p + 50, text, length);
	return 50 + length;
}

/* A third stay good; else a few bytes anywhere change, mostly behind the addresses. */
static size_t packet_spoil(uint8_t *p, size_t length)
{
	unsigned int changes = random_next() % 3 == 0 ? 0 : 1 + random_next() % 6;

	while (changes-- != 0) {
		size_t at = random_next() % 4 == 0 ? 12 + random_next() % 30
						   : 38 + random_next() % length;

		if (at >= length)
			at = length - 1;
		p[at] = (uint8_t)random_next();
		if (random_next() % 3 == 0)
			p[at] = (uint8_t) "\0\r\n \xff\x80\x81\t"[random_next() % 8];
	}
	if (random_next() % 16 == 0)
		length = 14 + random_next() % (length - 13);
	if (random_next() % 16 == 0)
		for (size_t end = length + random_next() % 1400; length < end && length < LENGTH;)
			p[length++] = random_next();
	return length;
}

static int socket_open(const char *interface)
{
	struct sockaddr_ll to = {.sll_family = AF_PACKET,
		.sll_protocol = htons(0x0800),
		.sll_ifindex = (int)if_nametoindex(interface)};
	int fd = socket(AF_PACKET, SOCK_RAW, 0);

	if (fd < 0 || to.sll_ifindex == 0 || bind(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		return -1;
	return fd;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static unsigned long blast(int fd, const struct target *t, double seconds)
{
	static uint8_t packets[BATCH][LENGTH + 16];
	struct mmsghdr messages[BATCH];
	struct iovec vectors[BATCH];
	double end = now() + seconds;
	unsigned long sent = 0;

	memset(messages, 0, sizeof(messages));
	while (now() < end) {
		for (int i = 0; i < BATCH; i++) {
			vectors[i].iov_base = packets[i];
			vectors[i].iov_len = packet_spoil(packets[i], packet_good(t, packets[i]));
			messages[i].msg_hdr.msg_iov = &vectors[i];
			messages[i].msg_hdr.msg_iovlen = 1;
		}
		for (int done = 0; done < BATCH;) {
			int n = sendmmsg(fd, messages + done, BATCH - done, 0);

			/* One the kernel will not send is passed over. */
			done += n > 0 ? n : 1;
			sent += n > 0 ? n : 0;
		}
	}
	return sent;
}

int main(int argc, char **argv)
{
	struct target t = {0};
	double seconds = 10;
	unsigned int m[6];
	int c, fd;

	while ((c = getopt(argc, argv, "t:S:")) != -1) {
		if (c == 't')
			seconds = atof(optarg);
		else if (c == 'S')
			state = strtoull(optarg, NULL, 0) | 1;
	}
	if (argc - optind != 5
		|| sscanf(argv[optind + 1], "%x:%x:%x:%x:%x:%x", &m[0], &m[1], &m[2], &m[3], &m[4],
			   &m[5])
			   != 6
		|| inet_pton(AF_INET, argv[optind + 3], &t.from) != 1
		|| inet_pton(AF_INET, argv[optind + 4], &t.to) != 1) {
		fprintf(stderr, "usage: kvblast [-t SECONDS] [-S SEED] INTERFACE MAC "
				"requests|replies FROM TO\n");
		return 2;
	}
	for (int i = 0; i < 6; i++)
		t.mac[i] = m[i];
	t.replies = strcmp(argv[optind + 2], "replies") == 0;
	fd = socket_open(argv[optind]);
	if (fd < 0) {
		perror(argv[optind]);
		return 1;
	}
	printf("sent %lu packets in %.0f s\n", blast(fd, &t, seconds), seconds);
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes are sockets on the loopback address, in the same event loop; the clock is the real one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <event2/event.h>

#include "ctrl/core/probe.h"
#include "lib/proto/frame.h"

#define TIMEOUT_MS 5000 /* a loaded machine must not look like a dead node */
#define SHORT_MS   100  /* where silence is what is tested */

struct request {
	struct kvl_frame frame;
	char text[64];
	size_t len;
	struct sockaddr_storage from;
	socklen_t from_len;
};

/* A node: says `reply` (NULL: nothing) to whatever comes. */
struct fake {
	int fd;
	uint16_t port;
	const char *reply;
	uint16_t id_change; /* added to the echoed id */
	int reply_fd;       /* another socket to answer from; -1 = the same */
	int seen;
	struct request last;
	struct event *readable;
};

static struct event_base *base;
static struct kvl_probes *probes;
static int ended[KVL_PROBE_NODES_MAX], good[KVL_PROBE_NODES_MAX], total, wanted;
static uint32_t rtt[KVL_PROBE_NODES_MAX];
static struct kvl_addr local;

static uint64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

static void on_done(void *ctx, uint16_t node, bool ok, uint32_t rtt_us)
{
	ended[node]++;
	good[node] += ok;
	rtt[node] = rtt_us;
	if (++total == wanted)
		event_base_loopbreak(base);
}

static void on_request(evutil_socket_t fd, short what, void *ctx)
{
	struct fake *f = ctx;
	struct request *r = &f->last;
	char out[128];
	ssize_t n;

	r->from_len = sizeof(r->from);
	n = recvfrom(
		fd, r, offsetof(struct request, len), 0, (struct sockaddr *)&r->from, &r->from_len);
	assert_true(n >= (ssize_t)sizeof(r->frame));
	r->len = (size_t)n;
	f->seen++;
	if (f->reply == NULL)
		return;
	memcpy(out, &r->frame, sizeof(r->frame));
	((struct kvl_frame *)out)->id = htons((uint16_t)(ntohs(r->frame.id) + f->id_change));
	memcpy(out + sizeof(r->frame), f->reply, strlen(f->reply));
	sendto(f->reply_fd >= 0 ? f->reply_fd : fd, out, sizeof(r->frame) + strlen(f->reply), 0,
		(struct sockaddr *)&r->from, r->from_len);
}

static int bind_local(int family, uint16_t *port)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_addr = in6addr_loopback};
	bool v4 = family == AF_INET;
	struct sockaddr *sa = v4 ? (struct sockaddr *)&in : (struct sockaddr *)&in6;
	socklen_t len = v4 ? sizeof(in) : sizeof(in6);
	int fd = socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), size = 8 << 20;

	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	if (bind(fd, sa, len) < 0) {
		close(fd);
		return -1;
	}
	getsockname(fd, sa, &len);
	*port = ntohs(v4 ? in.sin_port : in6.sin6_port);
	return fd;
}

static bool open_fake(struct fake *f, int family, const char *reply)
{
	*f = (struct fake){.reply = reply, .reply_fd = -1};
	f->fd = bind_local(family, &f->port);
	if (f->fd < 0)
		return false;
	f->readable = event_new(base, f->fd, EV_READ | EV_PERSIST, on_request, f);
	event_add(f->readable, NULL);
	return true;
}

static void close_fake(struct fake *f)
{
	event_free(f->readable);
	close(f->fd);
}

static int start(void **state)
{
	memset(ended, 0, sizeof(ended));
	memset(good, 0, sizeof(good));
	total = wanted = 0;
	assert_int_equal(kvl_addr_parse("127.0.0.1", &local), 0);
	base = event_base_new();
	probes = kvl_probes_new(base, TIMEOUT_MS, on_done, NULL);
	assert_non_null(probes);
	return 0;
}

static int stop(void **state)
{
	kvl_probes_free(probes);
	event_base_free(base);
	return 0;
}

/* Until `count` probes have ended, or for ten seconds. */
static void wait_for(int count)
{
	struct timeval limit = {.tv_sec = 10};

	wanted = count;
	event_base_loopexit(base, &limit);
	event_base_dispatch(base);
	assert_int_equal(total, count);
}

static void let_pass(int ms)
{
	struct timeval tv = {.tv_usec = ms * 1000};

	event_base_loopexit(base, &tv);
	event_base_dispatch(base);
}

static void test_alive(void **state)
{
	struct fake f;

	open_fake(&f, AF_INET, "VERSION 1.6.18\r\n");
	assert_int_equal(kvl_probes_start(probes, 7, &local, f.port), 0);
	assert_int_equal(kvl_probes_start(probes, 7, &local, f.port), -EALREADY);
	assert_int_equal(total, 0); /* not from within the call */
	wait_for(1);
	assert_int_equal(good[7], 1);
	assert_true(rtt[7] > 0 && rtt[7] < TIMEOUT_MS * 1000);
	assert_int_equal(f.last.len, 17);
	assert_int_equal(ntohs(f.last.frame.total), 1);
	assert_int_equal(f.last.frame.sequence, 0);
	assert_memory_equal(f.last.text, "version\r\n", 9);
	assert_int_equal(kvl_probes_start(probes, 7, &local, f.port), 0);
	wait_for(2);
	close_fake(&f);
}

static void test_alive_v6(void **state)
{
	struct fake f;

	if (!open_fake(&f, AF_INET6, "VERSION 1.6.18\r\n"))
		skip();
	kvl_addr_parse("::1", &local);
	assert_int_equal(kvl_probes_start(probes, 4095, &local, f.port), 0);
	wait_for(1);
	assert_int_equal(good[4095], 1);
	close_fake(&f);
	assert_int_equal(kvl_probes_start(probes, 4095, &local, f.port), 0);
	wait_for(2);
	assert_int_equal(good[4095], 1); /* refused by ICMPv6 */
}

static void test_silence(void **state)
{
	struct fake f;
	uint64_t begin = now_us();

	kvl_probes_set_timeout(probes, SHORT_MS);
	open_fake(&f, AF_INET, NULL);
	kvl_probes_start(probes, 1, &local, f.port);
	wait_for(1);
	assert_int_equal(good[1], 0);
	assert_int_equal(rtt[1], 0);
	assert_true(now_us() - begin >= SHORT_MS * 1000);
	close_fake(&f);
}

/* A closed port is known at once, and the node beside it keeps its probe. */
static void test_refused(void **state)
{
	struct fake f;
	uint64_t begin = now_us();
	uint16_t port;
	int fd = bind_local(AF_INET, &port);

	close(fd);
	open_fake(&f, AF_INET, "VERSION 1\r\n");
	for (uint16_t i = 0; i < 20; i++)
		kvl_probes_start(probes, i, &local, i % 2 ? port : f.port);
	wait_for(20);
	for (int i = 0; i < 20; i++)
		assert_int_equal(good[i], i % 2 == 0);
	assert_true(now_us() - begin < TIMEOUT_MS * 1000);
	close_fake(&f);
}

static void test_false_answers(void **state)
{
	struct fake wrong_id, wrong_port, wrong_text;
	uint16_t port;
	int other = bind_local(AF_INET, &port);

	kvl_probes_set_timeout(probes, SHORT_MS);
	open_fake(&wrong_id, AF_INET, "VERSION 1\r\n");
	wrong_id.id_change = 1;
	open_fake(&wrong_port, AF_INET, "VERSION 1\r\n");
	wrong_port.reply_fd = other;
	open_fake(&wrong_text, AF_INET, "SERVER_ERROR out of memory\r\n");
	kvl_probes_start(probes, 1, &local, wrong_id.port);
	kvl_probes_start(probes, 2, &local, wrong_port.port);
	kvl_probes_start(probes, 3, &local, wrong_text.port);
	wait_for(3);
	assert_int_equal(good[1] + good[2] + good[3], 0);
	assert_int_equal(ended[1] + ended[2] + ended[3], 3);
	close_fake(&wrong_id);
	close_fake(&wrong_port);
	close_fake(&wrong_text);
	close(other);
}

static void test_cancel(void **state)
{
	struct fake f;

	kvl_probes_set_timeout(probes, SHORT_MS);
	open_fake(&f, AF_INET, NULL);
	kvl_probes_start(probes, 1, &local, f.port);
	kvl_probes_start(probes, 2, &local, f.port);
	kvl_probes_cancel(probes, 1); /* not sent yet */
	let_pass(20);
	kvl_probes_cancel(probes, 2); /* out */
	let_pass(2 * SHORT_MS);
	assert_int_equal(f.seen, 1);
	assert_int_equal(total, 0);
	assert_int_equal(kvl_probes_start(probes, 2, &local, f.port), 0);
	wait_for(1);
	close_fake(&f);
}

/* All nodes at once: paced, all answered, in little more than half a second. */
static void test_paced(void **state)
{
	struct fake f;
	uint64_t begin = now_us();

	open_fake(&f, AF_INET, "VERSION 1\r\n");
	for (uint16_t i = 0; i < KVL_PROBE_NODES_MAX; i++)
		assert_int_equal(kvl_probes_start(probes, i, &local, f.port), 0);
	let_pass(30);
	assert_in_range(f.seen, 1, KVL_PROBE_NODES_MAX / 2);
	wait_for(KVL_PROBE_NODES_MAX);
	for (int i = 0; i < KVL_PROBE_NODES_MAX; i++)
		assert_int_equal(good[i], 1);
	assert_true(now_us() - begin > 300000);
	close_fake(&f);
}

/* All dead: never more than a window out, each told once. */
static void test_all_dead(void **state)
{
	struct fake f;

	kvl_probes_set_timeout(probes, SHORT_MS);
	open_fake(&f, AF_INET, NULL);
	for (uint16_t i = 0; i < KVL_PROBE_NODES_MAX; i++)
		kvl_probes_start(probes, i, &local, f.port);
	wait_for(KVL_PROBE_NODES_MAX);
	for (int i = 0; i < KVL_PROBE_NODES_MAX; i++)
		assert_int_equal(ended[i], 1);
	close_fake(&f);
}

static void test_bad_arguments(void **state)
{
	assert_int_equal(kvl_probes_start(probes, KVL_PROBE_NODES_MAX, &local, 1), -EINVAL);
	assert_int_equal(kvl_probes_start(probes, 1, &local, 0), -EINVAL);
	kvl_probes_cancel(probes, KVL_PROBE_NODES_MAX);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_alive),
		TEST(test_alive_v6),
		TEST(test_silence),
		TEST(test_refused),
		TEST(test_false_answers),
		TEST(test_cancel),
		TEST(test_paced),
		TEST(test_all_dead),
		TEST(test_bad_arguments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

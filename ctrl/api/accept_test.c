/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <event2/event.h>
#include <event2/listener.h>

#include "ctrl/api/accept.h"

#define FEW 64 /* descriptors */

static struct event_base *base;
static struct kvl_accept server;
static struct sockaddr_un name;
static socklen_t name_len;
static int taken, context;

static void on_taken(void *ctx, int fd, const struct sockaddr *peer)
{
	assert_ptr_equal(ctx, &context);
	assert_int_equal(peer->sa_family, AF_UNIX);
	taken++;
	close(fd);
}

static int start(void **state)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	name = (struct sockaddr_un){.sun_family = AF_UNIX};
	name_len = sizeof(name);
	taken = 0;
	base = event_base_new();
	/* A name of the kernel's choice. */
	assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof(name.sun_family)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&name, &name_len), 0);
	assert_int_equal(listen(fd, 16), 0);
	return kvl_accept_start(&server,
		evconnlistener_new(base, NULL, NULL, LEV_OPT_CLOSE_ON_FREE, 0, fd), on_taken,
		&context);
}

static int stop(void **state)
{
	kvl_accept_stop(&server);
	event_base_free(base);
	return 0;
}

static int connect_to(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&name, name_len), 0);
	return fd;
}

static void test_takes(void **state)
{
	int first = connect_to(), second = connect_to();

	event_base_loop(base, EVLOOP_ONCE);
	assert_int_equal(taken, 2);
	close(first);
	close(second);
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Takes all descriptors that there are; returns their number. */
static int descriptors_take(int list[FEW])
{
	int count = 0, fd;

	while ((fd = dup(0)) >= 0)
		list[count++] = fd;
	assert_int_equal(errno, EMFILE);
	return count;
}

/* Whoever comes while there is no descriptor is taken when there is one again; in between the loop
 * rests. */
static void test_rests_without_descriptors(void **state)
{
	struct rlimit before, few;
	int fd = connect_to(), list[FEW], count;
	uint64_t began;

	getrlimit(RLIMIT_NOFILE, &before);
	few = (struct rlimit){.rlim_cur = FEW, .rlim_max = before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	count = descriptors_take(list);
	for (int i = 0; i < 3; i++) {
		began = now_ms();
		event_base_loop(base, EVLOOP_ONCE); /* cannot take it */
		event_base_loop(base, EVLOOP_ONCE); /* the pause is over */
		assert_true(now_ms() - began >= KVL_ACCEPT_PAUSE_MS / 2);
		assert_int_equal(taken, 0);
	}
	while (count > 0)
		close(list[--count]);
	event_base_loop(base, EVLOOP_ONCE);
	assert_int_equal(taken, 1);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	close(fd);
}

static void test_no_listener(void **state)
{
	struct kvl_accept none;

	errno = EADDRINUSE;
	assert_int_equal(kvl_accept_start(&none, NULL, on_taken, &context), -EADDRINUSE);
	kvl_accept_stop(&none);
	kvl_accept_stop(&none);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_takes),
		TEST(test_rests_without_descriptors),
		cmocka_unit_test(test_no_listener),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

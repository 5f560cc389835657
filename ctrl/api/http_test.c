/* SPDX-License-Identifier: BSD-3-Clause */
/* The server runs in a thread of its own; the tests are its clients, over loopback TCP. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <event2/event.h>

#include "ctrl/api/http.h"

#define BIG (8u << 20)

static struct event_base *base;
static struct event *stop_event;
static int stop_pipe[2];
static struct kvl_http *http;
static pthread_t thread;
static int context;
static uint16_t port;

static void echo(void *ctx, const struct kvl_http_request *request, struct kvl_http_answer *answer)
{
	assert_ptr_equal(ctx, &context);
	kvl_http_json(
		answer, 200, json_pack("{s:s%}", "body", request->body, request->head->body_len));
}

static void hello(void *ctx, const struct kvl_http_request *request, struct kvl_http_answer *answer)
{
	kvl_http_fail(answer, 422, "wrong", "%s", "cpu");
}

static void big(void *ctx, const struct kvl_http_request *request, struct kvl_http_answer *answer)
{
	*answer = (struct kvl_http_answer){200, "text/plain", malloc(BIG), BIG};
	memset(answer->body, 'x', BIG);
}

static void nothing(
	void *ctx, const struct kvl_http_request *request, struct kvl_http_answer *answer)
{
}

static const struct kvl_http_page pages[] = {
	{"/echo", KVL_HTTP_POST, echo},
	{"/hello", KVL_HTTP_GET, hello},
	{"/big", KVL_HTTP_GET, big},
	{"/nothing", KVL_HTTP_GET, nothing},
	{0},
};

static void *run(void *arg)
{
	event_base_dispatch(base);
	return NULL;
}

static void on_stop(evutil_socket_t fd, short what, void *arg)
{
	event_base_loopbreak(base);
}

static int start(void **state)
{
	struct kvl_addr own;

	kvl_addr_parse("127.0.0.1", &own);
	base = event_base_new();
	http = kvl_http_new(base, &own, 0, pages, &context);
	assert_non_null(http);
	port = kvl_http_port(http);
	assert_int_not_equal(port, 0);
	assert_int_equal(pipe(stop_pipe), 0);
	stop_event = event_new(base, stop_pipe[0], EV_READ, on_stop, NULL);
	event_add(stop_event, NULL);
	pthread_create(&thread, NULL, run, NULL);
	return 0;
}

/* Ends the server's thread, after which its counters may be read. */
static void halt(void)
{
	assert_int_equal(write(stop_pipe[1], "", 1), 1);
	pthread_join(thread, NULL);
}

static int stop(void **state)
{
	if (stop_pipe[1] >= 0) {
		halt();
		close(stop_pipe[1]);
	}
	event_free(stop_event);
	close(stop_pipe[0]);
	kvl_http_free(http);
	event_base_free(base);
	return 0;
}

/* Of the loopback's many addresses. */
static int connect_from(const char *address)
{
	struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = inet_addr(address)};
	struct sockaddr_in to = {.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct timeval limit = {.tv_sec = 20};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	assert_int_equal(bind(fd, (struct sockaddr *)&from, sizeof(from)), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

static int connect_to(void)
{
	return connect_from("127.0.0.1");
}

static void put(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* All that comes until the server closes, which it must; NUL behind it. */
static const char *take_all(int fd, size_t *len)
{
	static char text[BIG + 4096];
	ssize_t n;

	*len = 0;
	while ((n = recv(fd, text + *len, sizeof(text) - 1 - *len, 0)) > 0)
		*len += (size_t)n;
	assert_int_equal(n, 0);
	text[*len] = '\0';
	close(fd);
	return text;
}

static const char *ask(const char *request)
{
	int fd = connect_to();
	size_t len;

	put(fd, request);
	return take_all(fd, &len);
}

static void assert_status(const char *reply, int status)
{
	char start[16];

	snprintf(start, sizeof(start), "HTTP/1.1 %d ", status);
	if (strncmp(reply, start, strlen(start)) != 0)
		fail_msg("not %d: %.200s", status, reply);
	if (status != 100)
		assert_non_null(strstr(reply, "\r\nConnection: close\r\n"));
}

static const char *body_of(const char *reply)
{
	const char *body = strstr(reply, "\r\n\r\n");

	assert_non_null(body);
	return body + 4;
}

static void test_answers(void **state)
{
	const char *reply = ask("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc");

	assert_status(reply, 200);
	assert_string_equal(body_of(reply), "{\"body\":\"abc\"}");
	assert_non_null(strstr(reply, "\r\nContent-Length: 14\r\n"));
	assert_non_null(strstr(reply, "\r\nContent-Type: application/json\r\n"));
	/* What is behind the body is not looked at. */
	reply = ask("POST /echo HTTP/1.1\r\nContent-Length: 1\r\n\r\nabcGET / HTTP/1.1\r\n\r\n");
	assert_status(reply, 200);
	assert_string_equal(body_of(reply), "{\"body\":\"a\"}");
	reply = ask("GET /hello?x=y HTTP/1.0\r\n\r\n");
	assert_status(reply, 422);
	assert_string_equal(body_of(reply), "{\"error\":{\"code\":\"wrong\",\"text\":\"cpu\"}}");
	reply = ask("GET /nothing HTTP/1.1\r\n\r\n");
	assert_status(reply, 500);
}

static void test_pieces(void **state)
{
	static const char request[] = "POST /echo HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc";
	const struct timespec pause = {.tv_nsec = 200000};
	int fd = connect_to();
	size_t len;

	for (size_t i = 0; i + 1 < sizeof(request); i++) {
		assert_int_equal(send(fd, &request[i], 1, MSG_NOSIGNAL), 1);
		nanosleep(&pause, NULL); /* a segment each, mostly */
	}
	assert_status(take_all(fd, &len), 200);
	/* Half closed, it still gets its answer. */
	fd = connect_to();
	put(fd, request);
	shutdown(fd, SHUT_WR);
	assert_status(take_all(fd, &len), 200);
}

static void test_head(void **state)
{
	const char *reply = ask("HEAD /hello HTTP/1.1\r\n\r\n");

	assert_status(reply, 422);
	assert_string_equal(body_of(reply), "");
	assert_null(strstr(reply, "\r\nContent-Length: 0\r\n"));
}

static void test_refusals(void **state)
{
	const char *reply = ask("GET /echo HTTP/1.1\r\n\r\n");

	assert_status(reply, 405);
	assert_non_null(strstr(reply, "\r\nAllow: POST\r\n"));
	reply = ask("DELETE /hello HTTP/1.1\r\n\r\n");
	assert_status(reply, 405);
	assert_non_null(strstr(reply, "\r\nAllow: GET, HEAD\r\n"));
	assert_status(ask("GET / HTTP/1.1\r\n\r\n"), 404);
	assert_status(ask("GET /echo/ HTTP/1.1\r\n\r\n"), 404);
	assert_status(ask("POST /echo HTTP/1.1\r\n\r\n"), 411);
	assert_status(ask("POST /echo HTTP/1.1\r\nContent-Length: 8193\r\n\r\n"), 413);
	assert_status(ask("POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"), 501);
	assert_status(ask("rubbish\r\n\r\n"), 400);
	assert_status(ask("GET / HTTP/3.0\r\n\r\n"), 505);
}

/* Sends all of a large body, though it was refused at its head, and can read why. */
static void test_large_body(void **state)
{
	static char block[65536];
	int fd = connect_to();
	size_t len;

	memset(block, 'x', sizeof(block));
	put(fd, "POST /echo HTTP/1.1\r\nContent-Length: 524288\r\n\r\n");
	for (int i = 0; i < 8; i++)
		assert_int_equal(send(fd, block, sizeof(block), MSG_NOSIGNAL), sizeof(block));
	assert_status(take_all(fd, &len), 413);
}

static void test_long_head(void **state)
{
	char line[256];
	int fd = connect_to();
	size_t len;

	memset(line, 'a', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	put(fd, "GET /");
	for (int i = 0; i < 40; i++)
		put(fd, line);
	assert_status(take_all(fd, &len), 431);
}

static void test_expect_continue(void **state)
{
	char text[64] = "";
	int fd = connect_to();
	size_t len;

	put(fd, "POST /echo HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
	assert_int_equal(recv(fd, text, 25, MSG_WAITALL), 25);
	assert_status(text, 100);
	put(fd, "abc");
	assert_status(take_all(fd, &len), 200);
}

static void test_big_answer(void **state)
{
	int fd = connect_to();
	const char *reply;
	size_t len;

	put(fd, "GET /big HTTP/1.1\r\n\r\n");
	reply = take_all(fd, &len);
	assert_status(reply, 200);
	assert_int_equal(len - (size_t)(body_of(reply) - reply), BIG);
}

/* One that says nothing is told so, and does not keep its place. */
static void test_slow_clients(void **state)
{
	int idle = connect_to(), slow = connect_to();
	size_t len;

	put(slow, "POST /echo HTTP/1.1\r\nContent-Length: 3\r\n\r\nab");
	assert_status(take_all(slow, &len), 408);
	assert_status(take_all(idle, &len), 408);
	halt();
	close(stop_pipe[1]);
	stop_pipe[1] = -1;
	assert_int_equal(kvl_http_counters(http).timed_out, 2);
	assert_int_equal(kvl_http_counters(http).requests, 2);
	assert_int_equal(kvl_http_counters(http).failed, 2);
}

/* A request that lacks its last byte: it keeps its place until something ends it. */
static int linger_from(const char *address)
{
	int fd = connect_from(address);
	char text[25];

	put(fd, "POST /echo HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n");
	assert_int_equal(recv(fd, text, sizeof(text), MSG_WAITALL), sizeof(text)); /* it has it */
	return fd;
}

static void finish(int fd)
{
	size_t len;

	put(fd, "x");
	assert_status(take_all(fd, &len), 200);
}

static void assert_busy(int fd)
{
	char text[12];

	assert_int_equal(recv(fd, text, sizeof(text), MSG_WAITALL), sizeof(text));
	assert_memory_equal(text, "HTTP/1.1 503", sizeof(text));
	close(fd);
}

/* All are from one address: the oldest gives way, and is told. */
static void test_many_clients(void **state)
{
	int fds[KVL_HTTP_CLIENTS_MAX + 2];

	for (int i = 0; i < KVL_HTTP_CLIENTS_MAX + 2; i++)
		fds[i] = linger_from("127.0.0.1");
	assert_busy(fds[0]);
	assert_busy(fds[1]);
	for (int i = 2; i < KVL_HTTP_CLIENTS_MAX + 2; i++)
		finish(fds[i]);
	halt();
	close(stop_pipe[1]);
	stop_pipe[1] = -1;
	assert_int_equal(kvl_http_counters(http).evicted, 2);
	assert_int_equal(kvl_http_counters(http).refused, 0);
}

/* Who opens ever more connections pushes out its own, and never those of others. */
static void test_one_that_floods(void **state)
{
	int other = linger_from("127.0.0.2"), flood[4 * KVL_HTTP_CLIENTS_MAX], fd;

	for (int i = 0; i < 4 * KVL_HTTP_CLIENTS_MAX; i++)
		flood[i] = linger_from("127.0.0.1");
	fd = linger_from("127.0.0.3");
	for (int i = 0; i < 4 * KVL_HTTP_CLIENTS_MAX - (KVL_HTTP_CLIENTS_MAX - 2); i++)
		assert_busy(flood[i]);
	finish(other);
	finish(fd);
	for (int i = 4 * KVL_HTTP_CLIENTS_MAX - (KVL_HTTP_CLIENTS_MAX - 2);
		i < 4 * KVL_HTTP_CLIENTS_MAX; i++)
		finish(flood[i]);
}

/* Two that have as many: in turn, and not the one that was first. */
static void test_shares_are_even(void **state)
{
	enum {
		HALF = KVL_HTTP_CLIENTS_MAX / 2
	};
	int first[HALF], second[2 * HALF];

	for (int i = 0; i < HALF; i++)
		first[i] = linger_from("127.0.0.1");
	for (int i = 0; i < 2 * HALF; i++)
		second[i] = linger_from("127.0.0.2");
	for (int i = 0; i < HALF; i++)
		assert_busy(second[i]);
	for (int i = 0; i < HALF; i++)
		finish(first[i]);
	for (int i = HALF; i < 2 * HALF; i++)
		finish(second[i]);
}

/* Those who do not take their answers hold nobody up either: they are closed. */
static void test_many_that_do_not_read(void **state)
{
	int fds[KVL_HTTP_CLIENTS_MAX], fd;
	size_t got = 0;
	ssize_t n;

	for (int i = 0; i < KVL_HTTP_CLIENTS_MAX; i++) {
		fds[i] = connect_from("127.0.0.1");
		put(fds[i], "GET /big HTTP/1.1\r\n\r\n");
		assert_int_equal(recv(fds[i], &(char[1]){0}, 1, MSG_PEEK), 1);
	}
	fd = linger_from("127.0.0.2");
	finish(fd);
	while ((n = recv(fds[0], (char[4096]){0}, 4096, 0)) > 0)
		got += (size_t)n;
	assert_true(got < BIG);
	for (int i = 0; i < KVL_HTTP_CLIENTS_MAX; i++)
		close(fds[i]);
}

/* Clients that leave in the middle: neither a signal nor a leak. */
static void test_gone_clients(void **state)
{
	for (int i = 0; i < 40; i++) {
		int fd = connect_to();

		put(fd, i % 2 ? "GET /big HTTP/1.1\r\n\r\n" : "GET /big HTTP/1.1\r\n");
		if (i % 4 == 1)
			assert_int_equal(recv(fd, &(char[1]){0}, 1, 0), 1);
		close(fd);
	}
	test_answers(state);
}

static void test_port_taken(void **state)
{
	struct event_base *other = event_base_new();
	struct kvl_addr own;

	kvl_addr_parse("127.0.0.1", &own);
	assert_null(kvl_http_new(other, &own, port, pages, &context));
	assert_int_equal(errno, EADDRINUSE);
	event_base_free(other);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_answers),
		TEST(test_pieces),
		TEST(test_head),
		TEST(test_refusals),
		TEST(test_large_body),
		TEST(test_long_head),
		TEST(test_expect_continue),
		TEST(test_big_answer),
		TEST(test_slow_clients),
		TEST(test_many_clients),
		TEST(test_one_that_floods),
		TEST(test_shares_are_even),
		TEST(test_many_that_do_not_read),
		TEST(test_gone_clients),
		TEST(test_port_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

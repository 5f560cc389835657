/* SPDX-License-Identifier: BSD-3-Clause */
/* The server runs in a thread of its own; the tests are its clients. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <event2/event.h>

#include "ctrl/api/socket.h"

#define BIG (1u << 20)

static char dir[64], path[128], why[512];
static struct event_base *base;
static struct event *stop_event;
static int stop_pipe[2];
static struct kvl_api *api;
static pthread_t thread;
static atomic_int big_made;
static int context;

static json_t *echo(void *ctx, const json_t *params, struct kvl_message_error *error)
{
	assert_ptr_equal(ctx, &context);
	return json_deep_copy(params);
}

static json_t *big(void *ctx, const json_t *params, struct kvl_message_error *error)
{
	char *text = malloc(BIG);
	json_t *result;

	big_made++;
	memset(text, 'x', BIG);
	result = json_stringn(text, BIG);
	free(text);
	return result;
}

static json_t *huge(void *ctx, const json_t *params, struct kvl_message_error *error)
{
	json_t *result = json_array();

	for (int i = 0; i < 9; i++)
		json_array_append_new(result, big(ctx, params, error));
	return result;
}

static json_t *refuse(void *ctx, const json_t *params, struct kvl_message_error *error)
{
	error->details = json_pack("[s]", "line 1");
	return kvl_message_fail(error, KVL_CODE_CONFIG, "no");
}

static const struct kvl_api_command commands[] = {
	{"echo", KVL_API_READ, echo},
	{"big", KVL_API_READ, big},
	{"huge", KVL_API_READ, huge},
	{"refuse", KVL_API_ADMIN, refuse},
	{NULL},
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
	big_made = 0;
	strcpy(dir, "/tmp/kvlc-api-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/run/kvlane.sock", dir);
	base = event_base_new();
	api = kvl_api_new(base, path, commands, &context, why, sizeof(why));
	if (api == NULL)
		fail_msg("%s", why);
	assert_int_equal(pipe(stop_pipe), 0);
	stop_event = event_new(base, stop_pipe[0], EV_READ, on_stop, NULL);
	event_add(stop_event, NULL);
	pthread_create(&thread, NULL, run, NULL);
	return 0;
}

static int connect_to(const char *to)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	struct timeval limit = {.tv_sec = 10};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(sun.sun_path, to);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (connect(fd, (struct sockaddr *)&sun, sizeof(sun)) < 0) {
		close(fd);
		return -errno;
	}
	return fd;
}

static int stop(void **state)
{
	char run_dir[80];

	assert_int_equal(write(stop_pipe[1], "", 1), 1);
	pthread_join(thread, NULL);
	event_free(stop_event);
	close(stop_pipe[0]);
	close(stop_pipe[1]);
	kvl_api_free(api);
	assert_int_equal(access(path, F_OK), -1);
	event_base_free(base);
	snprintf(run_dir, sizeof(run_dir), "%s/run", dir);
	assert_int_equal(rmdir(run_dir), 0);
	assert_int_equal(rmdir(dir), 0);
	return 0;
}

static void put(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* A line without its LF; "" at the end. */
static char *take(int fd)
{
	static char *line;
	static size_t cap;
	size_t len = 0;
	ssize_t n;

	for (;;) {
		if (len + 2 > cap)
			line = realloc(line, cap = cap * 2 + 65536);
		n = recv(fd, line + len, 1, 0);
		if (n <= 0 || line[len] == '\n')
			break;
		len++;
	}
	line[len] = '\0';
	return line;
}

static void skip_bytes(int fd, size_t len)
{
	static char buf[65536];
	ssize_t n;

	for (; len > 0; len -= (size_t)n) {
		n = recv(fd, buf, len < sizeof(buf) ? len : sizeof(buf), 0);
		assert_true(n > 0);
	}
}

static void assert_starts(const char *line, const char *start)
{
	if (strncmp(line, start, strlen(start)) != 0)
		fail_msg("%.200s", line);
}

static void test_answers(void **state)
{
	int fd = connect_to(path);

	put(fd, "{\"v\":1,\"id\":1,\"method\":\"echo\",\"params\":{\"a\":[1]}}\n");
	assert_string_equal(take(fd), "{\"v\":1,\"id\":1,\"result\":{\"a\":[1]}}");
	put(fd, "{\"v\":1,\"id\":2,\"method\":\"no\"}\n");
	assert_starts(take(fd), "{\"v\":1,\"id\":2,\"error\":{\"code\":\"unknown_method\"");
	put(fd, "{\"v\":1,\"id\":3,\"method\":\"refuse\"}\n");
	assert_string_equal(take(fd), "{\"v\":1,\"id\":3,\"error\":{\"code\":\"config\",\"text\":"
				      "\"no\",\"details\":[\"line 1\"]}}");
	put(fd, "junk\n");
	assert_starts(take(fd), "{\"v\":1,\"id\":null,\"error\":{\"code\":\"not_json\"");
	put(fd, "{\"v\":1,\"id\":4,\"meth"); /* in pieces, and two at once */
	usleep(1000);
	put(fd, "od\":\"echo\"}\n{\"v\":1,\"id\":5,\"method\":\"echo\"}\n");
	assert_string_equal(take(fd), "{\"v\":1,\"id\":4,\"result\":{}}");
	assert_string_equal(take(fd), "{\"v\":1,\"id\":5,\"result\":{}}");
	close(fd);
}

/* printf | nc -N: the sender ends first, and the last line may lack its end. */
static void test_half_closed(void **state)
{
	int fd = connect_to(path);

	put(fd, "{\"v\":1,\"id\":1,\"method\":\"echo\"}\n{\"v\":1,\"id\":2,\"method\":\"big\"}\n"
		"{\"v\":1,\"id\":3,\"method\":\"echo\"}");
	shutdown(fd, SHUT_WR);
	assert_string_equal(take(fd), "{\"v\":1,\"id\":1,\"result\":{}}");
	assert_starts(take(fd), "{\"v\":1,\"id\":2,\"result\":\"xxx");
	assert_string_equal(take(fd), "{\"v\":1,\"id\":3,\"result\":{}}");
	assert_string_equal(take(fd), "");
	close(fd);
}

static void test_too_long(void **state)
{
	char *line = malloc(KVL_MESSAGE_REQUEST_MAX + 1);
	int fd = connect_to(path);

	memset(line, ' ', KVL_MESSAGE_REQUEST_MAX);
	line[KVL_MESSAGE_REQUEST_MAX] = '\0';
	memcpy(line, "{\"v\":1,\"id\":1,\"method\":\"echo\"}", 30);
	line[KVL_MESSAGE_REQUEST_MAX - 1] = '\n';
	put(fd, line); /* the longest there is */
	assert_string_equal(take(fd), "{\"v\":1,\"id\":1,\"result\":{}}");
	line[KVL_MESSAGE_REQUEST_MAX - 1] = ' ';
	put(fd, line);
	put(fd, " \n");
	assert_starts(take(fd), "{\"v\":1,\"id\":null,\"error\":{\"code\":\"too_long\"");
	assert_string_equal(take(fd), "");
	close(fd);
	fd = connect_to(path);
	put(fd, "{\"v\":1,\"id\":1,\"method\":\"huge\"}\n");
	assert_starts(take(fd), "{\"v\":1,\"id\":1,\"error\":{\"code\":\"too_long\"");
	close(fd);
	free(line);
}

/* Requests are not worked off for a client that takes no replies, and none is lost. */
/* One that writes all of an endless line before it reads learns why, and is not cut off before. */
static void test_much_too_long(void **state)
{
	static char block[1 << 20];
	int fd = connect_to(path);

	memset(block, 'x', sizeof(block));
	for (unsigned int i = 0; i < KVL_API_DRAIN_BYTES / sizeof(block) - 1; i++)
		assert_int_equal(send(fd, block, sizeof(block), MSG_NOSIGNAL), sizeof(block));
	assert_starts(take(fd), "{\"v\":1,\"id\":null,\"error\":{\"code\":\"too_long\"");
	assert_string_equal(take(fd), "");
	close(fd);
	test_answers(state);
}

/* That too has an end: bytes, or time. */
static void test_endless(void **state)
{
	static char block[1 << 20];
	int fd = connect_to(path), quiet = connect_to(path);
	unsigned int i = 0;

	memset(block, 'x', sizeof(block));
	while (i < 4 * KVL_API_DRAIN_BYTES / sizeof(block)
		&& send(fd, block, sizeof(block), MSG_NOSIGNAL) == sizeof(block))
		i++;
	assert_true(i >= KVL_API_DRAIN_BYTES / sizeof(block));
	assert_true(i < 2 * KVL_API_DRAIN_BYTES / sizeof(block));
	close(fd);
	assert_int_equal(
		send(quiet, block, KVL_MESSAGE_REQUEST_MAX, MSG_NOSIGNAL), KVL_MESSAGE_REQUEST_MAX);
	assert_starts(take(quiet), "{\"v\":1,\"id\":null,\"error\":{\"code\":\"too_long\"");
	assert_string_equal(take(quiet), "");
	while (send(quiet, "x", 1, MSG_NOSIGNAL) == 1) /* until it is closed */
		usleep(10000);
	assert_int_equal(errno, EPIPE);
	close(quiet);
}

static void test_slow_reader(void **state)
{
	int fd = connect_to(path);

	for (int i = 0; i < 50; i++)
		put(fd, "{\"v\":1,\"id\":1,\"method\":\"big\"}\n");
	usleep(100000);
	assert_true(big_made >= 1 && big_made <= 2);
	skip_bytes(fd, 50 * (BIG + strlen("{\"v\":1,\"id\":1,\"result\":\"\"}\n")));
	assert_int_equal(big_made, 50);
	close(fd);
}

static void test_many_clients(void **state)
{
	int fds[KVL_API_CLIENTS_MAX], fd, tries = 0;
	bool busy;

	for (int i = 0; i < KVL_API_CLIENTS_MAX; i++) {
		fds[i] = connect_to(path);
		put(fds[i], "{\"v\":1,\"id\":1,\"method\":\"echo\"}\n");
		assert_starts(take(fds[i]), "{\"v\":1,\"id\":1,\"result\"");
	}
	fd = connect_to(path);
	assert_starts(take(fd), "{\"v\":1,\"id\":null,\"error\":{\"code\":\"busy\"");
	assert_string_equal(take(fd), "");
	close(fd);
	for (int i = 0; i < KVL_API_CLIENTS_MAX; i++)
		close(fds[i]);
	do { /* until the server has seen them go */
		fd = connect_to(path);
		send(fd, "{\"v\":1,\"id\":1,\"method\":\"echo\"}\n", 31, MSG_NOSIGNAL);
		busy = strstr(take(fd), "\"result\"") == NULL;
		close(fd);
	} while (busy && ++tries < 1000);
	assert_false(busy);
}

/* A client that leaves in the middle of a reply: neither a signal nor a leak. */
static void test_gone_reader(void **state)
{
	for (int i = 0; i < 20; i++) {
		int fd = connect_to(path);

		put(fd, "{\"v\":1,\"id\":1,\"method\":\"big\"}\n{\"v\":1,\"id\":1,\"method\":"
			"\"big\"}\n");
		if (i % 2)
			skip_bytes(fd, 1000);
		close(fd);
	}
	test_answers(state);
}

static void test_live_socket_refused(void **state)
{
	struct event_base *other = event_base_new();

	assert_null(kvl_api_new(other, path, commands, NULL, why, sizeof(why)));
	assert_int_equal(errno, EADDRINUSE);
	assert_non_null(strstr(why, "in use by process"));
	event_base_free(other);
	test_answers(state);
}

static void test_other_files_refused(void **state)
{
	struct event_base *other = event_base_new();
	char file[128], long_path[200];

	snprintf(file, sizeof(file), "%s/file", dir);
	close(open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	assert_null(kvl_api_new(other, file, commands, NULL, why, sizeof(why)));
	assert_int_equal(errno, EEXIST);
	assert_int_equal(unlink(file), 0);
	memset(long_path, 'a', sizeof(long_path) - 1);
	long_path[sizeof(long_path) - 1] = '\0';
	assert_null(kvl_api_new(other, long_path, commands, NULL, why, sizeof(why)));
	assert_int_equal(errno, ENAMETOOLONG);
	event_base_free(other);
}

/* The file of a dead process is replaced; that of a successor is left alone. */
static void test_stale_socket(void **state)
{
	struct event_base *other = event_base_new();
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	struct kvl_api *first, *second;
	struct stat st;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s/stale", dir);
	assert_int_equal(bind(fd, (struct sockaddr *)&sun, sizeof(sun)), 0);
	close(fd);
	first = kvl_api_new(other, sun.sun_path, commands, NULL, why, sizeof(why));
	assert_non_null(first);
	assert_int_equal(stat(sun.sun_path, &st), 0);
	assert_int_equal(st.st_mode & 07777, KVL_API_SOCKET_MODE);
	unlink(sun.sun_path);
	second = kvl_api_new(other, sun.sun_path, commands, NULL, why, sizeof(why));
	assert_non_null(second);
	kvl_api_free(first);
	assert_int_equal(access(sun.sun_path, F_OK), 0);
	kvl_api_free(second);
	assert_int_equal(access(sun.sun_path, F_OK), -1);
	event_base_free(other);
}

/* Some other user, let in by the file's mode, may look and not change. */
static void test_read_only_role(void **state)
{
	int status, fd;
	pid_t pid;

	if (geteuid() != 0)
		skip();
	assert_int_equal(chmod(dir, 0755), 0);
	assert_int_equal(chmod(path, 0666), 0);
	pid = fork();
	if (pid == 0) {
		if (setgid(65534) < 0 || setuid(65534) < 0)
			_exit(2);
		fd = connect_to(path);
		put(fd, "{\"v\":1,\"id\":1,\"method\":\"refuse\"}\n"
			"{\"v\":1,\"id\":2,\"method\":\"echo\"}\n");
		if (strstr(take(fd), "\"code\":\"denied\"") == NULL)
			_exit(3);
		_exit(strstr(take(fd), "\"result\"") == NULL ? 4 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_answers),
		TEST(test_half_closed),
		TEST(test_too_long),
		TEST(test_much_too_long),
		TEST(test_endless),
		TEST(test_slow_reader),
		TEST(test_many_clients),
		TEST(test_gone_reader),
		TEST(test_live_socket_refused),
		TEST(test_other_files_refused),
		TEST(test_stale_socket),
		TEST(test_read_only_role),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

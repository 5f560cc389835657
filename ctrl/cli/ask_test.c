/* SPDX-License-Identifier: BSD-3-Clause */
/* Each command against a control socket with results put in by hand, run as main() would. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>
#include <event2/event.h>

#include "ctrl/api/socket.h"
#include "ctrl/cli/args.h"

static char dir[64], path[96];
static struct event_base *base;
static struct event *stop_event;
static int stop_pipe[2];
static struct kvl_api *api;
static pthread_t thread;

static char *out, *err;
static json_t *last_params;
static int asked;

static json_t *answer(const char *text)
{
	json_error_t at;
	json_t *value = json_loads(text, 0, &at);

	asked++;
	if (value == NULL)
		fprintf(stderr, "fixture: %s at %d\n", at.text, at.position);
	return value;
}

static json_t *say_status(void *ctx, const json_t *params, struct kvl_message_error *error)
{
	return answer(
		"{\"version\":\"0.1.0\",\"pid\":7,\"uptime_s\":90061,\"revision\":3,"
		"\"published_at\":\"2026-01-02T03:04:05Z\",\"workers\":[{\"id\":0,\"lcore\":1,"
		"\"revision\":3,\"busy_pct\":12.34,\"rx\":100,\"tx\":99}],\"ports\":[{\"name\":"
		"\"p0\",\"device\":\"net_af_xdp0,iface=eth1\",\"interface\":\"eth1\",\"mac\":"
		"\"02:00:00:00:00:01\",\"snat\":null,\"link\":true,\"mtu\":1500,\"queues\":1,"
		"\"steering\":"
		"\"xdp\"}],\"nodes\":{\"total\":2,\"eligible\":1},\"alarms\":[\"late\"]}");
}

static json_t *say_nodes(void *ctx, const json_t *params, struct kvl_message_error *error)
{
	char text[1024];

	snprintf(text, sizeof(text),
		"{\"revision\":3,\"nodes\":[{\"id\":\"a\",\"number\":0,\"address\":"
		"\"10.0.0.1:11211\",\"host\":\"h1\",\"zone\":\"z1\",\"pool\":\"default\","
		"\"weight\":"
		"100,\"state\":\"healthy\",\"eligible\":true,\"reason\":null,\"mac\":"
		"\"02:00:00:00:00:0a\",\"port\":\"p0\",\"requests\":%d,\"replies\":9,\"hits\":8,"
		"\"misses\":1,\"errors\":0,\"rejects\":0,\"timeouts\":1,\"late\":0,\"in_flight\":2,"
		"\"p50_us\":120.5,\"p95_us\":900,\"p99_us\":1500,\"share\":1.0,\"ownership\":0.5},"
		"{\"id\":\"b\",\"number\":1,\"address\":\"10.0.0.2:11211\",\"state\":\"down\","
		"\"eligible\":false,\"reason\":\"3 timeouts in a row\",\"ownership\":0.5}]}",
		1000 * (asked + 1));
	return answer(text);
}

static json_t *say_services(void *ctx, const json_t *params, struct kvl_message_error *error)
{
	return answer(
		"{\"revision\":3,\"services\":[{\"name\":\"web\",\"number\":0,\"address\":"
		"\"10.1.0.100:11211\",\"mode\":\"nat\",\"placement\":\"ring\",\"replication\":1,"
		"\"vnodes\":160,\"seed\":0,\"pool\":\"default\",\"timeout_ms\":100,\"nodes\":2,"
		"\"tokens\":320,\"digest\":\"0x00000000000000ff\"}]}");
}

static json_t *say_stats(void *ctx, const json_t *params, struct kvl_message_error *error)
{
	return answer(
		"{\"in\":30,\"out\":28,\"dropped\":2,\"held\":0,\"drops\":{\"ttl\":2,\"mtu\":0},"
		"\"answered\":{\"ok\":0},\"workers\":[{\"id\":0,\"in\":10,\"out\":10,\"drops\":{"
		"\"ttl\":0}},{\"id\":1,\"in\":20,\"out\":18,\"dropped\":2,\"drops\":{\"ttl\":2}}"
		"]}");
}

static json_t *say_fields(void *ctx, const json_t *params, struct kvl_message_error *error)
{
	json_decref(last_params);
	last_params = json_deep_copy(params);
	return answer("{\"service\":\"web\",\"pool\":\"p\",\"scored_by\":\"first\",\"fields\":["
		      "{\"name\":\"scoring.cpu_threshold\",\"value\":\"0.85\",\"file\":\"0.7\","
		      "\"set\":true}]}");
}

static json_t *say_command(const char *command)
{
	bool local = strcmp(command, "mn") == 0;
	json_t *result = answer("{\"service\":\"web\",\"revision\":3,\"candidates\":[{\"id\":"
				"\"a\",\"host\":\"h1\",\"zone\":\"z\",\"eligible\":true,"
				"\"reason\":null,\"probability\":1.0}]}");

	json_object_set_new(result, "command", json_string(command));
	json_object_set_new(result, "keyless", json_string(local ? "local" : "round_robin"));
	json_object_set_new(result, "used_local_fallback", json_boolean(local));
	return result;
}

static json_t *say_route(void *ctx, const json_t *params, struct kvl_message_error *error)
{
	json_decref(last_params);
	last_params = json_deep_copy(params);
	if (json_object_get(params, "command") != NULL)
		return say_command(json_string_value(json_object_get(params, "command")));
	return answer(
		"{\"service\":\"web\",\"key_hash\":\"0x01\",\"token\":{\"index\":5,\"value\":"
		"\"0x02\"},\"revision\":3,\"replication\":1,\"preference\":[{\"id\":\"b\"}],"
		"\"candidates\":[{\"id\":\"b\",\"host\":\"h2\",\"zone\":\"z\",\"preferred\":true,"
		"\"eligible\":false,\"reason\":\"down\",\"state\":\"down\",\"score\":0.2,"
		"\"weight\":0,\"in_flight\":0,\"latency_us\":0.0,\"probability\":0.0,\"stale\":"
		"true,\"terms\":{\"base\":100.0,\"p99\":"
		"-80.0}},{\"id\":"
		"\"a\",\"host\":\"h1\",\"zone\":\"z\",\"preferred\":false,\"eligible\":true,"
		"\"reason\":null,\"state\":\"healthy\",\"score\":0.9,\"weight\":64,\"in_flight\":7,"
		"\"latency_us\":1250.0,\"probability\":"
		"1.0}],\"choice\":\"a\","
		"\"used_fallback\":true,\"reads\":\"first\",\"writes\":\"first\","
		"\"rule\":\"user:\",\"tenant\":\"acme\",\"consistency\":\"strong\","
		"\"timeout_ms\":250}");
}

static json_t *say_reload(void *ctx, const json_t *params, struct kvl_message_error *error)
{
	error->details = json_pack("[s]", "kvlane.yaml:1:1: empty");
	return kvl_message_fail(error, KVL_CODE_CONFIG, "the configuration is refused");
}

static const struct kvl_api_command commands[] = {
	{"status", KVL_API_READ, say_status},
	{"nodes", KVL_API_READ, say_nodes},
	{"services", KVL_API_READ, say_services},
	{"stats", KVL_API_READ, say_stats},
	{"route", KVL_API_READ, say_route},
	{"get", KVL_API_READ, say_fields},
	{"set", KVL_API_ADMIN, say_fields},
	{"unset", KVL_API_ADMIN, say_fields},
	{"reload", KVL_API_ADMIN, say_reload},
	{NULL},
};

static void on_stop(evutil_socket_t fd, short what, void *arg)
{
	event_base_loopbreak(base);
}

static void *run_server(void *arg)
{
	event_base_dispatch(base);
	return NULL;
}

static int start(void **state)
{
	char why[256];

	strcpy(dir, "/tmp/kvlc-cli-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/sock", dir);
	base = event_base_new();
	api = kvl_api_new(base, path, commands, NULL, why, sizeof(why));
	assert_non_null(api);
	assert_int_equal(pipe(stop_pipe), 0);
	stop_event = event_new(base, stop_pipe[0], EV_READ, on_stop, NULL);
	event_add(stop_event, NULL);
	pthread_create(&thread, NULL, run_server, NULL);
	return 0;
}

static int stop(void **state)
{
	assert_int_equal(write(stop_pipe[1], "", 1), 1);
	pthread_join(thread, NULL);
	event_free(stop_event);
	kvl_api_free(api);
	event_base_free(base);
	close(stop_pipe[0]);
	close(stop_pipe[1]);
	json_decref(last_params);
	free(out);
	free(err);
	return rmdir(dir);
}

/* Words parted by one space; the socket is put before them. */
static int run(const char *line)
{
	static char copy[512];
	char *argv[16] = {(char *)"kvlanectl"}, why[256];
	struct cli_call call;
	size_t out_len, err_len;
	int argc = 1, rc;

	asked = 0;
	free(out);
	free(err);
	call.out = open_memstream(&out, &out_len);
	call.err = open_memstream(&err, &err_len);
	snprintf(copy, sizeof(copy), "-s %s %s", path, line);
	for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " "))
		argv[argc++] = word;
	if (args_parse(argc, argv, &call, why, sizeof(why)) < 0)
		fail_msg("%s", why);
	rc = (int)call.command->run(&call);
	fclose(call.out);
	fclose(call.err);
	return rc;
}

static void test_status(void **state)
{
	assert_int_equal(run("status"), CLI_OK);
	assert_string_equal(out,
		"kvlaned 0.1.0, process 7, up 1d 01:01:01\n"
		"revision 3, published 2026-01-02T03:04:05Z\n"
		"nodes: 2, eligible 1\n"
		"ALARM: late\n"
		"\n"
		"WORKER  LCORE  REVISION   BUSY  RECEIVED  SENT\n"
		"     0      1         3  12.3%       100    99\n"
		"\n"
		"PORT  LINK  INTERFACE  MAC                SNAT   MTU  QUEUES  STEERING  "
		"DEVICE\n"
		"p0    up    eth1       02:00:00:00:00:01  -     1500       1  xdp       "
		"net_af_xdp0,iface=eth1\n");
	assert_string_equal(err, "");
}

static void test_nodes(void **state)
{
	assert_int_equal(run("nodes"), CLI_OK);
	assert_string_equal(out,
		"NODE  ADDRESS         ZONE  WEIGHT  STATE    IN   REQ/S  REQUESTS  TIMEOUTS  "
		"REJECTS  "
		"ERRORS  IN FLIGHT    P50     P99   SHARE   OWNS  REASON\n"
		"a     10.0.0.1:11211  z1       100  healthy  yes      -      1000         1       "
		" 0  "
		"     0          2  120us  1.50ms  100.0%  50.0%\n"
		"b     10.0.0.2:11211  -          0  down     no       -         0         0       "
		" 0  "
		"     0          0      -       -    0.0%  50.0%  3 timeouts in a row\n");
	assert_int_equal(run("nodes --wide"), CLI_OK);
	assert_non_null(
		strstr(out, "\nNODE  NUMBER  HOST  POOL     MAC                PORT  REPLIES"));
}

static void test_watch(void **state)
{
	json_error_t at;
	json_t *value;

	assert_int_equal(run("nodes --watch 0.1 --count 3"), CLI_OK);
	assert_int_equal(asked, 3);
	assert_non_null(strstr(out, "\n\nNODE")); /* no terminal: one after the other */
	assert_null(strchr(out, '\033'));
	assert_int_equal(run("nodes --watch 0.1 --count 2 --json"), CLI_OK);
	value = json_loads(out, JSON_DISABLE_EOF_CHECK, &at);
	assert_int_equal(json_array_size(json_object_get(value, "nodes")), 2);
	json_decref(value);
	assert_int_equal(strchr(out, '\n') - out + 1, strlen(out) / 2); /* a line each */
	assert_int_equal(run("nodes --count 2"), CLI_WRONG);
	assert_string_equal(err, "kvlanectl: nodes: --count goes with --watch\n");
	assert_int_equal(run("stats --watch 0"), CLI_WRONG);
	assert_int_equal(run("stats --watch 1 --count 0"), CLI_WRONG);
	assert_int_equal(asked, 0);
}

static void test_services(void **state)
{
	assert_int_equal(run("services"), CLI_OK);
	assert_string_equal(out,
		"SERVICE  ADDRESS           MODE  PLACEMENT  N  VNODES  POOL     NODES  TOKENS  "
		"TIMEOUT  SEED  DIGEST\n"
		"web      10.1.0.100:11211  nat   ring       1     160  default      2     320    "
		"100ms     0  0x00000000000000ff\n");
}

static void test_stats(void **state)
{
	assert_int_equal(run("stats"), CLI_OK);
	assert_string_equal(out, "COUNTER    TOTAL  PER SECOND  WORKER 0  WORKER 1\n"
				 "in            30           -        10        20\n"
				 "out           28           -        10        18\n"
				 "dropped        2           -         0         2\n"
				 "drops.ttl      2           -         0         2\n");
	assert_int_equal(run("stats --all"), CLI_OK);
	assert_non_null(strstr(out, "\nheld  "));
	assert_non_null(strstr(out, "\nanswered.ok "));
}

static void test_route(void **state)
{
	assert_int_equal(run("route user:1 --service web"), CLI_OK);
	assert_string_equal(out, "service web, revision 3, N = 1\n"
				 "key hash 0x01, token 5 at 0x02\n"
				 "rule of prefix user:\n"
				 "tenant acme\n"
				 "strong reads, within 250 ms\n"
				 "\n"
				 "CANDIDATE  HOST  ZONE  PREFERRED  IN   STATE    SCORE  WEIGHT  "
				 "IN FLIGHT  LATENCY  "
				 "PROBABILITY  REPORT  TERMS                   REASON\n"
				 "b          h2    z     yes        no   down      20.0       0    "
				 "      0        -  "
				 "       0.0%  stale   base +100.0, p99 -80.0  down\n"
				 "a          h1    z     no         yes  healthy   90.0      64    "
				 "      7   1.25ms  "
				 "     100.0%\n"
				 "\n"
				 "choice: a, in place of a preferred node that is out\n"
				 "reads: first, writes: first\n");
	assert_string_equal(json_string_value(json_object_get(last_params, "key")), "user:1");
	assert_string_equal(json_string_value(json_object_get(last_params, "service")), "web");
	assert_string_equal(
		json_string_value(json_object_get(last_params, "key_encoding")), "text");
	assert_int_equal(run("route YQ== --base64"), CLI_OK);
	assert_string_equal(
		json_string_value(json_object_get(last_params, "key_encoding")), "base64");
	assert_null(json_object_get(last_params, "service"));
	assert_int_equal(run("route \xff"), CLI_WRONG);
	assert_int_equal(asked, 0);
}

static void test_route_command(void **state)
{
	assert_int_equal(run("route --command mn"), CLI_OK);
	assert_string_equal(out, "service web, revision 3\n"
				 "command mn has no key, policy local\n"
				 "\n"
				 "choice: none, the router answers it itself\n");
	assert_string_equal(json_string_value(json_object_get(last_params, "command")), "mn");
	assert_null(json_object_get(last_params, "key"));
	assert_int_equal(run("route --command version"), CLI_OK);
	assert_non_null(strstr(out, "\na     h1    z     yes       100.0%\n"));
	assert_non_null(strstr(out, "\nchoice: the nodes that are in, in turn\n"));
	assert_int_equal(run("route"), CLI_WRONG);
	assert_int_equal(run("route key --command mn"), CLI_WRONG);
	assert_int_equal(run("route --base64 --command mn"), CLI_WRONG);
	assert_int_equal(asked, 0);
}

static void test_set(void **state)
{
	static const char *const lines[] = {"set web", "set", "set web load", "set --node n1",
		"set web a=1 a=2", "get web x", "get", "unset"};

	assert_int_equal(
		run("set web scoring.cpu_threshold=0.85 scoring.profile=08:00=auto"), CLI_OK);
	assert_string_equal(out,
		"NAME                   VALUE  IN THE FILE  SET\n"
		"scoring.cpu_threshold  0.85   0.7          yes\n"
		"note: pool p is scored as its first service, first, says: of this one only "
		"choice and min_share count\n");
	assert_string_equal(json_string_value(json_object_get(last_params, "service")), "web");
	assert_null(json_object_get(last_params, "node"));
	assert_string_equal(json_string_value(json_object_get(
				    json_object_get(last_params, "values"), "scoring.profile")),
		"08:00=auto");
	assert_int_equal(run("set --node n1 weight=50"), CLI_OK);
	assert_string_equal(json_string_value(json_object_get(last_params, "node")), "n1");
	assert_null(json_object_get(last_params, "service"));
	assert_int_equal(run("unset --node n1"), CLI_OK);
	assert_null(json_object_get(last_params, "names"));
	assert_int_equal(run("unset web scoring.model"), CLI_OK);
	assert_int_equal(json_array_size(json_object_get(last_params, "names")), 1);
	assert_int_equal(run("get web"), CLI_OK);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (run(lines[i]) != CLI_WRONG || asked != 0)
			fail_msg("%s", lines[i]);
		assert_true(err[0] != '\0');
	}
}

static void test_errors(void **state)
{
	assert_int_equal(run("reload"), CLI_WRONG);
	assert_string_equal(out, "");
	assert_string_equal(err, "kvlanectl: reload: the configuration is refused (config)\n"
				 "  kvlane.yaml:1:1: empty\n");
	assert_int_equal(run("reload --json"), CLI_WRONG);
	assert_non_null(strstr(out, "\"code\": \"config\""));
	assert_int_equal(run("-s /nonexistent/sock status"), CLI_FAILED);
	assert_string_equal(err,
		"kvlanectl: /nonexistent/sock: no such socket: start kvlaned, or name "
		"its control_socket with -s\n");
	assert_int_equal(run("--socket=/dev/null status"), CLI_FAILED);
}

static void test_dead_socket(void **state)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	char line[128];
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s/dead", dir);
	assert_int_equal(bind(fd, (struct sockaddr *)&sun, sizeof(sun)), 0);
	close(fd);
	snprintf(line, sizeof(line), "-s %s status", sun.sun_path);
	assert_int_equal(run(line), CLI_FAILED);
	assert_non_null(strstr(err, "nobody listens"));
	unlink(sun.sun_path);
}

/* The configuration's own tests are elsewhere; here: what is said of it, and the status. */
static void test_check(void **state)
{
	char file[96], line[128];
	FILE *f;

	snprintf(file, sizeof(file), "%s/kvlane.yaml", dir);
	f = fopen(file, "we");
	fputs("services:\n  - name: web\n    address: 10.1.0.100\n    port: 11211\n"
	      "ports:\n  - name: p0\n    device: net_af_packet0,iface=eth1\n    snat: 10.2.0.254\n"
	      "nodes:\n  - id: a\n    address: 10.2.0.1\n  - id: b\n    address: nonsense\n",
		f);
	fclose(f);
	snprintf(line, sizeof(line), "check %s", file);
	if (run(line) != CLI_OK)
		fail_msg("%s%s", out, err);
	assert_non_null(strstr(out, "node left out: "));
	assert_non_null(strstr(out, "good, services: 1, nodes: 1, left out: 1\n"));
	assert_non_null(strstr(out, "web      ring       1  default      1     160\n"));
	strcat(line, " --json");
	assert_int_equal(run(line), CLI_OK);
	assert_non_null(strstr(out, "\"ok\": true"));
	f = fopen(file, "we");
	fputs("services: 5\n", f);
	fclose(f);
	snprintf(line, sizeof(line), "check %s", file);
	assert_int_equal(run(line), CLI_WRONG);
	assert_non_null(strstr(out, "error: "));
	assert_non_null(strstr(out, "refused, errors: "));
	unlink(file);
}

static void test_docs(void **state)
{
	assert_int_equal(run("docs"), CLI_OK);
	assert_int_equal(strncmp(out, ".TH KVLANECTL 1", 15), 0);
	assert_non_null(strstr(out, "\n.SS route [KEY]\n"));
	assert_null(strstr(out, ".SS docs"));
}

#define TEST(f) cmocka_unit_test(f)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_status),
		TEST(test_nodes),
		TEST(test_watch),
		TEST(test_services),
		TEST(test_stats),
		TEST(test_route),
		TEST(test_route_command),
		TEST(test_set),
		TEST(test_errors),
		TEST(test_dead_socket),
		TEST(test_check),
		TEST(test_docs),
	};

	return cmocka_run_group_tests(tests, start, stop);
}

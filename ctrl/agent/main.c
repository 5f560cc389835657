/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "ctrl/agent/host.h"
#include "ctrl/agent/memcached.h"
#include "lib/model/endpoint.h"
#include "lib/score/facts.h"
#include "lib/wire/report.h"

/*
 * kvlane-agent: runs beside a memcached and tells all routers how it and its host are doing, every
 * interval, in one signed datagram each.
 */
#define ROUTERS_MAX 16

struct agent {
	const char *node;
	struct kvl_endpoint routers[ROUTERS_MAX];
	size_t router_count;
	int fds[KVL_FAMILIES]; /* toward routers; -1: this host has no such family */
	struct kvl_report_key key;
	uint32_t interval_ms;
	const char *flags_path; /* words in it are role flags; NULL: none */
	uint8_t disk;
	struct host host;
	struct memcached memcached;
	uint64_t last_time_ms;
	bool silent; /* memcached did not answer last time: said once */
};

static volatile sig_atomic_t stop;

static void stop_set(int sig)
{
	stop = 1;
}

static uint64_t clock_ms(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Role flags (SPEC 6.1) are words of a file that whatever manages the node writes. */
static uint32_t flags_of(const char *text)
{
	static const struct {
		const char *word;
		uint32_t flag;
	} words[] = {
		{"compacting", KVL_FACT_COMPACTING},
		{"repairing", KVL_FACT_REPAIRING},
		{"read_only", KVL_FACT_READ_ONLY},
		{"recovering", KVL_FACT_RECOVERING},
	};
	uint32_t flags = 0;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strstr(text, words[i].word) != NULL)
			flags |= words[i].flag;
	return flags;
}

/* How many versions the node lags behind (SPEC 3), by the same file; NAN when it does not say. */
static double lag_of(const char *text)
{
	static const char word[] = "version_lag=";
	const char *at = strstr(text, word);

	if (at == NULL || at[sizeof(word) - 1] < '0' || at[sizeof(word) - 1] > '9')
		return NAN;
	return strtod(at + sizeof(word) - 1, NULL);
}

static void state_read(const char *path, struct kvl_report *report)
{
	char text[256] = "";
	FILE *file = path != NULL ? fopen(path, "r") : NULL;

	if (file == NULL)
		return;
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	report->figures.flags = flags_of(text);
	report->figures.value[KVL_METRIC_VERSION_LAG] = lag_of(text);
}

static void report_fill(struct agent *a, struct kvl_report *report)
{
	struct memcached_figures m;
	struct host_figures h;
	/* Rates are by a clock that nobody sets. */
	uint64_t now = clock_ms(CLOCK_MONOTONIC);
	double *value = report->figures.value;
	int rc;

	a->last_time_ms = kvl_report_next_time(a->last_time_ms, clock_ms(CLOCK_REALTIME));
	kvl_report_init(report, a->node, a->last_time_ms);
	host_read(&a->host, now, &h);
	rc = memcached_read(&a->memcached, now, &m);
	if ((rc < 0) != a->silent)
		fprintf(stderr, "kvlane-agent: memcached %s%s\n",
			rc < 0 ? "does not answer: " : "answers", rc < 0 ? strerror(-rc) : "");
	a->silent = rc < 0;

	value[KVL_METRIC_CPU] = h.cpu;
	value[KVL_METRIC_IO_WAIT] = h.io_wait;
	value[KVL_METRIC_MEMORY] = h.memory;
	value[KVL_METRIC_NETWORK_IN] = h.network_in;
	value[KVL_METRIC_NETWORK_OUT] = h.network_out;
	value[KVL_METRIC_CAPACITY_FREE] = m.capacity_free;
	value[KVL_METRIC_HIT_RATE] = m.hit_rate;
	value[KVL_METRIC_QPS_1M] = m.qps_1m;
	value[KVL_METRIC_QPS_5M] = m.qps_5m;
	state_read(a->flags_path, report);
	report->figures.capability = (struct kvl_capability){a->disk, h.nic_mbit, h.memory_mb};
}

static void report_send(struct agent *a)
{
	uint8_t datagram[KVL_REPORT_BYTES_MAX];
	struct kvl_report report;
	int len;

	report_fill(a, &report);
	/* A memcached that does not answer has no heartbeat, whatever its host says. */
	if (a->silent)
		return;
	len = kvl_report_encode(&report, &a->key, datagram);
	if (len < 0) {
		fprintf(stderr, "kvlane-agent: cannot make a report: %s\n", strerror(-len));
		return;
	}
	for (size_t i = 0; i < a->router_count; i++) {
		union kvl_sockaddr to;
		socklen_t to_len = kvl_sockaddr_write(&a->routers[i], &to);

		sendto(a->fds[kvl_addr_family(&a->routers[i].address)], datagram, (size_t)len, 0,
			&to.sa, to_len);
	}
}

/* All of the text up to `end`, and nothing that would be cut to size. */
static int number_read(const char *text, char end, unsigned long most, uint32_t *value)
{
	unsigned long number;
	char *stop_at;

	errno = 0;
	number = strtoul(text, &stop_at, 10);
	if (*text < '0' || *text > '9' || *stop_at != end || errno != 0 || number > most)
		return -EINVAL;
	*value = (uint32_t)number;
	return 0;
}

/* "ID:FILE": the secret is the file's first line, so that no process list shows it. */
static int key_read(const char *text, struct kvl_report_key *key)
{
	const char *colon = strchr(text, ':');
	char line[KVL_REPORT_SECRET_MAX + 2] = "";
	FILE *file;

	if (colon == NULL || number_read(text, ':', UINT32_MAX, &key->id) < 0 || key->id == 0)
		return -EINVAL;
	file = fopen(colon + 1, "r");
	if (file == NULL)
		return -errno;
	if (fgets(line, sizeof(line), file) == NULL)
		line[0] = '\0';
	fclose(file);
	key->len = strcspn(line, "\r\n");
	if (key->len < KVL_REPORT_SECRET_MIN || key->len > KVL_REPORT_SECRET_MAX)
		return -EKEYREJECTED;
	memcpy(key->secret, line, key->len);
	return 0;
}

static const char usage[] =
	"usage: kvlane-agent --node ID --router ADDRESS[:PORT] --key ID:FILE [OPTION...]\n"
	"  --node ID                the node's id in the routers' topology\n"
	"  --router ADDRESS[:PORT]  where to report (port 11290); again for each router\n"
	"  --key ID:FILE            number of the shared secret, and the file that has it\n"
	"  --memcached ADDRESS[:PORT]  the memcached to ask (default 127.0.0.1:11211)\n"
	"  --interval MS            default 2000\n"
	"  --interface NAME         whose traffic is reported\n"
	"  --disk ssd|hdd           what it stores on\n"
	"  --flags FILE             words in it: compacting repairing read_only recovering\n"
	"                           version_lag=N\n"
	"  --version, --help\n";

static int option_apply(struct agent *a, int option, const char *value)
{
	switch (option) {
	case 'n':
		a->node = value;
		return kvl_report_node_ok(value) ? 0 : -EINVAL;
	case 'r':
		if (a->router_count == ROUTERS_MAX)
			return -E2BIG;
		return kvl_endpoint_parse(value, 11290, &a->routers[a->router_count++]);
	case 'k':
		return key_read(value, &a->key);
	case 'm':
		return kvl_endpoint_parse(value, 11211, &a->memcached.address);
	case 'i':
		return number_read(value, '\0', 60000, &a->interval_ms) < 0 || a->interval_ms < 100
			       ? -EINVAL
			       : 0;
	case 'I':
		a->host.interface = value;
		return 0;
	case 'd':
		a->disk = strcmp(value, "ssd") == 0 ? KVL_DISK_SSD : KVL_DISK_HDD;
		return strcmp(value, "ssd") == 0 || strcmp(value, "hdd") == 0 ? 0 : -EINVAL;
	case 'f':
		a->flags_path = value;
		return 0;
	default:
		return -EINVAL;
	}
}

static int options_read(struct agent *a, int argc, char **argv)
{
	static const struct option options[] = {
		{"node", required_argument, NULL, 'n'},
		{"router", required_argument, NULL, 'r'},
		{"key", required_argument, NULL, 'k'},
		{"memcached", required_argument, NULL, 'm'},
		{"interval", required_argument, NULL, 'i'},
		{"interface", required_argument, NULL, 'I'},
		{"disk", required_argument, NULL, 'd'},
		{"flags", required_argument, NULL, 'f'},
		{"version", no_argument, NULL, 'V'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	int c, index = 0, rc;

	while ((c = getopt_long(argc, argv, "", options, &index)) != -1) {
		if (c == 'V' || c == 'h') {
			fputs(c == 'V' ? "kvlane-agent " KVL_VERSION "\n" : usage, stdout);
			exit(0);
		}
		rc = option_apply(a, c, optarg);
		if (rc < 0) {
			if (c != '?')
				fprintf(stderr, "kvlane-agent: --%s %s: %s\n", options[index].name,
					optarg,
					rc == -EKEYREJECTED
						? "the secret must have 16..64 characters"
						: strerror(-rc));
			return rc;
		}
	}
	if (a->node != NULL && a->router_count != 0 && a->key.len != 0 && optind == argc)
		return 0;
	fputs(usage, stderr);
	return -EINVAL;
}

int main(int argc, char **argv)
{
	static struct agent agent = {.interval_ms = 2000};
	struct sigaction action = {.sa_handler = stop_set};

	kvl_endpoint_parse("127.0.0.1", 11211, &agent.memcached.address);
	if (options_read(&agent, argc, argv) < 0)
		return 2;
	/* Without SA_RESTART, so that the pause below ends. */
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	agent.fds[KVL_IPV4] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	agent.fds[KVL_IPV6] = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (agent.fds[KVL_IPV4] < 0 && agent.fds[KVL_IPV6] < 0) {
		perror("kvlane-agent");
		return 1;
	}
	while (!stop) {
		const struct timespec pause = {.tv_sec = agent.interval_ms / 1000,
			.tv_nsec = (long)(agent.interval_ms % 1000) * 1000000};

		report_send(&agent);
		nanosleep(&pause, NULL);
	}
	close(agent.fds[KVL_IPV4]);
	close(agent.fds[KVL_IPV6]);
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/agent/memcached.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define STATS_MAX 16384

static int socket_connect(const struct kvl_endpoint *to)
{
	const struct timeval timeout = {.tv_usec = MEMCACHED_TIMEOUT_MS * 1000};
	union kvl_sockaddr address;
	socklen_t address_len = kvl_sockaddr_write(to, &address);
	int fd = socket(address.sa.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0), rc;

	if (fd < 0)
		return -errno;
	/* The send timeout bounds connect() as well (socket(7)). */
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	if (connect(fd, &address.sa, address_len) == 0)
		return fd;
	rc = errno == EINPROGRESS ? -ETIMEDOUT : -errno;
	close(fd);
	return rc;
}

/* The whole answer to `stats`, up to its END. */
static int stats_fetch(const struct kvl_endpoint *to, char text[STATS_MAX])
{
	int fd = socket_connect(to);
	size_t len = 0;

	if (fd < 0)
		return fd;
	if (send(fd, "stats\r\n", 7, MSG_NOSIGNAL) != 7) {
		close(fd);
		return -EIO;
	}
	text[0] = '\0';
	while (len < STATS_MAX - 1 && strstr(text, "\r\nEND\r\n") == NULL) {
		ssize_t n = recv(fd, text + len, STATS_MAX - 1 - len, 0);

		if (n <= 0)
			break;
		len += (size_t)n;
		text[len] = '\0';
	}
	close(fd);
	return strstr(text, "\r\nEND\r\n") != NULL ? 0 : -ETIMEDOUT;
}

static uint64_t stat_value(const char *text, const char *name)
{
	char line[64];
	const char *at;

	snprintf(line, sizeof(line), "STAT %s ", name);
	at = strstr(text, line);
	return at != NULL ? strtoull(at + strlen(line), NULL, 10) : 0;
}

/* An average over `window` seconds, exponentially forgotten. */
static void average_add(double *average, double value, double seconds, double window)
{
	*average = isnan(*average) ? value
				   : *average + (value - *average) * (1 - exp(-seconds / window));
}

static void rates_make(struct memcached *m, uint64_t gets, uint64_t hits, uint64_t sets,
	uint64_t evictions, uint64_t now_ms, struct memcached_figures *f)
{
	double seconds = (double)(now_ms - m->time_ms) / 1000;
	double new_gets = (double)(gets - m->gets), new_sets = (double)(sets - m->sets);

	if (seconds <= 0 || gets < m->gets || sets < m->sets) /* it was started anew */
		return;
	average_add(&m->qps_1m, (new_gets + new_sets) / seconds, seconds, 60);
	average_add(&m->qps_5m, (new_gets + new_sets) / seconds, seconds, 300);
	f->qps_1m = m->qps_1m;
	f->qps_5m = m->qps_5m;
	if (new_gets > 0)
		f->hit_rate = fmin((double)(hits - m->hits) / new_gets, 1);
	if (new_sets > 0 && evictions >= m->evictions)
		f->capacity_free = fmax(1 - (double)(evictions - m->evictions) / new_sets, 0);
}

int memcached_read(struct memcached *m, uint64_t now_ms, struct memcached_figures *f)
{
	char text[STATS_MAX];
	uint64_t gets, hits, sets, evictions, limit;
	int rc = stats_fetch(&m->address, text);

	*f = (struct memcached_figures){NAN, NAN, NAN, NAN};
	if (rc < 0)
		return rc;
	gets = stat_value(text, "cmd_get");
	hits = stat_value(text, "get_hits");
	sets = stat_value(text, "cmd_set");
	evictions = stat_value(text, "evictions");
	limit = stat_value(text, "limit_maxbytes");
	if (limit > 0)
		f->capacity_free = fmax(1 - (double)stat_value(text, "bytes") / (double)limit, 0);
	if (m->known)
		rates_make(m, gets, hits, sets, evictions, now_ms, f);
	else
		m->qps_1m = m->qps_5m = NAN;
	m->known = true;
	m->gets = gets;
	m->hits = hits;
	m->sets = sets;
	m->evictions = evictions;
	m->time_ms = now_ms;
	return 0;
}
